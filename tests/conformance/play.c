/* Plays a script on a backend, step by step. After each step it waits until nothing of it can come any more.
 *
 *     step ─► all requests are answered ─► a barrier on every connected session is answered ─► next step
 *
 * A quorum commits a barrier, and it is answered in its session's order. So when its answer has come, every earlier watch
 * event of its server has come too, and that server has applied everything that was committed before.
 */
#include "play.h"

#include <time.h>

#define DEADLINE_S 30
#define REPLAYS 3
#define STEPS_MAX 2000000 /* steps of a stepped backend, before it counts as stuck */

/* --- waiting */

typedef bool (*condition)(const struct play *p, const struct session *s);

static bool all_answered(const struct play *p, const struct session *s) {
    (void)s;
    return p->unanswered == 0;
}
static bool is_up(const struct play *p, const struct session *s) {
    (void)p;
    return s->connected || s->dead;
}
static bool is_down(const struct play *p, const struct session *s) {
    (void)p;
    return !s->connected;
}
static bool is_dead(const struct play *p, const struct session *s) {
    (void)p;
    return s->dead;
}

static bool await(struct play *p, condition done, const struct session *s, const char *what) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += DEADLINE_S;
    bool more = true;
    for (int32_t i = 0; i < STEPS_MAX && more; i++) {
        pthread_mutex_lock(&p->lock);
        bool yes = done(p, s);
        if (!yes && !p->backend->step)
            more = pthread_cond_timedwait(&p->received, &p->lock, &deadline) == 0;
        pthread_mutex_unlock(&p->lock);
        if (yes)
            return true;
        if (p->backend->step)
            more = p->backend->step(p->backend);
    }
    pthread_mutex_lock(&p->lock);
    p->problem = p->problem ? p->problem : what;
    pthread_mutex_unlock(&p->lock);
    return false;
}

/* --- acting */

static bool is_connected(struct session *s) {
    pthread_mutex_lock(&s->play->lock);
    bool connected = s->connected;
    pthread_mutex_unlock(&s->play->lock);
    return connected;
}

/* Only this thread writes it. */
static void set_cut(struct session *s, bool is_cut) {
    pthread_mutex_lock(&s->play->lock);
    s->cut = is_cut;
    pthread_mutex_unlock(&s->play->lock);
}

static void end_session(struct session *s) {
    pthread_mutex_lock(&s->play->lock);
    s->ended_by_step = true;
    pthread_mutex_unlock(&s->play->lock);
}

static bool submit(struct play *p, struct session *s, const struct ask *ask, const struct pdk__request *request) {
    struct asked *asked = g_new0(struct asked, 1);
    *asked = (struct asked){s, ask, false};
    struct pdk__request tagged = *request;
    pthread_mutex_lock(&p->lock);
    tagged.tag = p->asked->len;
    g_ptr_array_add(p->asked, asked);
    p->unanswered++;
    pthread_mutex_unlock(&p->lock);
    if (p->backend->calls->submit(s->zk, &tagged))
        return true;
    pthread_mutex_lock(&p->lock);
    asked->answered = true;
    p->unanswered--;
    if (ask)
        trace_not_sent(p->trace, p->step, s->name, ask);
    pthread_mutex_unlock(&p->lock);
    return false;
}

static bool settle(struct play *p) {
    if (!await(p, all_answered, NULL, "a request is not answered"))
        return false;
    for (int i = 0; i < SLOTS; i++) {
        struct session *s = p->slots[i];
        if (s && is_connected(s) && !s->cut)
            submit(p, s, NULL, &(struct pdk__request){.kind = PDK__OP_BARRIER, .path = p->root});
    }
    return await(p, all_answered, NULL, "a barrier is not answered");
}

static bool request(struct play *p, const struct step *step) {
    struct session *s = p->slots[step->slot];
    if (!s)
        return false;
    for (int i = 0; i < step->count; i++) {
        const struct ask *ask = &step->asks[i];
        g_autofree char *path = g_strconcat(p->root, ask->path, NULL);
        submit(p, s, ask,
               &(struct pdk__request){.kind = ask->kind,
                                      .path = path,
                                      .data = ask->data,
                                      .container = ask->container,
                                      .named = ask->named,
                                      .watch = ask->watch,
                                      .versioned = ask->version >= 0,
                                      .version = ask->version});
    }
    return true;
}

static bool lossy_request(struct play *p, const struct step *step) {
    struct session *s = p->slots[step->slot];
    return s && is_connected(s) && p->backend->prepare(p->backend, step->slot, step->kind) && request(p, step) &&
           p->backend->lose(p->backend, step->slot, step->kind) &&
           await(p, all_answered, NULL, "no answer to the lost") && await(p, is_up, s, "it does not connect again");
}

static bool open_session(struct play *p, int slot) {
    struct session *s = g_new0(struct session, 1);
    unsigned before = 0;
    if (p->slots[slot]) {
        g_free(s);
        return false;
    }
    for (guint i = 0; i < p->sessions->len; i++)
        before += ((struct session *)p->sessions->pdata[i])->name[0] == 'A' + slot;
    g_snprintf(s->name, sizeof s->name, before ? "%c%u" : "%c", 'A' + slot, before + 1);
    s->play = p;
    g_ptr_array_add(p->sessions, s);
    if (p->backend->open(p->backend, slot, &play_sink, s, &s->zk) != PDK_OK)
        return false;
    p->slots[slot] = s;
    return await(p, is_up, s, "it does not connect");
}

