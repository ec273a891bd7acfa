/* A wish that a holder lets go, as it stands in the holder's znode, in place of the identity.
 *
 *     __REVOKE__                                     Curator's. It names nobody, and no time
 *     __REVOKE__ <within ms> <who>\n<identity>       ours, for znodes of ours alone. The identity stood there before
 *
 * Curator compares the whole data, so its znodes get its own form. Our znodes are known by the version of the UUID in
 * their names: 8, where Curator's and kazoo's have 4.
 */
#ifndef PDK_CORE_REVOCATION_H
#define PDK_CORE_REVOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDK__REVOKE "__REVOKE__"
/* The longest name of an asker, in bytes. */
#define PDK__WHO_MAX 1024
/* The longest time: 15 digits. */
#define PDK__WITHIN_MAX INT64_C(999999999999999)
/* Room for the longest head, and a NUL. */
#define PDK__REVOKE_SIZE (sizeof PDK__REVOKE + 1 + 15 + 1 + PDK__WHO_MAX + 1)

/* Parts of the data that was read. */
struct pdk__revocation {
    int64_t within_ms; /* 0: no time was named */
    const char *who;
    size_t who_size; /* 0: nobody was named */
    const char *identity;
    size_t identity_size;
};

/* Any bytes. false: it is no such wish, and the identity is all of it. */
bool pdk__revocation_read(const char *data, size_t size, struct pdk__revocation *r);
/* The head of our form, with its newline; the identity follows. who: 1 to PDK__WHO_MAX bytes, no control character. The
 * length. */
size_t pdk__revocation_write(int64_t within_ms, const char *who, char head[PDK__REVOKE_SIZE]);
/* NUL-terminated. NULL when it may stand in a wish, else the fault, in words. */
const char *pdk__who_error(const char *who);
/* The moment until which it asks, in ms since 1970, for a znode that was written at `at_ms`. 0: no time was named. */
int64_t pdk__revocation_until(const struct pdk__revocation *r, int64_t at_ms);

#endif
