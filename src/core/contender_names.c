#include "core/contender_names.h"

static const char *const phases[] = {
    [PDK__OUT] = "out",   [PDK__UNSURE] = "unsure", [PDK__CANDIDATE] = "candidate", [PDK__IN] = "in",
    [PDK__HELD] = "held", [PDK__STUCK] = "stuck",   [PDK__GONE] = "gone",
};

static const char *const events[] = {
    [PDK__ENTER] = "enter",         [PDK__LEAVE] = "leave",         [PDK__LINK_UP] = "link up",
    [PDK__LINK_DOWN] = "link down", [PDK__EXPIRED] = "expired",     [PDK__POKE] = "poke",
    [PDK__FRESH] = "fresh",         [PDK__NODE_LOST] = "node lost", [PDK__CREATED] = "created",
    [PDK__LISTED] = "listed",       [PDK__MADE_DIR] = "made dir",   [PDK__WATCHED] = "watched",
    [PDK__PROVED] = "proved",       [PDK__STATTED] = "statted",     [PDK__DELETED] = "deleted",
    [PDK__PAUSED] = "paused",
};

const char *pdk__phase_name(enum pdk__phase phase) { return phases[phase]; }

const char *pdk__event_name(enum pdk__event_type type) { return events[type]; }
