/* What a lying server says: every answer of ZooKeeper's protocol, each of its fields, and what may stand there instead.
 *
 *     lies_all ──► the table of lies ──► liar (a proxy between a client and a real server) tells one of them
 *                                          once, or always
 *
 * All else that the client hears is what the real server says, so that it comes to where it believes the lie.
 */
#ifndef LIES_H
#define LIES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Answers beside those to a request of that type (testing/proxy.h). */
enum { LIES_HANDSHAKE = -10, LIES_ANY = -1000 };

enum lie_how {
    LIE_NUMBER,   /* a number, or the length of a text, a list or data */
    LIE_TEXT,     /* another text: $ is the true one, @ its directory, # all but its last ten bytes */
    LIE_NAME,     /* one more name in front of a list: $ is the first true one, * another one each time */
    LIE_HIDE,     /* no name of a contender in a list */
    LIE_CODE,     /* nothing but a code */
    LIE_CUT,      /* only so many bytes, or all but so many */
    LIE_MORE,     /* so many more bytes */
    LIE_WITHHOLD, /* nothing */
    LIE_TWICE,    /* the same again */
    LIE_LENGTH,   /* the length of the frame */
    LIE_EVENT,    /* an event behind the answer, of that type; field: its state */
    LIE_RANDOM,   /* other numbers and letters, from a seed */
    LIE_HANG_UP,  /* the end of the connection */
    LIE_NONE,     /* the truth */
};

struct lie {
    char name[96];
    int answer;
    enum lie_how how;
    int field; /* in the layout of the answer */
    int64_t number;
    const char *text;
    bool lasts; /* told once, it stays: the number of a session */
    /* Why the client library ends the process, or spins, before we hear of it. NULL: it does not. */
    const char *librarys;
};

/* The layout of an answer: i and l are numbers of 4 and 8 bytes, b is one byte, s a text, d data, v a list of texts. */
const char *lies_layout(int answer);

/* All of them, in the same order each time. g_array_unref. */
GArray *lies_all(void);

/* The answer to a request of that type, with the lie in it. false: the lie has no place in this answer. */
bool lies_tell(const struct lie *lie, int type, GByteArray *answer, guint32 *seed);

/* ---- the liar: a proxy of this process, on threads of its own */

struct liar;

/* It leads to that server. always: it tells the lie in each answer, else in the first one alone. It has no end. NULL: no port. */
struct liar *liar_start(const char *server, const struct lie *lie, bool always);
const char *liar_address(const struct liar *liar);
/* From now on the truth alone. */
void liar_rest(struct liar *liar);
/* How often it has lied, how many requests and connections came. */
unsigned liar_told(struct liar *liar);
unsigned liar_requests(struct liar *liar);
unsigned liar_connections(struct liar *liar);

/* ---- the scenes: each recipe, used in every way, with short timeouts */

#include <paddock/paddock.h>

struct scene {
    const char *name;
    /* The first status that is not OK. It has a path of its own. */
    pdk_status (*play)(pdk_session *session, const char *path);
    /* In the place of that: on the first session there may be lies, the others have honest servers. Or NULL. */
    pdk_status (*play_three)(pdk_session *const sessions[3], const char *path);
};

/* How long each call may take. */
extern int scenes_ms;
extern const struct scene scenes[];
extern const unsigned scenes_count;

#endif
