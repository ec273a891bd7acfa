#include "core/lease_lock.h"
#include "core/sequencer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char family[] = "paddock-lease ", head[] = "paddock-lease 1\n";

size_t pdk__lease_record_write(const struct pdk__lease_record *record, char text[PDK__LEASE_LOCK_SIZE]) {
    if (record->state == 'N')
        return (size_t)snprintf(text, PDK__LEASE_LOCK_SIZE, "%sN %" PRId64 "\n", head, record->token);
    return (size_t)snprintf(text, PDK__LEASE_LOCK_SIZE, "%sH %" PRId64 " %" PRId64 " %s %s\n", head, record->token,
                            record->duration, record->digest, record->who);
}

static bool take_number(const char **at, char end, int64_t most, int64_t *value) {
    size_t length = strspn(*at, "0123456789");
    uint64_t number;
    if ((*at)[length] != end || !pdk__number_parse(*at, length, 1, (uint64_t)most, &number))
        return false;
    *value = (int64_t)number;
    *at += length + 1;
    return true;
}

static bool take_text(const char **at, char end, size_t least, size_t room, char *text) {
    size_t length = strcspn(*at, end == ' ' ? " \n" : "\n");
    if ((*at)[length] != end || length < least || length >= room)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)(*at)[i] < ' ' || (*at)[i] == 0x7f)
            return false;
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length + 1;
    return true;
}

static bool parse_line(const char *at, struct pdk__lease_record *record) {
    record->state = at[0];
    if ((at[0] != 'H' && at[0] != 'N') || at[1] != ' ')
        return false;
    at += 2;
    if (record->state == 'N')
        return take_number(&at, '\n', INT64_MAX, &record->token);
    return take_number(&at, ' ', INT64_MAX, &record->token) &&
           take_number(&at, ' ', PDK__JOB_LONGEST, &record->duration) &&
           take_text(&at, ' ', PDK__LEASE_LOCK_DIGEST - 1, sizeof record->digest, record->digest) &&
           strspn(record->digest, "0123456789abcdef") == PDK__LEASE_LOCK_DIGEST - 1 &&
           take_text(&at, '\n', 1, sizeof record->who, record->who);
}

enum pdk__record_kind pdk__lease_record_parse(const char *data, size_t size, struct pdk__lease_record *record) {
    char text[PDK__LEASE_LOCK_SIZE] = "", again[PDK__LEASE_LOCK_SIZE];
    memset(record, 0, sizeof *record);
    if (size == 0)
        return PDK__RECORD_FINE;
    enum pdk__record_kind kind = pdk__record_kind_of(data, size, family);
    if (kind != PDK__RECORD_FINE)
        return kind;
    if (size >= sizeof text)
        return PDK__RECORD_FOREIGN;
    memcpy(text, data, size); /* the rest of it is zero */
    /* It must be as this library writes it: no number has more digits than it needs, and nothing follows. */
    if (parse_line(text + sizeof head - 1, record) && pdk__lease_record_write(record, again) == size)
        return PDK__RECORD_FINE;
    memset(record, 0, sizeof *record);
    return PDK__RECORD_FOREIGN;
}

enum pdk__lease_verdict pdk__lease_judge(const struct pdk__lease_record *record, int64_t written, int64_t now,
                                         const struct pdk__lease_record *mine) {
    if (record->token > mine->token || (record->token == mine->token && record->state == 'N'))
        return PDK__LEASE_OVERTAKEN;
    if (record->token == mine->token)
        return PDK__LEASE_OURS;
    bool stands = record->state == 'H' && now - written < record->duration;
    return stands && strcmp(record->digest, mine->digest) != 0 ? PDK__LEASE_STANDS : PDK__LEASE_TAKE;
}
