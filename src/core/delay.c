#include "core/delay.h"

#include <stdio.h>
#include <string.h>

#define PLEDGE "pledge-"

/* Clocks differ in their rates by 1/16 at most, as everywhere in Paddock. */
static int64_t by_any_clock(int64_t ns) { return ns + ns / 16; }

void pdk__delay_init(struct pdk__delay *d, int64_t ns) { *d = (struct pdk__delay){.ns = ns}; }

void pdk__delay_listed(struct pdk__delay *d, bool broken, bool unknown, int64_t now) {
    if (!broken)
        d->until = 0;
    else if (unknown)
        d->until = now + by_any_clock(d->ns);
}

enum pdk__delay_step pdk__delay_next(const struct pdk__delay *d, bool pledged, int64_t now) {
    if (now < d->until)
        return PDK__DELAY_WAIT;
    return pledged ? PDK__DELAY_GRANT : PDK__DELAY_PLEDGE;
}

/* The label stays out: a client that finds its own label in a name takes the rest for a sequence. */
bool pdk__pledge_name(const char *node, char pledge[PDK__NAME_SIZE]) {
    struct pdk__name name;
    if (strlen(node) >= PDK__NAME_SIZE / 2 || !pdk__name_parse(node, &name) || !pdk__name_is_unique(node))
        return false;
    int unique = (int)pdk__name_uuid_length(node);
    snprintf(pledge, PDK__NAME_SIZE, PLEDGE "%.*s-%s", unique, node, node + pdk__name_mark_length(node, &name));
    return pdk__is_pledge(pledge); /* others write UUIDs that end in a label: theirs would be a contender */
}

bool pdk__is_pledge(const char *child) {
    struct pdk__name name;
    return strncmp(child, PLEDGE, strlen(PLEDGE)) == 0 && strlen(child) < PDK__NAME_SIZE &&
           !pdk__name_parse(child, &name);
}
