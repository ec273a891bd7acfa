#include "session/tokens.h"

#include "base/text.h"

int64_t pdk__token_of(const pdk_session *s, int64_t czxid) {
    return (int64_t)((uint64_t)s->token_base + (uint64_t)czxid);
}

void pdk__tokens_saw(pdk_session *s, int64_t zxid) {
    pdk__assert_locked(s);
    if (zxid > 0)
        s->token_seen = MAX(s->token_seen, pdk__token_of(s, zxid));
}

/* Nodes that are created from now on come after everything that was seen, unless the servers went back. */
void pdk__tokens_begin(pdk_session *s) {
    pdk__assert_locked(s);
    s->token_least = s->token_seen + 1;
    s->token_told = false;
}

char *pdk__tokens_rewound(pdk_session *s, int64_t token) {
    pdk__assert_locked(s);
    char *why = g_strdup_printf("the servers were wiped, or restored: they gave token %" G_GINT64_FORMAT
                                ", after %" G_GINT64_FORMAT "; open all sessions again with a token_base from "
                                "pdk_token_base_above (docs/fencing.md)",
                                token, s->token_least - 1);
    if (!s->token_told)
        pdk__log(s, PDK_LOG_ERROR, "%s", why);
    s->token_told = true;
    return why;
}

int64_t pdk_session_token_seen(pdk_session *s) {
    if (!s || s->forks != pdk__forks())
        return 0;
    pdk__lock(s);
    int64_t seen = s->token_seen;
    pdk__unlock(s);
    return seen;
}

int64_t pdk_token_base_above(int64_t highest) {
    if (highest >= 0 && highest < PDK__TOKEN_BASE_MAX)
        return (highest / PDK__TOKEN_GENERATION + 1) * PDK__TOKEN_GENERATION;
    pdk__fail(PDK_INVALID, "pdk_token_base_above: highest is %lld; from 0 to 2^62 - 1", (long long)highest);
    return 0;
}
