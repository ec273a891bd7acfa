/* Sequencers: a regular expression and the rules for paths and names describe the accepted ones. The result is what the
 * text says. Input: a text. */
#include "core/names.h"
#include "core/paths.h"
#include "core/sequencer.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

/* Digits, perhaps more of them than fit. */
static bool read_number(const char *digits, guint64 least, guint64 most, guint64 *value) {
    *value = 0;
    for (const char *c = digits; *c; c++) {
        guint64 digit = (guint64)(*c - '0');
        if (*value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return *value >= least;
}

/* Every mode but the last stands for the token's own node. */
#define MODES "exclusive|leader|permit|shared|shared/([0-9]+)"

struct read {
    char *node;
    guint64 token, czxid, handover;
};

static bool read_slowly(const char *text, struct read *read) {
    static GRegex *shape;
    GMatchInfo *match;
    if (!shape)
        shape = g_regex_new("\\Apdk1 ((/.*)(/[^/]*)) (?:" MODES ") ([0-9]+) ([0-9]+)\\z", G_REGEX_RAW | G_REGEX_DOTALL,
                            0, NULL);
    bool fine = strlen(text) <= 1024 && g_regex_match(shape, text, 0, &match);
    if (strlen(text) > 1024)
        return false;
    if (fine) {
        g_autofree char *dir = g_match_info_fetch(match, 2), *name = g_match_info_fetch(match, 3);
        g_autofree char *exchanged = g_match_info_fetch(match, 4);
        g_autofree char *first = g_match_info_fetch(match, 5), *second = g_match_info_fetch(match, 6);
        struct pdk__name parsed;
        read->node = g_match_info_fetch(match, 1);
        fine = read_number(first, 1, INT64_MAX, &read->token) && read_number(second, 0, UINT32_MAX, &read->handover) &&
               (exchanged[0] == '\0' || read_number(exchanged, 1, INT64_MAX, &read->czxid)) &&
               pdk__name_parse(name + 1, &parsed) && strlen(name + 1) < PDK__NAME_SIZE && !pdk__path_error(dir, 0) &&
               !pdk__path_error(name, 0);
    }
    if (read->czxid == 0)
        read->czxid = read->token;
    g_match_info_unref(match);
    return fine;
}

/* A sequencer that was read is written again, and read again. */
static void check_round_trip(const struct pdk__sequencer *s) {
    struct pdk__sequencer again;
    g_autofree char *text = g_strdup_printf("pdk1 %s shared/%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %u", s->node,
                                            s->czxid, s->token, s->handover);
    FUZZ_REQUIRE(pdk__sequencer_parse(text, &again), "\"%s\"", text);
    FUZZ_REQUIRE(strcmp(again.node, s->node) == 0 && again.token == s->token && again.czxid == s->czxid &&
                     again.handover == s->handover,
                 "\"%s\"", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *text = fuzz_text(&in, '\0');
    struct read read = {NULL, 0, 0, 0};
    struct pdk__sequencer s;
    bool accepted = pdk__sequencer_parse(text, &s), expected = read_slowly(text, &read);
    FUZZ_REQUIRE(accepted == expected, "\"%s\": %d, expected %d", text, accepted, expected);
    if (accepted) {
        FUZZ_REQUIRE(strcmp(s.node, read.node) == 0, "\"%s\": node \"%s\"", text, s.node);
        FUZZ_REQUIRE(s.token == (int64_t)read.token && s.handover == read.handover, "\"%s\": numbers", text);
        FUZZ_REQUIRE(s.czxid == (int64_t)read.czxid, "\"%s\": of the node %d", text, (int)s.czxid);
        check_round_trip(&s);
    }
    g_free(read.node);
    return 0;
}
