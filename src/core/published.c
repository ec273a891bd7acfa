#include "core/published.h"

#include "core/revocation.h"

#include <string.h>

void pdk__published_read(const char *bytes, size_t size, struct pdk__published *p) {
    struct pdk__revocation r;
    *p = (struct pdk__published){.identity = bytes ? bytes : "", .identity_size = size};
    if (pdk__revocation_read(bytes, size, &r) && r.who_size > 0) /* Curator's wish has nothing behind it */
        *p = (struct pdk__published){.identity = r.identity, .identity_size = r.identity_size};
    const char *end = p->identity_size > 0 ? memchr(p->identity, '\0', p->identity_size) : NULL;
    if (!end)
        return;
    size_t behind = p->identity_size - (size_t)(end - p->identity) - 1;
    p->identity_size = (size_t)(end - p->identity);
    if (behind <= PDK__PUBLISHED_MAX) {
        p->data = end + 1;
        p->data_size = behind;
    }
}
