#include "core/guarded.h"
#include "core/sequencer.h"

#include <assert.h>
#include <string.h>

/* ---- the header */

static const char head[] = "paddock-guarded 1 ";

/* The places of the fields, and their widths. Zeros lead, so that every header is as long as any other. */
enum {
    TOKEN_AT = 18,
    TOKEN_WIDTH = 20,
    HANDOVER_AT = 39,
    HANDOVER_WIDTH = 10,
    NUMBER_AT = 50,
    NUMBER_WIDTH = 19,
    KIND_AT = 70
};

static void write_digits(char *at, int width, uint64_t value) {
    while (width-- > 0) {
        at[width] = (char)('0' + value % 10);
        value /= 10;
    }
}

void pdk__stamp_write(const struct pdk__stamp *stamp, char header[PDK__GUARDED_HEADER]) {
    memset(header, ' ', PDK__GUARDED_HEADER);
    memcpy(header, head, sizeof head - 1);
    write_digits(header + TOKEN_AT, TOKEN_WIDTH, (uint64_t)stamp->token);
    write_digits(header + HANDOVER_AT, HANDOVER_WIDTH, stamp->handover);
    write_digits(header + NUMBER_AT, NUMBER_WIDTH, stamp->number);
    header[KIND_AT] = stamp->absent ? 'D' : 'P';
    header[PDK__GUARDED_HEADER - 1] = '\n';
}

bool pdk__stamp_read(const char *data, size_t size, struct pdk__stamp *stamp) {
    char again[PDK__GUARDED_HEADER];
    uint64_t token = 0, handover = 0, number = 0;
    if (size < PDK__GUARDED_HEADER || !pdk__number_parse(data + TOKEN_AT, TOKEN_WIDTH, 0, INT64_MAX, &token) ||
        !pdk__number_parse(data + HANDOVER_AT, HANDOVER_WIDTH, 0, UINT32_MAX, &handover) ||
        !pdk__number_parse(data + NUMBER_AT, NUMBER_WIDTH, 0, INT64_MAX, &number))
        return false;
    const char *payload = data + PDK__GUARDED_HEADER;
    *stamp = (struct pdk__stamp){.token = (int64_t)token,
                                 .handover = (uint32_t)handover,
                                 .number = number,
                                 .absent = data[KIND_AT] == 'D',
                                 .digest = pdk__stamp_digest(payload, size - PDK__GUARDED_HEADER)};
    pdk__stamp_write(stamp, again);
    return memcmp(data, again, sizeof again) == 0;
}

