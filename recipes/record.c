#include "record.h"

#include "base/text.h"
#include "core/pace.h"
#include "session/blocking.h"
#include "session/protect.h"
#include "session/query.h"
#include "session/tokens.h"
#include "zk/errors.h"

/* The pause before a request is tried again on one connection. */
#define AGAIN_NS (50 * PDK__MS)

/* ---- questions */

/* A request or two, and what was answered. */
struct question {
    struct pdk__query base;
    enum pdk__result result;      /* of the record's request */
    struct pdk__record_node node; /* of a GET */
    struct pdk__record_node own;  /* the lock node */
    struct pdk__reply stat;       /* of the record: without what it points to */
    GBytes *next;                 /* what is written after it */
};

static void question_free(struct pdk__query *query) {
    struct question *q = (struct question *)query;
    g_bytes_unref(q->node.data);
    g_bytes_unref(q->next);
    g_free(q);
}

static struct question *question_new(pdk_session *s) {
    struct question *q = g_new0(struct question, 1);
    pdk__query_init(&q->base, s, question_free);
    q->result = PDK__UNKNOWN;
    return q;
}

static void take_stat(pdk_session *s, struct pdk__record_node *node, const struct pdk__reply *reply) {
    node->exists = reply->result == PDK__OK;
    node->version = reply->version;
    node->token = pdk__token_of(s, reply->token);
    node->mtime_ms = reply->mtime_ms;
    node->ctime_ms = reply->ctime_ms;
}

static void on_record(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *q = user;
    if (reply) {
        q->result = reply->result;
        q->stat =
            (struct pdk__reply){.result = reply->result, .token = reply->token, .acl_version = reply->acl_version};
        q->node.code = reply->code;
        take_stat(s, &q->node, reply);
        q->node.data = g_bytes_new(reply->data, reply->data ? reply->data_size : 0);
    }
    pdk__query_answered(&q->base, reply);
}

static void on_own(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct question *q = user;
    if (reply)
        take_stat(s, &q->own, reply);
    pdk__query_answered(&q->base, reply);
}

pdk_status pdk__record_get(pdk_session *s, const char *path, int64_t deadline, struct pdk__record_node *node) {
    struct question *q = question_new(s);
    pdk__query_send(&q->base, PDK__OP_GET, path, on_record, q);
    pdk_status status = pdk__query_wait(&q->base, deadline);
    if (status == PDK_OK || status == PDK_NO_PERMISSION)
        *node = q->node;
    if (status == PDK_OK)
        q->node.data = NULL; /* the caller's now */
    else
        node->data = NULL;
    pdk__query_unref(&q->base);
    return status;
}

/* ---- a change */

static bool has_ended(const pdk_hold *hold) {
    return hold->loss.released || hold->s->ended != PDK_OK || !pdk_hold_is_valid(hold);
}

static pdk_status ended_how(const struct pdk__record_call *c) {
    if (c->hold->s->ended != PDK_OK)
        return pdk__session_usable(c->hold->s, c->name);
    return pdk__fail(c->hold->loss.released ? PDK_NOT_HELD : PDK_LOST, "%s: %s: %s", c->name, c->path,
                     c->hold->loss.released ? "the hold was released" : "the hold is lost");
}

static pdk_status refused(const struct pdk__record_call *c, enum pdk__result result, int code) {
    return pdk__fail(result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED,
                     "%s: %s: the server refuses it: %s", c->name, c->path, pdk__zk_code_name(code));
}

/* A step of a change: UNAVAILABLE says that it is to be done again, after a pause unless `soon` is set. */
struct step {
    struct pdk__record_call *c;
    bool soon, done;
};

/* One write of the record, and what came of it. */
static pdk_status write_once(struct step *step, struct pdk__request request) {
    struct question *q = question_new(step->c->hold->s);
    request.path = step->c->path;
    pdk__query_request(&q->base, request, on_record, q);
    pdk__query_wait(&q->base, step->c->deadline);
    enum pdk__result result = q->result;
    int code = q->node.code;
    pdk__query_unref(&q->base);
    if (result == PDK__NOT_ALLOWED || result == PDK__REFUSED || result == PDK__LIMITED)
        return refused(step->c, result, code);
    step->done = result == PDK__OK && request.kind == PDK__OP_SET;
    step->soon = result != PDK__UNKNOWN && result != PDK__NOT_NOW; /* the next look finds what is there */
    return step->done ? PDK_OK : PDK_UNAVAILABLE;
}

