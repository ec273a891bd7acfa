/* The names of contenders' nodes: how ours look, how to read those of all clients, and which of two is ahead.
 *
 *     _c_<uuid36>-lock-0000000042        Curator, go-zookeeper        mark: all before the sequence
 *     <hex32>__lock__0000000042          kazoo
 *
 * Other recipes write other labels instead of "lock": see pdk__label.
 *
 * The sequence is a signed 32-bit counter of the parent directory that may wrap, written as "%010d".
 * A name that does not end in a known token and a sequence is not a contender's.
 */
#ifndef PDK_CORE_NAMES_H
#define PDK_CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the terminating zero. Ours need at most 60. */
#define PDK__NAME_SIZE 128
#define PDK__MARK_SIZE 64

/* The directories of a semaphore, below its path: of those who wait, and of the permits. */
#define PDK__LOCKS "locks"
#define PDK__LEASES "leases"

/* From here on a directory warns: its counter ends 2^20 creates later. */
#define PDK__SEQUENCE_SPARE (1 << 20)
#define PDK__SEQUENCE_HIGH (INT32_MAX - PDK__SEQUENCE_SPARE)

enum pdk__kind {
    PDK__FOREIGN, /* not a contender */
    PDK__WRITER,  /* exclusive */
    PDK__READER,  /* shared */
    PDK__LATCH,   /* a candidate of an election */
    PDK__LEASE,   /* a permit of a semaphore */
    PDK__MEMBER,  /* a member of a group */
};

enum pdk__profile { PDK__CURATOR, PDK__KAZOO };

/* The text that a recipe writes before the sequence. It is not the kind: only in Curator's names do the nodes of a lock
 * and of a writer differ. */
enum pdk__label {
    PDK__LABEL_LOCK,
    PDK__LABEL_WRITE,
    PDK__LABEL_READ,
    PDK__LABEL_LATCH,
    PDK__LABEL_LEASE,
    PDK__LABEL_MEMBER,
};

struct pdk__name {
    enum pdk__kind kind;
    int32_t sequence;
};

/* Do they stand in one queue? Candidates are no contenders for a lock, nor the other way round. */
bool pdk__kind_same_queue(enum pdk__kind a, enum pdk__kind b);

/* Read any child's name, of any bytes. false, and kind FOREIGN, when it is not a contender's. */
bool pdk__name_parse(const char *text, struct pdk__name *name);

/* At its end, 2147483647, a counter sticks: a burst of creates runs past it, into negative numbers, and the next burst
 * begins at the end again. Nobody can tell which of these nodes was first. */
bool pdk__sequence_is_stuck(int32_t sequence);

/* Serial comparison: negative when a was created before b, provided fewer than 2^31 creates lie between them. */
int32_t pdk__sequence_compare(int32_t a, int32_t b);

/* The mark of a new contender: the beginning of its nodes' names. uuid: 36 characters, lower-case hex and dashes; the
 * last 12 count a session's contenders, the others are the session's own. */
void pdk__mark_make(enum pdk__profile profile, enum pdk__label label, const char *uuid, char mark[PDK__MARK_SIZE]);

/* May its contender hand its number on to another node of its own, as a writer does that reads from now on? In Curator's
 * names a read/write lock's writer has a label of its own; in kazoo's it looks like a lock's contender. */
bool pdk__name_may_be_exchanged(const char *text, const struct pdk__name *name);

/* The length of a name before its sequence. */
size_t pdk__name_mark_length(const char *text, const struct pdk__name *name);

/* Does the UUID in a name begin with these 24 characters? The name may be any bytes. */
bool pdk__name_has_uuid_prefix(const char *name, const char *uuid);
/* The length of a name through its UUID. */
size_t pdk__name_uuid_length(const char *name);
/* The length of a name before the number that counts its session's contenders. */
size_t pdk__name_uuid_prefix_length(const char *name);
/* Did Paddock make the name? Its UUIDs have version 8. Other clients that put UUIDs into names use version 4. */
bool pdk__name_is_paddocks(const char *name);
/* Does a UUID make it unique? Without one, the same name may come again in a directory that was deleted and made
 * again. */
bool pdk__name_is_unique(const char *name);

#endif
