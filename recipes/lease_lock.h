/* A lease lock, from inside: the tenure of one hold, which renews its record. */
#ifndef PDK_LEASE_LOCK_INSIDE_H
#define PDK_LEASE_LOCK_INSIDE_H

#include "core/lease_lock.h"
#include "record.h"

#include <paddock/lease_lock.h>

/* The moment until which its holder may believe in a record that was written no earlier than `handed`: its end, less
 * the difference that clocks may have. */
int64_t pdk__tenure_end(int64_t handed, int64_t duration_ms);
/* Limit the hold, and renew its record from now on, until it ends. mine: the content of the record. Under the
 * monitor. */
void pdk__tenure_begin(pdk_hold *hold, const char *path, const struct pdk__lease_record *mine, int64_t handed);

#endif
