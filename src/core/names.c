#include "core/names.h"

#include <stdio.h>
#include <string.h>

/* The tokens before the sequence. Only the end of a name matters, so of two tokens that end alike, as "-lock-" and
 * "lock-", the longer one need not come first. */
static const struct {
    const char *token;
    enum pdk__kind kind;
} tokens[] = {
    {"lock-", PDK__WRITER},     {"__lock__", PDK__WRITER}, {"__WRIT__", PDK__WRITER}, {"__READ__", PDK__READER},
    {"__rlock__", PDK__READER}, {"latch-", PDK__LATCH},    {"lease-", PDK__LEASE},    {"member-", PDK__MEMBER},
};

static const char *const labels[][6] = {
    [PDK__CURATOR] = {"-lock-", "-__WRIT__", "-__READ__", "-latch-", "-lease-", "-member-"},
    [PDK__KAZOO] = {"__lock__", "__lock__", "__rlock__", "__lock__", "__lease__",
                    "__member__"}, /* kazoo has no such leases, nor members */
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Exactly n digits, of a number within 32 bits. */
static bool parse_digits(const char *digits, int n, bool negative, int32_t *sequence) {
    int64_t value = 0;
    for (int i = 0; i < n; i++) {
        if (!is_digit(digits[i]))
            return false;
        value = value * 10 + (digits[i] - '0');
    }
    if (negative)
        value = -value;
    if (value > INT32_MAX || value < INT32_MIN)
        return false;
    *sequence = (int32_t)value;
    return true;
}

static enum pdk__kind kind_before(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        size_t n = strlen(tokens[i].token);
        if (length >= n && memcmp(text + length - n, tokens[i].token, n) == 0)
            return tokens[i].kind;
    }
    return PDK__FOREIGN;
}

/* A sequence is written by "%010d": ten characters, minus included, and eleven below -999999999. A token may end in a
 * dash itself, so the longer form is tried first, and only a number behind a token counts. Another spelling of a number
 * is not a contender's: read as a very old contender it would block everybody. */
bool pdk__name_parse(const char *text, struct pdk__name *name) {
    static const struct {
        size_t length;
        bool negative;
        int32_t most;
    } forms[] = {{11, true, -1000000000}, {10, true, -1}, {10, false, INT32_MAX}};
    size_t length = strlen(text);
    *name = (struct pdk__name){PDK__FOREIGN, 0};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (length < forms[i].length)
            continue;
        const char *number = text + length - forms[i].length;
        int sign = forms[i].negative ? 1 : 0;
        int32_t sequence;
        if (sign && number[0] != '-') /* nearly always: lists are long, so this comes first */
            continue;
        enum pdk__kind kind = kind_before(text, length - forms[i].length);
        if (kind == PDK__FOREIGN ||
            !parse_digits(number + sign, (int)forms[i].length - sign, forms[i].negative, &sequence) ||
            sequence > forms[i].most)
            continue;
        *name = (struct pdk__name){kind, sequence};
        return true;
    }
    return false;
}

bool pdk__sequence_is_stuck(int32_t sequence) {
    return sequence == INT32_MAX || sequence < INT32_MIN + PDK__SEQUENCE_SPARE;
}

int32_t pdk__sequence_compare(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

bool pdk__kind_same_queue(enum pdk__kind a, enum pdk__kind b) {
    bool a_locks = a == PDK__WRITER || a == PDK__READER, b_locks = b == PDK__WRITER || b == PDK__READER;
    return a == b || (a_locks && b_locks);
}

void pdk__mark_make(enum pdk__profile profile, enum pdk__label label, const char *uuid, char mark[PDK__MARK_SIZE]) {
    const char *text = labels[profile][label];
    if (profile == PDK__CURATOR) {
        snprintf(mark, PDK__MARK_SIZE, "_c_%.36s%s", uuid, text);
        return;
    }
    size_t n = 0;
    for (const char *c = uuid; *c && n < 32; c++)
        if (*c != '-')
            mark[n++] = *c;
    memcpy(mark + n, text, strlen(text) + 1);
}

bool pdk__name_may_be_exchanged(const char *text, const struct pdk__name *name) {
    const char *label = tokens[0].token; /* a lock's, and of Curator's names alone */
    size_t length = pdk__name_mark_length(text, name), n = strlen(label);
    /* No token of a writer's is shorter than this label. */
    return name->kind == PDK__WRITER && memcmp(text + length - n, label, n) != 0;
}

size_t pdk__name_mark_length(const char *text, const struct pdk__name *name) {
    return strlen(text) - (name->sequence <= -1000000000 ? 11 : 10);
}

/* Kazoo writes no dashes. */
static bool is_dashed(const char *name) { return strncmp(name, "_c_", 3) == 0; }

bool pdk__name_has_uuid_prefix(const char *name, const char *uuid) {
    bool dashed = is_dashed(name);
    const char *c = dashed ? name + 3 : name;
    for (; *uuid; uuid++)
        if ((dashed || *uuid != '-') && *c++ != *uuid)
            return false;
    return true;
}

size_t pdk__name_uuid_length(const char *name) { return is_dashed(name) ? 3 + 36 : 32; }

size_t pdk__name_uuid_prefix_length(const char *name) { return is_dashed(name) ? 3 + 24 : 20; }

bool pdk__name_is_unique(const char *name) {
    bool dashed = is_dashed(name);
    const char *c = dashed ? name + 3 : name;
    for (int32_t digits = 0; digits < 32; c++) {
        if (dashed && *c == '-')
            continue;
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')))
            return false;
        digits++;
    }
    return true;
}

bool pdk__name_is_paddocks(const char *name) {
    if (!pdk__name_is_unique(name))
        return false;
    return is_dashed(name) ? name[3 + 8] == '-' && name[3 + 13] == '-' && name[3 + 14] == '8' : name[12] == '8';
}
