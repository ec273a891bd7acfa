/* The rendezvous: it opens when `participants` are present. It is the recipe that docs/adding-a-recipe.md builds. It is not part of
 * the library: it stands here so that the page has code that is compiled and run.
 *
 *     <path>    one znode for each participant that is present. The data of the directory is "open"
 *               once the rendezvous has opened.
 *
 * A rendezvous opens once. A participant that comes later passes at once, also when the others have left by then. The server may
 * remove the directory some time after the last participant has left it; the rendezvous is shut again then. Use a path for one
 * gathering, and for nothing else.
 *
 * Presence is a hold: it can be checked, it can be lost, and its release is how a participant leaves. A token tells
 * participants apart. Holds do not exclude each other, so tokens are in no order that a resource could check.
 *
 * Each arrival wakes every participant that waits, and each of these lists the directory. So n participants cost about n * n
 * / 2 lists. That is why their number has a bound.
 */
#ifndef RENDEZVOUS_H
#define RENDEZVOUS_H

#include <paddock/hold.h>
#include <paddock/session.h>

/* The most participants that a rendezvous can wait for. */
#define RENDEZVOUS_PARTICIPANTS_MAX 1000

/* Be present at the rendezvous, and wait until it opens. Blocks, at most timeout_ms; a try blocks at most request_timeout_ms. Each
 * call is a participant of its own, also in two threads of one process.
 *   path          as of pdk_lock_new. Every participant gives the same path.
 *   participants  how many open the rendezvous, 1 to RENDEZVOUS_PARTICIPANTS_MAX. It must be the same for every participant; nobody checks
 *                 that.
 *   timeout_ms    how long to wait, or PDK_FOREVER. 0 is a try: it comes, looks, and does not wait for others.
 *
 * The session may expire while the call waits. The participant enters again then, on the next session and with the same
 * deadline. It does the same when an administrator deletes its node. In between it is not present.
 *
 *   PDK_OK             the rendezvous is open, and *out is the presence, with one reference that pdk_hold_release gives back
 *   PDK_BUSY           a try: too few are present
 *   PDK_TIMEOUT        the deadline passed, and the participant was present; or the rendezvous opened in time and this thread ran
 *                      too late
 *   PDK_UNAVAILABLE    no server confirmed the presence by the deadline; a try: no answer came within request_timeout_ms
 *   PDK_NO_PERMISSION  an access control list forbids it: list, read and write the directory, create and delete in it
 *   PDK_UNSUPPORTED    the server cannot do it
 *   PDK_LIMIT          the session has too many nodes or watches, or the directory has too many children
 *   PDK_EXHAUSTED      the directory's sequence numbers are used up
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD
 *
 * Without PDK_OK, *out is as it was, and no node of the call is left, or the session is deleting it. */
pdk_status rendezvous_enter(pdk_session *session, const char *path, int32_t participants, int64_t timeout_ms,
                            pdk_hold **out);

#endif
