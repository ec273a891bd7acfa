/* Medians and other quantiles: see figures.h. */
#include "figures.h"

#include <stdlib.h>
#include <string.h>

GArray *figures_new(void) { return g_array_new(FALSE, FALSE, sizeof(double)); }

void figures_add(GArray *figures, double value) { g_array_append_val(figures, value); }

static int compare(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double figures_at(const GArray *figures, double part) {
    if (figures->len == 0)
        return 0;
    double *sorted = g_new(double, figures->len);
    memcpy(sorted, figures->data, figures->len * sizeof(double));
    qsort(sorted, figures->len, sizeof(double), compare);
    double value = sorted[(guint)(part * (figures->len - 1) + 0.5)];
    g_free(sorted);
    return value;
}

double figures_median(const GArray *figures) { return figures_at(figures, 0.5); }