static bool close_session(struct play *p, int slot) {
    struct session *s = p->slots[slot];
    if (!s)
        return false;
    p->slots[slot] = NULL;
    p->backend->calls->close(s->zk);
    if (s->cut)
        p->backend->forget(p->backend, slot);
    return true;
}

static bool change(struct play *p, enum step_kind kind, int slot) {
    struct session *s = p->slots[slot];
    struct backend *b = p->backend;
    if (kind == OPEN)
        return open_session(p, slot);
    if (!s)
        return false;
    switch (kind) {
    case CLOSE:
        return close_session(p, slot);
    case EXPIRE:
        end_session(s);
        return b->expire(b, slot) && (s->cut || await(p, is_dead, s, "it does not hear of its end"));
    case CUT:
        set_cut(s, true);
        return b->cut(b, slot) && await(p, is_down, s, "it does not hear of the cut");
    case RESTORE:
        set_cut(s, false);
        return b->restore(b, slot) && await(p, is_up, s, "it does not connect again");
    default:
        return false;
    }
}

/* A step begins. It may break the connections of some sessions. */
static void enter(struct play *p, size_t number) {
    const struct step *step = p->script->steps->pdata[number];
    bool lossy = step->kind == LOSE_REQUEST || step->kind == LOSE_REPLY || step->kind == LOSE_ALL;
    unsigned slots = lossy ? 1u << step->slot : step->slots;
    pthread_mutex_lock(&p->lock);
    p->step = number;
    for (int slot = 0; slot < SLOTS; slot++)
        if (p->slots[slot])
            p->slots[slot]->may_disconnect = slots & 1u << slot;
    pthread_mutex_unlock(&p->lock);
}

static bool play_step(struct play *p, const struct step *step) {
    g_autofree char *path = NULL;
    switch (step->kind) {
    case REQUESTS:
        return request(p, step);
    case LOSE_REQUEST:
    case LOSE_REPLY:
    case LOSE_ALL:
        return lossy_request(p, step);
    case ADMIN:
        path = g_strconcat(p->root, step->admin.path, NULL);
        return p->backend->admin(p->backend, &step->admin, path);
    default:
        break;
    }
    for (int slot = 0; slot < SLOTS; slot++)
        if (step->slots & 1u << slot && !change(p, step->kind, slot))
            return false;
    return true;
}

static bool is_disturbed(struct play *p) {
    pthread_mutex_lock(&p->lock);
    bool disturbed = p->disturbed && !p->backend->step; /* on a fake it is a difference like any other */
    pthread_mutex_unlock(&p->lock);
    return disturbed;
}

static const char *problem_of(struct play *p) {
    pthread_mutex_lock(&p->lock);
    const char *problem = p->problem;
    pthread_mutex_unlock(&p->lock);
    return problem;
}

static bool play_all(struct play *p) {
    p->root = p->backend->begin(p->backend, p->script);
    if (!p->root) {
        fprintf(stderr, "%s: %s cannot begin\n", p->script->name, p->backend->name);
        return false;
    }
    for (guint i = 0; i < p->script->steps->len; i++) {
        const struct step *step = p->script->steps->pdata[i];
        enter(p, i);
        if (play_step(p, step) && settle(p) && !problem_of(p))
            continue;
        if (!is_disturbed(p))
            fprintf(stderr, "%s: on %s, at \"%s\": %s\n", p->script->name, p->backend->name, step->text,
                    problem_of(p) ? problem_of(p) : "it cannot be done");
        return false;
    }
    return true;
}

static struct trace *play_once(const struct script *script, struct backend *backend, bool *disturbed) {
    struct play p = {.script = script, .backend = backend, .trace = trace_new(script)};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p.received, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&p.lock, NULL);
    p.sessions = g_ptr_array_new_with_free_func(g_free);
    p.asked = g_ptr_array_new_with_free_func(g_free);
    p.owners = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

    bool ok = play_all(&p);
    *disturbed = is_disturbed(&p) || (!ok && !backend->step && !problem_of(&p));
    pthread_mutex_lock(&p.lock);
    p.step = script->steps->len; /* events from now on are not recorded */
    pthread_mutex_unlock(&p.lock);
    for (int slot = 0; slot < SLOTS; slot++)
        if (p.slots[slot])
            close_session(&p, slot);
    if (p.root)
        backend->end(backend);
    if (!ok)
        g_clear_pointer(&p.trace, trace_free);

    g_hash_table_destroy(p.owners);
    g_ptr_array_unref(p.asked);
    g_ptr_array_unref(p.sessions);
    pthread_cond_destroy(&p.received);
    pthread_mutex_destroy(&p.lock);
    return p.trace;
}

/* An overloaded machine, or a server that stalls, may lose a connection, end a session that is cut off, or not do what the
 * script's administrator asks. This says nothing about the answers, so the script is played again. An answer that does not
 * come is a failure at once. */
struct trace *play(const struct script *script, struct backend *backend) {
    bool disturbed = false;
    struct trace *trace = play_once(script, backend, &disturbed);
    for (int left = REPLAYS; disturbed && left > 0; left--) {
        trace_free(trace);
        backend->replayed++;
        trace = play_once(script, backend, &disturbed);
    }
    return trace;
}
