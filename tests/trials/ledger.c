#include "ledger.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 4, WIDTH = 32 };
#define FORMAT "%020" G_GINT64_FORMAT ".%010u\n"

int ledger_open(const char *path) { return open(path, O_RDWR | O_CLOEXEC); }

int ledger_records(void) { return RECORDS; }

/* One read for each record: a writer can get in between, as with any larger resource. */
bool ledger_read(int fd, ledger_entry *out) {
    char first[WIDTH + 1] = "", record[WIDTH + 1] = "";
    for (int i = 0; i < RECORDS; i++) {
        if (pread(fd, record, WIDTH, (off_t)i * WIDTH) != WIDTH)
            return false;
        if (i == 0)
            memcpy(first, record, sizeof first);
        else if (memcmp(first, record, WIDTH) != 0)
            return false;
    }
    char *end;
    out->token = g_ascii_strtoll(first, &end, 10);
    out->handover = (uint32_t)g_ascii_strtoull(*end ? end + 1 : end, NULL, 10);
    return true;
}

bool ledger_write(int fd, int record, const ledger_entry *entry) {
    char text[WIDTH + 1];
    g_snprintf(text, sizeof text, FORMAT, (gint64)entry->token, (unsigned)entry->handover);
    return pwrite(fd, text, WIDTH, (off_t)record * WIDTH) == WIDTH;
}

int ledger_compare(const ledger_entry *a, const ledger_entry *b) {
    if (a->token != b->token)
        return a->token < b->token ? -1 : 1;
    return a->handover == b->handover ? 0 : a->handover < b->handover ? -1 : 1;
}
