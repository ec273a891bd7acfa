/* Names of nodes: a name is accepted exactly when it ends in a token and in a number as "%010d" prints it. Input: a
 * text, and behind it two sequences. */
#include "core/names.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

static const struct {
    const char *token;
    enum pdk__kind kind;
} endings[] = {
    {"latch-", PDK__LATCH},    {"__rlock__", PDK__READER}, {"__READ__", PDK__READER}, {"__WRIT__", PDK__WRITER},
    {"__lock__", PDK__WRITER}, {"lock-", PDK__WRITER},     {"lease-", PDK__LEASE},    {"member-", PDK__MEMBER},
};

/* The kind that other clients see in a node with each label. */
static const enum pdk__kind kinds[][6] = {
    [PDK__CURATOR] = {PDK__WRITER, PDK__WRITER, PDK__READER, PDK__LATCH, PDK__LEASE, PDK__MEMBER},
    [PDK__KAZOO] = {PDK__WRITER, PDK__WRITER, PDK__READER, PDK__WRITER, PDK__FOREIGN, PDK__FOREIGN},
};

/* Try every offset at which the number might begin: print it again, and look at the text before it. */
static struct pdk__name read_slowly(const char *text) {
    struct pdk__name found = {PDK__FOREIGN, 0};
    size_t length = strlen(text);
    for (const char *tail = text + length - MIN(length, 11); *tail; tail++) {
        gint64 value;
        if (!g_ascii_string_to_signed(tail, 10, INT32_MIN, INT32_MAX, &value, NULL))
            continue;
        g_autofree char *printed = g_strdup_printf("%010d", (int)value);
        g_autofree char *head = g_strndup(text, (gsize)(tail - text));
        for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
            if (strcmp(printed, tail) == 0 && g_str_has_suffix(head, endings[i].token)) {
                FUZZ_REQUIRE(found.kind == PDK__FOREIGN || found.sequence == value, "\"%s\" has two meanings", text);
                found = (struct pdk__name){endings[i].kind, (int32_t)value};
            }
    }
    return found;
}

static void check_parse(const char *text) {
    struct pdk__name name = {PDK__LATCH, 77}, expected = read_slowly(text);
    bool accepted = pdk__name_parse(text, &name);
    FUZZ_REQUIRE(accepted == (name.kind != PDK__FOREIGN), "\"%s\": %d, but kind %d", text, accepted, name.kind);
    FUZZ_REQUIRE(name.kind == expected.kind && name.sequence == expected.sequence, "\"%s\": %d %d, not %d %d", text,
                 name.kind, name.sequence, expected.kind, expected.sequence);
}

static void check_order(int32_t a, int32_t b) {
    int64_t apart = (int64_t)a - b; /* on a circle of 2^32, the shorter way round */
    apart -= apart > INT32_MAX ? INT64_C(1) << 32 : 0;
    apart += apart < INT32_MIN ? INT64_C(1) << 32 : 0;
    FUZZ_REQUIRE(pdk__sequence_compare(a, b) == apart, "%d and %d", a, b);
}

/* For any text as a UUID the mark fits, and a node made of it is of the label's kind. */
static void check_mark(enum pdk__profile profile, enum pdk__label label, const char *uuid, int32_t sequence) {
    char mark[PDK__MARK_SIZE];
    memset(mark, 'x', sizeof mark);
    pdk__mark_make(profile, label, uuid, mark);
    FUZZ_REQUIRE(memchr(mark, '\0', sizeof mark), "the mark of \"%s\" does not fit", uuid);
    g_autofree char *node = g_strdup_printf("%s%010d", mark, sequence);
    struct pdk__name name;
    bool counted = pdk__name_parse(node, &name), wanted = kinds[profile][label] != PDK__FOREIGN;
    FUZZ_REQUIRE(counted == wanted && name.kind == kinds[profile][label], "\"%s\": kind %d", node, name.kind);
    FUZZ_REQUIRE(!wanted || name.sequence == sequence, "\"%s\": %d", node, name.sequence);
    check_parse(node);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *text = fuzz_text(&in, '\0');
    int32_t a = (int32_t)(uint32_t)fuzz_number(&in, 4), b = (int32_t)(uint32_t)fuzz_number(&in, 4);
    check_parse(text);
    check_order(a, b);
    check_order(b, a);
    for (enum pdk__label label = PDK__LABEL_LOCK; label <= PDK__LABEL_MEMBER; label++) {
        check_mark(PDK__CURATOR, label, text, a);
        check_mark(PDK__KAZOO, label, text, b);
    }
    return 0;
}
