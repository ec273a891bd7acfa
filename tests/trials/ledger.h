/*
 * The resource of the rwlock trial: a file of equal records. A writer replaces one record after another, so that a
 * reader that looks meanwhile sees the file torn. A record names the writer: "TOKEN.HANDOVER", padded, and a newline.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ledger_entry {
    int64_t token;
    uint32_t handover;
} ledger_entry;

/* The descriptor, or -1. The file must exist. */
int ledger_open(const char *path);
/* Reads all records. False: they are not equal, the file is torn. */
bool ledger_read(int fd, ledger_entry *out);
/* Replaces the record with this number, below ledger_records(). False when that failed. */
bool ledger_write(int fd, int record, const ledger_entry *entry);
int ledger_records(void);

/* Compares like strcmp, by token, then by hand-over. */
int ledger_compare(const ledger_entry *a, const ledger_entry *b);

#endif
