/* Records the answer to one acquisition, of any recipe. It lives until ts_paddock_clear, like all that the support
 * makes. */
#ifndef TS_ANSWER_H
#define TS_ANSWER_H

#include <paddock/paddock.h>

typedef struct ts_answer ts_answer;

/* The call that acquires a recipe: one of its functions with all arguments but the object and the timeout filled in. */
typedef pdk_status (*ts_start_fn)(void *recipe, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out);
typedef pdk_status (*ts_block_fn)(void *recipe, int64_t timeout_ms, pdk_hold **out);

/* Asynchronously; and with a blocking call on a thread of its own, which has its answer or sleeps in its call when the
 * second returns: claims that are made one after another are queued in that order. */
ts_answer *ts_answer_start(ts_start_fn start, void *recipe, int64_t timeout_ms);
ts_answer *ts_answer_block(ts_block_fn block, void *recipe, int64_t timeout_ms);

/* With a blocking call on this thread: the answer is there when it returns. */
ts_answer *ts_answer_now(ts_block_fn block, void *recipe, int64_t timeout_ms);

bool ts_answer_wait(ts_answer *answer, int64_t timeout_ms);
/* The number of answers; the status, PDK_SYSTEM before the answer; and its time. */
int ts_answer_count(ts_answer *answer);
pdk_status ts_answer_status(ts_answer *answer);
int64_t ts_answer_at_ns(ts_answer *answer);
/* The same for a set. */
typedef pdk_status (*ts_start_set_fn)(void *what, int64_t timeout_ms, pdk_set_acquired_fn fn, void *user,
                                      pdk_set_claim **out);
typedef pdk_status (*ts_block_set_fn)(void *what, int64_t timeout_ms, pdk_set **out);
ts_answer *ts_answer_start_set(ts_start_set_fn start, void *what, int64_t timeout_ms);
ts_answer *ts_answer_block_set(ts_block_set_fn block, void *what, int64_t timeout_ms);
ts_answer *ts_answer_now_set(ts_block_set_fn block, void *what, int64_t timeout_ms);
pdk_set *ts_answer_set(ts_answer *answer);
pdk_set_claim *ts_answer_set_claim(ts_answer *answer);

/* Of whichever kind: has it got what it claimed; cancels the claim; its position. */
bool ts_answer_holds(ts_answer *answer);
pdk_status ts_answer_cancel(ts_answer *answer);
pdk_status ts_answer_position(ts_answer *answer, int32_t *ahead);

/* Of its hold or set, as the functions of these names. The part is the hold, or the first one of a set; the token is that part's. */
bool ts_answer_is_valid(ts_answer *answer);
int64_t ts_answer_remaining_ms(ts_answer *answer);
pdk_status ts_answer_ensure(ts_answer *answer, int64_t ms);
pdk_reason ts_answer_reason(ts_answer *answer);
int ts_answer_fd(ts_answer *answer);
void ts_answer_detach(ts_answer *answer);
const pdk_hold *ts_answer_part(ts_answer *answer);
int64_t ts_answer_token(ts_answer *answer);

/* Its hold. ts_answer still owns it, and gives it back by ts_answer_release, or at the end. */
pdk_hold *ts_answer_hold(ts_answer *answer);
/* The hold becomes the caller's. */
pdk_hold *ts_answer_take(ts_answer *answer);
/* Releases it, or the set. */
pdk_status ts_answer_release(ts_answer *answer);
/* Gives back its reference, which releases it if it is the last. */
void ts_answer_drop(ts_answer *answer);
/* Waits for the end of the thread of a blocking acquisition. */
void ts_answer_join(ts_answer *answer);
/* The claim of an asynchronous acquisition. */
pdk_claim *ts_answer_claim(ts_answer *answer);

/* For ts_paddock_clear. The first joins the threads and gives back holds and claims. The second frees, once the
 * sessions are gone. */
void ts_answers_end(void);
void ts_answers_free(void);

#endif
