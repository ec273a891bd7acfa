/* SPDX-License-Identifier: Apache-2.0 */
/* The data that a leader publishes during its term: any bytes, beside its identity.
 *
 *     elected ──► no data ──publish──► data ──publish──► other data … ──► deposed: it is gone
 *
 * It is read with pdk_election_leader and pdk_contenders_data, and told to observers of data.
 *
 * Any thread may make every call below, except where its comment says otherwise. A callback may
 * make every call that does not block.
 */
#ifndef PADDOCK_LEADER_H
#define PADDOCK_LEADER_H

#include <paddock/answer.h>
#include <paddock/election.h>

PDK_BEGIN_DECLS

/* The most data that a leader may publish, in bytes. */
#define PDK_ELECTION_DATA_MAX 65536
/* The value of PDK_ELECTION_DATA_MAX, for languages that cannot use the macro. Does not wait. */
PDK_API size_t pdk_election_data_max(void);

/* Publish data of our term: any bytes, which pdk_election_leader and observers of data see with the
 * leader. Each call replaces the data that stood there. Only the holder of the term changes them:
 * the write is a compare-and-set on the last write of this term, on the znode of the term, whose
 * name does not come back. Calls of several threads take turns. Blocks, at most timeout_ms; one
 * round trip.
 *
 * The data end with the term. The next term begins without any, also when the same candidate leads
 * again: so publish in `elected`. Nothing is published before that, so an observer may hear of a
 * leader first and of its data a moment later.
 *
 * The data stand in the znode of the leader, behind a NUL byte after its identity. Programs that
 * use the whole znode as the identity see both while something is published: Curator's LeaderLatch
 * in getLeader and getParticipants, and kazoo's Election in contenders. None of them elects another
 * leader for it.
 *   hold        of the term, from `elected`, pdk_election_wait or pdk_term_hold
 *   data, size  the bytes, at most PDK_ELECTION_DATA_MAX. Copied. NULL with a size of 0 takes away
 *               the data that was published; a size of 0 with other data is data of no bytes. With
 *               PDK_NAMING_KAZOO it has to be UTF-8 without NUL.
 *   timeout_ms  0 or more, or PDK_FOREVER. With 0 there is no time for an answer.
 *
 *   PDK_OK             a quorum has written it, and the hold was valid then
 *   PDK_LOST           the term is over. Data that were not confirmed may be seen, also from now
 *                      on, until the znode of the term is gone; no later term has them
 *   PDK_NOT_HELD       the term was resigned, or the candidate has left
 *   PDK_REPLACED       somebody else has written the znode since. Their data stand, until the next
 *                      call writes over them. A request to release (revoke.h) is no such write
 *   PDK_UNAVAILABLE    no server confirmed it within timeout_ms. It may be there, or come. Calling
 *                      again is safe.
 *   PDK_NO_PERMISSION  an access control list forbids to write the znode
 *   PDK_UNSUPPORTED    the server refuses the write: for example, a quota is used up
 *   PDK_LIMIT          size is more than PDK_ELECTION_DATA_MAX
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_election_publish(pdk_election *election, pdk_hold *hold, const void *data,
                                        size_t size, int64_t timeout_ms);

/* The same, without waiting: the answer goes to fn, once, as a callback (answer.h). Any thread may
 * call it, also in a callback. It has a reference to the election until then.
 *
 *   PDK_OK     fn will be called, with PDK_OK, LOST, NOT_HELD, REPLACED, UNAVAILABLE,
 *              NO_PERMISSION, UNSUPPORTED, CLOSED or AUTH: for the reasons above
 *   PDK_LIMIT  size is more than PDK_ELECTION_DATA_MAX
 *   Common     PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_election_publish_async(pdk_election *election, pdk_hold *hold,
                                              const void *data, size_t size, int64_t timeout_ms,
                                              pdk_answered_fn fn, void *user);

/* Tells the new leader, or that its data have changed.
 *   leader  a list of one: identity, token, node and data of one moment (contenders.h); or of none,
 *           when nobody leads. A leader with an identity of "" and token 0 has a znode that this
 *           session may not read. The library owns the list; it is valid during the call.
 *
 * It never misses the newest state. States that follow each other faster than they can be read are
 * told as the last one of them. For the thread, the calls that are allowed inside and the last call
 * see pdk_leader_fn. */
typedef void (*pdk_leader_data_fn)(const pdk_contenders *leader, void *user);

/* Hear of every new leader and of each change of its data, without being a candidate. All else is
 * as for pdk_election_observe. Does not wait. Any thread may call it, also in a callback.
 *   user_free  as for pdk_election_observe
 *
 *   PDK_OK  *out is the observer, to be ended with pdk_observer_close
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error user_free is not called. */
PDK_API pdk_status pdk_election_observe_data(pdk_election *election, pdk_leader_data_fn fn,
                                             void *user, void (*user_free)(void *user),
                                             pdk_observer **out);

PDK_END_DECLS

#endif