static pdk_status edit(struct step *step, struct question *q) {
    struct pdk__record_call *c = step->c;
    struct pdk__record_seen seen = {.mtime_ms = q->node.mtime_ms, .now_ms = q->own.ctime_ms};
    seen.data = g_bytes_get_data(q->node.data, &seen.size);
    pdk_status status = c->edit(c->user, &seen, &q->next);
    step->done = status == PDK_OK && !q->next;
    if (status == PDK_OK && q->next) {
        struct pdk__request set = {.kind = PDK__OP_SET, .versioned = true, .version = q->node.version};
        set.data = g_bytes_get_data(q->next, &set.data_size);
        if (c->handed == 0)
            c->handed = pdk__now(c->hold->s);
        status = write_once(step, set);
    }
    return status;
}

static void drop_question(void *q) { pdk__query_unref(q); }

/* What strangers may write is not believed. UNAVAILABLE: the lists are asked for, and it is looked again. */
static pdk_status check_protection(struct step *step, const struct question *q) {
    struct pdk__record_call *c = step->c;
    char *words = NULL;
    enum pdk__protection protection = pdk__protect_judge_record(c->hold->s, c->path, &q->stat, c->hold->node, &words);
    pdk_status status = PDK_OK;
    if (protection == PDK__UNPROTECTED)
        status = pdk__fail(PDK_UNPROTECTED, "%s: %s: %s", c->name, c->path, words);
    else if (protection != PDK__PROTECTED)
        status = PDK_UNAVAILABLE;
    step->soon = protection == PDK__PROTECTION_ASKED;
    g_free(words);
    return status;
}

static pdk_status look(struct step *step) {
    struct pdk__record_call *c = step->c;
    pdk_session *s = c->hold->s;
    struct question *q = question_new(s);
    pdk__protect_look_at_record(s, c->path);
    pdk__query_send(&q->base, PDK__OP_GET, c->path, on_record, q);
    pdk__query_send(&q->base, PDK__OP_STAT, c->hold->node, on_own, q);
    pdk_status status = pdk__query_wait(&q->base, c->deadline);
    struct pdk__leave leave = {.locked = drop_question, .user = &q->base};
    pdk__leave_push(&leave);
    if (status == PDK_NO_PERMISSION)
        status = refused(c, PDK__NOT_ALLOWED, q->base.code);
    else if (status == PDK_OK && !q->own.exists)
        status = pdk__fail(PDK_LOST, "%s: %s: the lock node is gone", c->name, c->path);
    else if (status == PDK_OK && has_ended(c->hold))
        status = ended_how(c);
    if (status == PDK_OK)
        status = check_protection(step, q);
    if (status == PDK_OK && !q->node.exists)
        status = write_once(step, (struct pdk__request){.kind = PDK__OP_MKDIR});
    else if (status == PDK_OK && q->node.version < 0)
        status =
            pdk__fail(PDK_LIMIT, "%s: %s: its versions are used up; delete it while nobody uses it", c->name, c->path);
    else if (status == PDK_OK)
        status = edit(step, q);
    pdk__leave_pop();
    pdk__query_unref(&q->base);
    return status;
}

static pdk_status change(struct pdk__record_call *c) {
    pdk_session *s = c->hold->s;
    struct pdk__pace pace = {0};
    for (;;) {
        struct step step = {.c = c};
        pdk_status status = PDK_UNAVAILABLE;
        if (has_ended(c->hold))
            return ended_how(c);
        if (s->link == PDK__LINK_CONNECTED) /* without one it might go out late */
            status = look(&step);
        if (step.done && !c->ends && has_ended(c->hold))
            return ended_how(c);
        if (status != PDK_UNAVAILABLE)
            return status;
        if (pdk__now(s) >= c->deadline)
            return pdk__fail(status, "%s: %s: not confirmed within timeout_ms; it may have been executed", c->name,
                             c->path);
        int64_t pause = step.soon ? pdk__pace_next(&pace, &pdk__pace_repeats, pdk__now(s)) : AGAIN_NS;
        if (pause > 0)
            pdk__wait(s, &s->on_link, MIN(c->deadline, pdk__now(s) + pause));
    }
}

pdk_status pdk__record_change(struct pdk__record_call *c) {
    struct pdk__leave leave = {0};
    pdk__leave_push(&leave);
    pdk__lock(c->hold->s);
    pdk_status status = change(c);
    pdk__unlock(c->hold->s);
    pdk__leave_pop();
    return status;
}
