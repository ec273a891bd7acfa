/* GLib's slices, and forks. Before 2.76 GLib has an allocator of its own for its lists, tables and strings, with locks
 * that it does not take for a fork. A child that was forked while another thread had one of them waits for ever as soon
 * as it makes a list.
 *
 *     the library is loaded ──► before GLib's first slice: no slices, all is malloc, whose locks are good after a fork
 *                         └──► later (a static library, a dlopen): a child asks before it opens a session
 */
#ifndef PDK_BASE_SLICES_H
#define PDK_BASE_SLICES_H

#include <stdbool.h>

/* In the child of a fork, before it uses a container of GLib: does GLib's allocator answer? Asks once in each process;
 * takes a thread and a moment. false after seconds: a thread that this process has not got has a lock of it. */
bool pdk__slices_work(void);

#endif
