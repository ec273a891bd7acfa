/* The fake ZooKeeper's names: numbers in the state, texts on the wire. */
#include "fake_zk.h"

#include <assert.h>
#include <string.h>

void ts_fake_names_init(struct ts_fake_names *names, const char *directory) {
    memset(names, 0, sizeof *names);
    assert(strlen(directory) < sizeof names->directory);
    memcpy(names->directory, directory, strlen(directory) + 1);
    for (const char *c = directory; *c; c++)
        names->levels += *c == '/';
}

static int32_t intern(struct ts_fake_names *names, const char *text, size_t length) {
    for (int32_t i = 0; i < names->count; i++)
        if (strncmp(names->mark[i], text, length) == 0 && names->mark[i][length] == '\0')
            return i + 1;
    assert(names->count < TS_FAKE_MARKS && length + 12 < TS_FAKE_TEXT);
    memcpy(names->mark[names->count], text, length);
    names->mark[names->count][length] = '\0';
    return ++names->count;
}

int32_t ts_fake_mark(struct ts_fake_names *names, const char *text) { return intern(names, text, strlen(text)); }

bool ts_fake_name_of(struct ts_fake_names *names, const char *text, struct ts_fake_name *name) {
    size_t length = strlen(text);
    if (length < 11)
        return false;
    size_t digits = text[length - 10] == '-' ? 9 : 10; /* "%010d" counts the minus, but for the very low ones */
    int64_t value = 0;
    for (size_t i = length - digits; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    length -= digits;
    /* "lock--2147483648": of a mark that ends in two dashes, the second one belongs to the sequence. */
    if (length >= 2 && text[length - 1] == '-' && (text[length - 2] == '-' || text[length - 2] == '_')) {
        value = -value;
        length--;
    } else if (digits == 9) {
        return false;
    }
    *name = (struct ts_fake_name){intern(names, text, length), (int32_t)value};
    return true;
}

void ts_fake_name_text(const struct ts_fake_names *names, struct ts_fake_name name, char *text) {
    const char *mark = names->mark[name.mark - 1];
    size_t n = strlen(mark);
    memcpy(text, mark, n);
    uint32_t value = (uint32_t)name.sequence;
    if (name.sequence < 0) {
        text[n++] = '-';
        value = 0 - value;
    }
    size_t digits = name.sequence < 0 && value < 1000000000 ? 9 : 10;
    text[n + digits] = '\0';
    for (size_t i = digits; i-- > 0; value /= 10)
        text[n + i] = (char)('0' + value % 10);
}

bool ts_fake_name_of_path(struct ts_fake_names *names, const char *path, struct ts_fake_name *name, int32_t *level) {
    size_t n = strlen(names->directory);
    *name = (struct ts_fake_name){0, 0};
    *level = names->levels;
    if (strncmp(path, names->directory, n) == 0 && path[n] == '/')
        return ts_fake_name_of(names, path + n + 1, name);
    size_t length = strlen(path);
    *level = 0;
    for (const char *c = path; *c; c++)
        *level += *c == '/';
    return strncmp(path, names->directory, length) == 0 && strchr("/", names->directory[length]) != NULL;
}

bool ts_fake_name_equal(struct ts_fake_name a, struct ts_fake_name b) {
    return a.mark == b.mark && a.sequence == b.sequence;
}
