/* The tenure of a hold: its record is renewed whenever a third of its duration has passed, until the hold ends.
 *
 *     alarm ──► GET ──ours──► SET, naming the version ──OK──► the hold may last longer; alarm
 *       ▲        │ no answer     │ no answer, or another version
 *       └─soon───┴───────────────┘
 *                ├ given up by this hold: nothing more, its release is under way
 *                └ another's, or nobody's: the hold is lost
 *
 * Only its own limit ends the hold in time, so an answer that does not come changes nothing.
 */
#include "grant/hold.h"
#include "lease_lock.h"
#include "session/ops.h"

#define AGAIN_LEAST_NS (50 * PDK__MS)
#define AGAIN_MOST_NS (1000 * PDK__MS)

struct tenure {
    struct pdk__grant_listener listener;
    pdk_session *s;
    pdk_hold *hold; /* NULL once the grant has ended */
    char *path;
    struct pdk__lease_record mine;
    struct pdk__alarm alarm;
    int64_t handed; /* when the write under way was */
    bool asked;     /* a request is under way */
};

static void tenure_free(struct tenure *t) {
    if (t->hold || t->asked)
        return;
    g_free(t->path);
    g_free(t);
}

int64_t pdk__tenure_end(int64_t handed, int64_t duration_ms) {
    int64_t duration = duration_ms * PDK__MS;
    return handed + duration - duration / 16 - 50 * PDK__MS;
}

static void rest(struct tenure *t, int64_t until) { pdk__alarm_set(t->s, &t->alarm, until); }

static void again(struct tenure *t) {
    int64_t pause = CLAMP(t->mine.duration * PDK__MS / 32, AGAIN_LEAST_NS, AGAIN_MOST_NS);
    rest(t, pdk__now(t->s) + pause);
}

static void renewed(struct tenure *t) {
    int64_t duration = t->mine.duration;
    pdk__hold_limit(t->hold, pdk__tenure_end(t->handed, duration), pdk__tenure_end(0, duration));
    rest(t, t->handed + duration * PDK__MS / 3);
}

static void on_set(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct tenure *t = user;
    (void)s;
    t->asked = false;
    if (!t->hold)
        tenure_free(t);
    else if (reply && reply->result == PDK__OK)
        renewed(t);
    else
        again(t);
}

static void write_again(struct tenure *t, int32_t version) {
    char text[PDK__LEASE_LOCK_SIZE];
    pdk__lease_record_write(&t->mine, text);
    t->handed = pdk__now(t->s);
    t->asked = pdk__send(t->s,
                         (struct pdk__request){
                             .kind = PDK__OP_SET, .path = t->path, .data = text, .versioned = true, .version = version},
                         on_set, t);
    if (!t->asked)
        again(t);
}

/* The state of a record that stands for this hold, 'H' or 'N'; 0: it does not. */
static char own_state(const struct tenure *t, const struct pdk__reply *reply) {
    struct pdk__lease_record found;
    bool ours = reply->result == PDK__OK &&
                pdk__lease_record_parse(reply->data, reply->data ? reply->data_size : 0, &found) == PDK__RECORD_FINE &&
                found.token == t->mine.token;
    return ours ? found.state : '\0';
}

/* Go on with the answer to a look. Only a release of this very hold gives the record up: it ends the hold as soon as it
 * hears its answer, or the limit does. */
static void tenure_go_on(struct tenure *t, const struct pdk__reply *reply) {
    switch (own_state(t, reply)) {
    case 'H':
        write_again(t, reply->version);
        break;
    case 'N':
        break;
    default:
        pdk__hold_lose(t->hold, PDK_REASON_OVERDUE); /* the grant ends, and frees the tenure */
    }
}

static void on_got(pdk_session *s, void *user, const struct pdk__reply *reply) {
    struct tenure *t = user;
    (void)s;
    t->asked = false;
    if (!t->hold)
        tenure_free(t);
    else if (!reply || (reply->result != PDK__OK && reply->result != PDK__NO_NODE))
        again(t);
    else
        tenure_go_on(t, reply);
}

static void ring(pdk_session *s, void *user) {
    struct tenure *t = user;
    t->asked = s->link == PDK__LINK_CONNECTED &&
               pdk__send(s, (struct pdk__request){.kind = PDK__OP_GET, .path = t->path}, on_got, t);
    if (!t->asked)
        again(t);
}

static void ended(struct pdk__grant_listener *l, pdk_reason reason) {
    struct tenure *t = (struct tenure *)l;
    (void)reason;
    t->hold = NULL;
    pdk__alarm_off(&t->alarm);
    tenure_free(t);
}

void pdk__tenure_begin(pdk_hold *hold, const char *path, const struct pdk__lease_record *mine, int64_t handed) {
    struct tenure *t = g_new0(struct tenure, 1);
    pdk__assert_locked(hold->s);
    t->listener.ended = ended;
    t->s = hold->s;
    t->hold = hold;
    t->path = g_strdup(path);
    t->mine = *mine;
    t->handed = handed;
    t->alarm.ring = ring;
    t->alarm.user = t;
    pdk__grant_listen(hold->grant, &t->listener);
    renewed(t);
}
