#include "core/contender_next.h"

enum pdk__command pdk__contender_next(const struct pdk__contender *c) {
    if (c->pause)
        return PDK__DO_PAUSE;
    switch (c->phase) {
    case PDK__UNSURE:
        return PDK__DO_PROVE;
    case PDK__CANDIDATE:
        return PDK__DO_STAT;
    case PDK__OUT:
        if (!c->wanted)
            return PDK__DO_NOTHING;
        return c->dirless ? PDK__DO_MKDIR : c->looks ? PDK__DO_LOOK : PDK__DO_ENTER;
    case PDK__IN:
        if (c->leaving)
            return PDK__DO_DELETE;
        if (c->look || !c->listed)
            return PDK__DO_LIST;
        return c->watched[0] != '\0' && !c->watching ? PDK__DO_WATCH : PDK__DO_NOTHING;
    default:
        return PDK__DO_NOTHING;
    }
}
