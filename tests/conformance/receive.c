/* What the sessions of a script receive, on any thread. It goes to the trace, and wakes the waiting thread. */
#include "play.h"

#include <string.h>

static const char *below_root(const struct play *p, const char *path) {
    size_t n = strlen(p->root);
    return strncmp(path, p->root, n) == 0 && path[n] == '/' ? path + n : path;
}

static const char *owner_name(const struct play *p, int64_t id) {
    const char *name = g_hash_table_lookup(p->owners, &id);
    return id == 0 ? "nobody" : name ? name : "a stranger";
}

static void on_reply(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    struct session *s = driver;
    struct play *p = s->play;
    (void)zk;
    pthread_mutex_lock(&p->lock);
    struct asked *asked = reply->tag < p->asked->len ? p->asked->pdata[reply->tag] : NULL;
    if (!asked || asked->answered || asked->session != s) {
        p->problem = "a reply that nobody waits for";
    } else {
        asked->answered = true;
        p->unanswered--;
        if (asked->ask)
            trace_reply(p->trace, p->step, s->name, asked->ask, reply, owner_name(p, reply->owner));
    }
    pthread_cond_broadcast(&p->received);
    pthread_mutex_unlock(&p->lock);
}

static void on_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    struct session *s = driver;
    (void)zk;
    pthread_mutex_lock(&s->play->lock);
    trace_event(s->play->trace, s->play->step, s->name, below_root(s->play, path), event);
    pthread_mutex_unlock(&s->play->lock);
}

static void on_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session_id, int32_t timeout_ms) {
    struct session *s = driver;
    struct play *p = s->play;
    (void)zk;
    (void)timeout_ms;
    pthread_mutex_lock(&p->lock);
    s->connected = state == PDK__ZK_CONNECTED;
    s->dead = state == PDK__ZK_EXPIRED || state == PDK__ZK_AUTH_FAILED;
    if (s->connected)
        g_hash_table_replace(p->owners, g_memdup2(&session_id, sizeof session_id), s->name);
    p->disturbed = p->disturbed || (!s->connected && !s->may_disconnect && !s->cut) || (s->dead && !s->ended_by_step);
    s->may_disconnect = s->may_disconnect && !s->connected; /* once in a step */
    if (!s->recorded || s->last != state)                   /* "connected" may come twice */
        trace_state(p->trace, p->step, s->name, state);
    s->recorded = true;
    s->last = state;
    pthread_cond_broadcast(&p->received);
    pthread_mutex_unlock(&p->lock);
}

static void on_log(void *driver, int level, const char *text) {
    (void)driver;
    (void)level;
    (void)text;
}

const struct pdk__zk_sink play_sink = {.reply = on_reply, .watch = on_watch, .state = on_state, .log = on_log};
