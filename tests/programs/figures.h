/* Measured values, and their quantiles. */
#ifndef FIGURES_H
#define FIGURES_H

#include <glib.h>
#include <stdint.h>

/* A list of doubles; free with g_array_unref. */
GArray *figures_new(void);
void figures_add(GArray *figures, double value);
/* The value below which `part` (0 to 1) of them are; 0 when there are none. */
double figures_at(const GArray *figures, double part);
double figures_median(const GArray *figures);

#endif
