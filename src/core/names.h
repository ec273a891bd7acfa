/* The names of contenders' nodes: what ours look like, how to read everybody's, and who is ahead of whom.
 *
 *     _c_<uuid36>-lock-0000000042        Curator, go-zookeeper        mark: all before the sequence
 *     <hex32>__lock__0000000042          kazoo
 *
 * Other recipes write other labels in the place of "lock": see pdk__label.
 *
 * The sequence is a signed 32-bit counter of the parent directory that may wrap, written as "%010d".
 * Names that do not end in a known token and a sequence belong to nobody in the line.
 */
#ifndef PDK_CORE_NAMES_H
#define PDK_CORE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the terminating zero. Ours need at most 60. */
#define PDK__NAME_SIZE 128
#define PDK__MARK_SIZE 64

/* From here on a directory warns: its counter ends 2^20 creates later. */
#define PDK__SEQUENCE_SPARE (1 << 20)
#define PDK__SEQUENCE_HIGH (INT32_MAX - PDK__SEQUENCE_SPARE)

enum pdk__kind {
    PDK__FOREIGN, /* not a contender */
    PDK__WRITER,  /* exclusive */
    PDK__READER,  /* shared */
    PDK__LATCH,   /* a candidate of an election */
    PDK__LEASE,   /* a permit of a semaphore */
};

enum pdk__profile { PDK__CURATOR, PDK__KAZOO };

/* What a recipe writes before the sequence. Not the kind: a lock's and a writer's nodes differ in Curator's names alone. */
enum pdk__label { PDK__LABEL_LOCK, PDK__LABEL_WRITE, PDK__LABEL_READ, PDK__LABEL_LATCH, PDK__LABEL_LEASE };

struct pdk__name {
    enum pdk__kind kind;
    int32_t sequence;
};

/* Do they queue in one line? Candidates are no contenders for a lock, nor the other way round. */
bool pdk__kind_same_queue(enum pdk__kind a, enum pdk__kind b);

/* Read any child's name; false, and kind FOREIGN, when it is not a contender's. Total: any bytes will do. */
bool pdk__name_parse(const char *text, struct pdk__name *name);

/* At its end, 2147483647, a counter sticks: a burst of creates runs past it, into negative numbers, and the next one begins at
 * the end again. Nobody can tell who of those was first. */
bool pdk__sequence_is_stuck(int32_t sequence);

/* Serial comparison: negative when a was created before b, provided fewer than 2^31 creates lie between them. */
int32_t pdk__sequence_compare(int32_t a, int32_t b);

/* The mark of a new contender: what its nodes' names begin with. uuid: 36 characters, lower-case hex and dashes; the last 12
 * count a session's contenders, the others are the session's own. */
void pdk__mark_make(enum pdk__profile profile, enum pdk__label label, const char *uuid, char mark[PDK__MARK_SIZE]);

/* How much of a name that was read stands before its sequence. */
size_t pdk__name_mark_length(const char *text, const struct pdk__name *name);

/* Does the uuid in a name begin so, with 24 characters of one? Any bytes will do for a name. */
bool pdk__name_has_uuid_prefix(const char *name, const char *uuid);
/* How much of a name stands before the number of a contender of its session. */
size_t pdk__name_uuid_prefix_length(const char *name);

#endif