/* FNV-1a. It notices a foreign write, but not one that is made to deceive. */
uint64_t pdk__stamp_digest(const char *payload, size_t size) {
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ (unsigned char)payload[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* ---- the machine */

static bool same(const struct pdk__stamp *a, const struct pdk__stamp *b) {
    return a->token == b->token && a->handover == b->handover && a->number == b->number && a->absent == b->absent &&
           a->digest == b->digest;
}

static void guarded_finish(struct pdk__guarded *g, enum pdk__guarded_end end) {
    g->step = PDK__GUARDED_IDLE;
    g->end = end;
    g->writing = false;
}

static bool is_over(const struct pdk__guarded *g) {
    return g->end != PDK__GUARDED_FINE && g->end != PDK__GUARDED_DENIED;
}

void pdk__guarded_init(struct pdk__guarded *g, int64_t token, uint32_t handover) {
    memset(g, 0, sizeof *g);
    g->token = token;
    g->handover = handover;
}

void pdk__guarded_open(struct pdk__guarded *g) {
    assert(g->step == PDK__GUARDED_IDLE);
    if (is_over(g))
        return;
    g->end = PDK__GUARDED_FINE;
    g->step = PDK__GUARDED_READ;
}

void pdk__guarded_write(struct pdk__guarded *g, bool absent, uint64_t digest) {
    assert(g->step == PDK__GUARDED_IDLE);
    if (is_over(g))
        return;
    g->end = PDK__GUARDED_FINE;
    g->writing = true;
    g->wanted = (struct pdk__stamp){
        .token = g->token, .handover = g->handover, .number = ++g->number, .absent = absent, .digest = digest};
    g->step = g->confirmed ? PDK__GUARDED_WRITE : PDK__GUARDED_READ;
}

static bool is_later(const struct pdk__guarded *g, const struct pdk__stamp *stamp) {
    return stamp->token > g->token || (stamp->token == g->token && stamp->handover > g->handover);
}

static enum pdk__guarded_end judge(struct pdk__guarded *g, const struct pdk__guarded_node *node) {
    if (!node->exists || !node->guarded || (g->czxid != 0 && node->czxid != g->czxid))
        return PDK__GUARDED_REPLACED;
    if (is_later(g, &node->stamp))
        return PDK__GUARDED_LOST;
    if (node->version < 0 || node->version == INT32_MAX)
        return PDK__GUARDED_WORN_OUT; /* below zero a version would mean: any */
    bool ours = same(&node->stamp, &g->known) || (g->is_pending && same(&node->stamp, &g->pending));
    return g->opened && !ours ? PDK__GUARDED_REPLACED : PDK__GUARDED_FINE;
}

void pdk__guarded_read(struct pdk__guarded *g, const struct pdk__guarded_node *node) {
    assert(g->step == PDK__GUARDED_READ);
    if (!node->exists && g->czxid == 0) {
        g->step = PDK__GUARDED_CREATE;
        return;
    }
    enum pdk__guarded_end end = judge(g, node);
    if (end != PDK__GUARDED_FINE) {
        guarded_finish(g, end);
        return;
    }
    g->czxid = node->czxid;
    g->version = node->version;
    g->seen = node->stamp;
    g->step = PDK__GUARDED_REWRITE;
}

static void confirm(struct pdk__guarded *g) {
    g->opened = g->confirmed = true;
    g->known = g->seen;
    if (g->seen.token == g->token && g->seen.handover == g->handover && g->seen.number > g->number)
        g->number = g->seen.number; /* it was open before, with the same hold */
    bool landed = g->is_pending && same(&g->pending, &g->seen);
    g->is_pending = false; /* a write that has not landed never will: the rewrite turns it away */
    if (!g->writing || (landed && same(&g->wanted, &g->seen)))
        guarded_finish(g, PDK__GUARDED_FINE);
    else
        g->step = PDK__GUARDED_WRITE;
}

static void written(struct pdk__guarded *g) {
    g->version++;
    g->known = g->wanted;
    g->is_pending = false;
    guarded_finish(g, PDK__GUARDED_FINE);
}

/* The version may be another one now, and a write may have landed or not. */
static void unsettle(struct pdk__guarded *g) {
    if (g->step == PDK__GUARDED_WRITE) {
        g->pending = g->wanted;
        g->is_pending = true;
    }
    g->confirmed = false;
}

void pdk__guarded_answered(struct pdk__guarded *g, enum pdk__result result) {
    assert(g->step != PDK__GUARDED_IDLE);
    if (result == PDK__NOT_ALLOWED || result == PDK__REFUSED || result == PDK__LIMITED) {
        guarded_finish(g, PDK__GUARDED_DENIED);
    } else if (g->step == PDK__GUARDED_CHECK && result == PDK__NO_NODE) {
        guarded_finish(g, PDK__GUARDED_LOST);
    } else if (g->step == PDK__GUARDED_CHECK) {
        if (result == PDK__OK)
            confirm(g);
    } else if (g->step == PDK__GUARDED_REWRITE && result == PDK__OK) {
        g->version++;
        g->step = PDK__GUARDED_CHECK;
    } else if (g->step == PDK__GUARDED_WRITE && result == PDK__OK) {
        written(g);
    } else {
        unsettle(g);
        g->step = PDK__GUARDED_READ;
    }
}

void pdk__guarded_abandon(struct pdk__guarded *g) {
    unsettle(g);
    guarded_finish(g, g->end);
}

void pdk__guarded_lose(struct pdk__guarded *g) { guarded_finish(g, PDK__GUARDED_LOST); }

enum pdk__guarded_end pdk__guarded_got(struct pdk__guarded *g, const struct pdk__guarded_node *node) {
    enum pdk__guarded_end end = judge(g, node);
    if (end != PDK__GUARDED_FINE)
        guarded_finish(g, end);
    return end;
}
