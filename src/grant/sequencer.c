/* Sequencers: reading them, and asking ZooKeeper whether they still hold. */
#include "grant/sequencer.h"
#include "base/text.h"
#include "core/names.h"
#include "core/paths.h"
#include "session/blocking.h"
#include "session/query.h"

#include <paddock/sequencer.h>
#include <string.h>

static bool parse_number(const char *word, guint64 least, guint64 most, guint64 *value) {
    return g_ascii_isdigit(word[0]) && g_ascii_string_to_unsigned(word, 10, least, most, value, NULL);
}

/* How the grant is held. A downgraded grant stands on another node than the node that gave its token:
 * "shared/<czxid>". */
static bool parse_mode(const char *word, int64_t *czxid) {
    static const char *const modes[] = {"exclusive", "shared", "leader", "permit"};
    guint64 value = 0;
    bool exchanged = g_str_has_prefix(word, "shared/");
    bool known = exchanged && parse_number(word + strlen("shared/"), 1, G_MAXINT64, &value);
    for (gsize i = 0; i < G_N_ELEMENTS(modes); i++)
        known = known || strcmp(word, modes[i]) == 0;
    *czxid = (int64_t)value;
    return known;
}

/* Is it a node below a lock's path? It may be longer than a path, by a contender's name. The text begins with a slash. */
static bool is_node(const char *node) {
    const char *slash = strrchr(node, '/');
    struct pdk__name parsed;
    if (slash == node || strlen(slash) > PDK__NAME_SIZE || !pdk__name_parse(slash + 1, &parsed))
        return false;
    char *dir = g_strndup(node, (gsize)(slash - node));
    bool fine = !pdk__path_error(dir, 0) && !pdk__path_error(slash, 0);
    g_free(dir);
    return fine;
}

bool pdk__sequencer_parse(const char *text, struct pdk__sequencer *out) {
    if (!text || strlen(text) > 1024 || !g_str_has_prefix(text, "pdk1 /"))
        return false;
    /* The node may contain spaces: it is all the text between the first field and the last three. */
    char **words = g_strsplit(text + strlen("pdk1 "), " ", -1);
    guint n = g_strv_length(words);
    guint64 token, handover;
    bool fine = n >= 4 && parse_mode(words[n - 3], &out->czxid) && parse_number(words[n - 2], 1, G_MAXINT64, &token) &&
                parse_number(words[n - 1], 0, G_MAXUINT32, &handover);
    if (fine) {
        size_t tail = strlen(words[n - 3]) + strlen(words[n - 2]) + strlen(words[n - 1]) + 3;
        char *node = g_strndup(text + strlen("pdk1 "), strlen(text) - strlen("pdk1 ") - tail);
        fine = is_node(node);
        if (fine) {
            g_strlcpy(out->node, node, sizeof out->node);
            out->token = (int64_t)token;
            if (out->czxid == 0)
                out->czxid = out->token;
            out->handover = (uint32_t)handover;
        }
        g_free(node);
    }
    g_strfreev(words);
    return fine;
}

struct query {
    struct pdk__query base;
    bool proven, stands;
    int64_t czxid;
};

static void query_free(struct pdk__query *q) { g_free(q); }

static void on_barrier(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct query *q = user;
    (void)s;
    q->proven = reply && (reply->result == PDK__OK || reply->result == PDK__NO_NODE);
    pdk__query_answered(&q->base, reply);
}

static void on_stat(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct query *q = user;
    (void)s;
    q->stands = reply && reply->result == PDK__OK && reply->token == q->czxid;
    pdk__query_answered(&q->base, reply);
}

static const char call[] = "pdk_sequencer_check";

static pdk_status ask(pdk_session *s, int64_t deadline, void *user) {
    const struct pdk__sequencer *sequencer = user;
    struct query *q = g_new0(struct query, 1);
    q->czxid = sequencer->czxid;
    pdk__query_init(&q->base, s, query_free);
    pdk__query_send(&q->base, PDK__OP_BARRIER, sequencer->node, on_barrier, q);
    pdk__query_send(&q->base, PDK__OP_STAT, sequencer->node, on_stat, q);
    pdk_status status = pdk__query_wait(&q->base, deadline);
    if (status == PDK_OK && !q->proven)
        status = PDK_UNAVAILABLE;
    if (status == PDK_OK && !q->stands)
        status = PDK_LOST;
    if (status != PDK_OK)
        pdk__fail(status, "%s: %s: %s", call, sequencer->node, pdk_status_text(status));
    pdk__query_unref(&q->base);
    return status;
}

pdk_status pdk_sequencer_check(pdk_session *s, const char *text, int64_t timeout_ms) {
    struct pdk__sequencer sequencer;
    pdk_status status = pdk__may_block(s, call, timeout_ms);
    if (status != PDK_OK)
        return status;
    if (!pdk__sequencer_parse(text, &sequencer))
        return pdk__fail(PDK_INVALID, "%s: text: not a sequencer; pass what pdk_hold_sequencer returned", call);
    return pdk__query_run(s, call, sequencer.node, timeout_ms, ask, &sequencer);
}
