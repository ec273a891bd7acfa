#include "lies.h"

#include <string.h>
#include <testing/wire.h>

#define HEADER "ili"
#define STAT "lllliiiliil"
#define HANGS "it reads a length that it cannot have as one: it allocates, and reads, without an end"

static const struct {
    int answer;
    const char *name, *layout, *fields;
} answers[] = {
    {LIES_HANDSHAKE, "handshake", "iilsb", "protocol timeout session password readonly"},
    {PDK__TEST_OP_CREATE2, "create2", HEADER "s" STAT,
     "xid zxid err path czxid mzxid ctime mtime version cversion aversion owner length children pzxid"},
    {PDK__TEST_OP_CREATE, "create", HEADER "s", "xid zxid err path"},
    {PDK__TEST_OP_CREATE_CONTAINER, "container", HEADER "s", "xid zxid err path"},
    {PDK__TEST_OP_EXISTS, "exists", HEADER STAT,
     "xid zxid err czxid mzxid ctime mtime version cversion aversion owner length children pzxid"},
    {PDK__TEST_OP_SET_DATA, "set", HEADER STAT,
     "xid zxid err czxid mzxid ctime mtime version cversion aversion owner length children pzxid"},
    {PDK__TEST_OP_GET_DATA, "get", HEADER "d" STAT,
     "xid zxid err data czxid mzxid ctime mtime version cversion aversion owner length children pzxid"},
    {PDK__TEST_OP_GET_CHILDREN, "list", HEADER "v", "xid zxid err names"},
    {PDK__TEST_OP_SYNC, "sync", HEADER "s", "xid zxid err path"},
    {PDK__TEST_OP_DELETE, "delete", HEADER, "xid zxid err"},
    {PDK__TEST_OP_MULTI, "multi", HEADER "ibiibi", "xid zxid err type done code type2 done2 code2"},
};

const char *lies_layout(int answer) {
    for (gsize i = 0; i < G_N_ELEMENTS(answers); i++)
        if (answers[i].answer == answer)
            return answers[i].layout;
    return "";
}

/* ---- the table */

static const char long_name[] =
    "_c_00000000-0000-8000-8000-000000000000-0000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000-lock-0000000000"; /* of more than 128 bytes */

static void add(GArray *all, const char *name, struct lie lie) {
    g_strlcpy(lie.name, name, sizeof lie.name);
    g_array_append_val(all, lie);
}

/* What the client library makes of such a field, before it calls us. */
static const char *of_library(int answer, char kind, const char *field, int64_t number) {
    if (strcmp(field, "xid") == 0 && number == -1)
        return "it reads an answer as an event, and uses its path whatever came of that";
    if (answer == PDK__TEST_OP_MULTI && (strchr(field, '2') || (strcmp(field, "done") == 0 && number == 0)))
        return "it asserts that it has asked for each part of a transaction's answer";
    if (answer == PDK__TEST_OP_CREATE2 && kind == 's' && number != 0)
        return "it frees the path of a create2 that it could not read";
    if (kind == 'd' && number > 0)
        return "it frees data that it could not read";
    if (kind == 'v' && number > 1000000)
        return HANGS;
    return NULL;
}

static void add_numbers(GArray *all, gsize of, int field, const char *field_name) {
    static const int64_t ints[] = {-1, 0, 1, INT32_MIN, INT32_MAX}, longs[] = {-1, 0, 1, INT64_MIN, INT64_MAX};
    char kind = answers[of].layout[field];
    const int64_t *values = kind == 'l' ? longs : ints;
    for (gsize i = 0; i < G_N_ELEMENTS(ints); i++) {
        g_autofree char *name = g_strdup_printf("%s.%s%s=%" G_GINT64_FORMAT, answers[of].name, field_name,
                                                strchr("sdv", kind) ? "#" : "", values[i]);
        if (kind == 'b' && values[i] != 0 && values[i] != 1)
            continue;
        add(all, name,
            (struct lie){.answer = answers[of].answer,
                         .how = LIE_NUMBER,
                         .field = field,
                         .number = values[i],
                         .lasts = answers[of].answer == LIES_HANDSHAKE && strcmp(field_name, "session") == 0,
                         .librarys = of_library(answers[of].answer, kind, field_name, values[i])});
    }
}

static void add_texts(GArray *all, gsize of, int field) {
    static const char *const texts[] = {"",
                                        "/",
                                        "x",
                                        "$x",
                                        "$/x",
                                        "$/",
                                        "/other$",
                                        "@",
                                        "@lock-0000000000",
                                        "#",
                                        "#abcdefghij",
                                        "#00000000001",
                                        "#2147483647",
                                        "#-2147483648",
                                        "#-000000001",
                                        "#-2147483649",
                                        "#000000000\x01",
                                        "#\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe",
                                        "#0000000001/x",
                                        "@..",
                                        "@."};
    for (gsize i = 0; i <= G_N_ELEMENTS(texts); i++) {
        const char *text = i < G_N_ELEMENTS(texts) ? texts[i] : NULL;
        g_autofree char *escaped = text ? g_strescape(text, NULL) : g_strdup("@(long)");
        g_autofree char *name = g_strdup_printf("%s.path=%s", answers[of].name, escaped);
        g_autofree char *whole = text ? NULL : g_strconcat("@", long_name, NULL);
        add(all, name,
            (struct lie){.answer = answers[of].answer,
                         .how = LIE_TEXT,
                         .field = field,
                         .text = text ? text : g_intern_string(whole)});
    }
}

static void add_data(GArray *all, gsize of, int field) {
    static const char *const texts[] = {"",        "x", "$x", "\x01\x02\x03", "pdk1", "-1", "99999999999999999999",
                                        "$$$$$$$$"};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *escaped = g_strescape(texts[i], NULL);
        g_autofree char *name = g_strdup_printf("%s.data=%s", answers[of].name, escaped);
        add(all, name, (struct lie){.answer = answers[of].answer, .how = LIE_TEXT, .field = field, .text = texts[i]});
    }
}

static void add_names(GArray *all, gsize of, int field) {
    static const char *const texts[] = {"",
                                        ".",
                                        "..",
                                        "a/b",
                                        "/",
                                        "$",
                                        "lock-0000000000",
                                        "-lock-2147483647",
                                        "x-lock--2147483648",
                                        "lock--999999999",
                                        "*-lock-0000000000",
                                        "*-lease-0000000000",
                                        "*-member-0000000000",
                                        "*",
                                        "delay",
                                        "\x1b[2J",
                                        "\xff\xfe-lock-0000000000",
                                        "0123456789",
                                        "_c_-lock-0000000000",
                                        "pledge-0-0000000000",
                                        long_name};
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *escaped = g_strescape(texts[i], NULL);
        g_autofree char *name = g_strdup_printf("%s.names+%.40s", answers[of].name, escaped);
        add(all, name, (struct lie){.answer = answers[of].answer, .how = LIE_NAME, .field = field, .text = texts[i]});
    }
    add(all, "list.names-null", (struct lie){.answer = answers[of].answer, .how = LIE_NAME, .field = field});
    add(all, "list.names-ours", (struct lie){.answer = answers[of].answer, .how = LIE_HIDE, .field = field});
}

static void add_codes(GArray *all, gsize of) {
    static const int codes[] = {-1,   -2,   -3,   -4,   -5,   -6,   -7,   -8,   -9,   -13,       -100,     -101, -102,
                                -103, -108, -110, -111, -112, -113, -114, -115, -116, -117,      -118,     -119, -120,
                                -121, -122, -123, -124, -125, -127, -999, 1,    7,    INT32_MIN, INT32_MAX};
    for (gsize i = 0; i < G_N_ELEMENTS(codes); i++) {
        g_autofree char *name = g_strdup_printf("%s:%d", answers[of].name, codes[i]);
        add(all, name, (struct lie){.answer = answers[of].answer, .how = LIE_CODE, .number = codes[i]});
    }
}

static const char *cut_of_library(int answer, int64_t bytes) {
    bool body = answer == PDK__TEST_OP_CREATE2 || answer == PDK__TEST_OP_GET_DATA || answer == PDK__TEST_OP_MULTI;
    if (bytes >= 0 && bytes < 16)
        return "it goes on with the header of an answer that it could not read";
    if (answer == PDK__TEST_OP_GET_CHILDREN && bytes >= 0 && bytes < 20)
        return "it takes what was on its stack for the number of names";
    if (body && bytes >= 0)
        return "it goes on with an answer that it could not read";
    return answer == PDK__TEST_OP_MULTI ? "it asserts that a transaction's answer has an end" : NULL;
}

/* Whole frames. */
static void add_frames(GArray *all, gsize of) {
    static const int cuts[] = {0, 4, 8, 15, 16, 17, 20, 24, -1, -4, -8, -16};
    int answer = answers[of].answer;
    for (gsize i = 0; i < G_N_ELEMENTS(cuts); i++) {
        g_autofree char *name = g_strdup_printf("%s cut %d", answers[of].name, cuts[i]);
        add(all, name,
            (struct lie){
                .answer = answer, .how = LIE_CUT, .number = cuts[i], .librarys = cut_of_library(answer, cuts[i])});
    }
    g_autofree char *more = g_strconcat(answers[of].name, " and more", NULL);
    g_autofree char *none = g_strconcat(answers[of].name, " withheld", NULL);
    g_autofree char *twice = g_strconcat(answers[of].name, " twice", NULL);
    g_autofree char *end = g_strconcat(answers[of].name, " and the end", NULL);
    add(all, more, (struct lie){.answer = answer, .how = LIE_MORE, .number = 100});
    add(all, none, (struct lie){.answer = answer, .how = LIE_WITHHOLD});
    add(all, end, (struct lie){.answer = answer, .how = LIE_HANG_UP});
    add(all, twice,
        (struct lie){.answer = answer, .how = LIE_TWICE, .librarys = "it asserts that each answer is to a request"});
    for (int64_t length = -1; length >= INT32_MIN; length = length == -1 ? INT32_MIN : INT64_MIN) {
        g_autofree char *name = g_strdup_printf("%s, %d bytes", answers[of].name, (int)length);
        add(all, name, (struct lie){.answer = answer, .how = LIE_LENGTH, .number = length, .librarys = HANGS});
    }
}

static void add_events(GArray *all) {
    static const int types[] = {0, 1, 2, 3, 4, -2, 99, INT32_MIN, INT32_MAX},
                     states[] = {0, 1, 2, 3, 5, 999, -112, -113, 77, INT32_MIN};
    static const char *const paths[] = {"$", "", "x", "/", "/other"};
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
        for (gsize p = 0; p < G_N_ELEMENTS(paths); p++) {
            g_autofree char *name = g_strdup_printf("event %d of %s", types[i], paths[p]);
            add(all, name,
                (struct lie){.answer = LIES_ANY, .how = LIE_EVENT, .number = types[i], .field = 3, .text = paths[p]});
        }
    for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
        g_autofree char *name = g_strdup_printf("event session is %d", states[i]);
        add(all, name,
            (struct lie){.answer = LIES_ANY, .how = LIE_EVENT, .number = -1, .field = states[i], .text = ""});
    }
    add(all, "event without a path",
        (struct lie){.answer = LIES_ANY,
                     .how = LIE_EVENT,
                     .number = 3,
                     .field = 3,
                     .librarys = "it uses an event's path whatever came of reading it"});
}

static void add_random(GArray *all) {
    for (int seed = 1; seed <= 60; seed++) {
        g_autofree char *name = g_strdup_printf("random %d", seed);
        add(all, name, (struct lie){.answer = LIES_ANY, .how = LIE_RANDOM, .number = seed});
    }
}

GArray *lies_all(void) {
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct lie));
    for (gsize of = 0; of < G_N_ELEMENTS(answers); of++) {
        g_auto(GStrv) fields = g_strsplit(answers[of].fields, " ", -1);
        for (int field = 0; answers[of].layout[field]; field++) {
            char kind = answers[of].layout[field];
            if (strcmp(fields[field], "err") != 0)
                add_numbers(all, of, field, fields[field]);
            if (kind == 's' && answers[of].answer != LIES_HANDSHAKE)
                add_texts(all, of, field);
            if (kind == 'd')
                add_data(all, of, field);
            if (kind == 'v')
                add_names(all, of, field);
        }
        if (answers[of].answer != LIES_HANDSHAKE)
            add_codes(all, of);
        add_frames(all, of);
    }
    add_events(all);
    add_random(all);
    return all;
}

/* ---- in an answer */

struct place {
    guint at, size; /* size: with the length before it */
};

static int32_t number_at(const GByteArray *bytes, guint at) {
    guint32 bits = 0;
    if (bytes->len >= at + sizeof bits)
        memcpy(&bits, bytes->data + at, sizeof bits);
    return (int32_t)GUINT32_FROM_BE(bits);
}

static guint size_at(const GByteArray *bytes, guint at, char kind) {
    if (kind == 'b')
        return 1;
    if (kind == 'i' || kind == 'l')
        return kind == 'i' ? 4 : 8;
    int32_t length = number_at(bytes, at);
    guint size = 4 + (kind == 'v' ? 0 : (guint)MAX(length, 0));
    for (int32_t i = 0; kind == 'v' && i < length && at + size + 4 <= bytes->len; i++)
        size += 4 + (guint)MAX(number_at(bytes, at + size), 0);
    return size;
}

static bool find(const GByteArray *bytes, const char *layout, int field, struct place *place) {
    *place = (struct place){0, 0};
    for (int i = 0; layout[i] && place->at + place->size <= bytes->len; i++) {
        place->at += place->size;
        place->size = size_at(bytes, place->at, layout[i]);
        if (i == field)
            return place->at + place->size <= bytes->len;
    }
    return false;
}

static void put(GByteArray *bytes, guint at, guint size, const GByteArray *with) {
    g_autofree guint8 *tail = g_memdup2(bytes->data + at + size, bytes->len - at - size);
    guint tail_size = bytes->len - at - size;
    g_byte_array_set_size(bytes, at);
    g_byte_array_append(bytes, with->data, with->len);
    g_byte_array_append(bytes, tail, tail_size);
}

static void put_number(GByteArray *bytes, const struct place *place, char kind, int64_t number) {
    g_autoptr(GByteArray) with = g_byte_array_new();
    if (kind == 'l')
        pdk__test_put_long(with, number);
    else if (kind == 'b')
        pdk__test_put_bool(with, number != 0);
    else
        pdk__test_put_int(with, (int32_t)number);
    put(bytes, place->at, with->len, with);
}

static char *expand(const char *text, const char *old, guint32 *seed) {
    const char *slash = strrchr(old, '/');
    GString *whole = g_string_new(NULL);
    gsize length = strlen(old);
    for (; *text; text++) {
        if (*text == '$')
            g_string_append(whole, old);
        else if (*text == '@')
            g_string_append_len(whole, old, slash ? slash + 1 - old : 0);
        else if (*text == '#')
            g_string_append_len(whole, old, (gssize)(length > 10 ? length - 10 : 0));
        else if (*text == '*')
            g_string_append_printf(whole, "n%u", ++*seed);
        else
            g_string_append_c(whole, *text);
    }
    return g_string_free(whole, FALSE);
}

static void put_text(GByteArray *bytes, const struct place *place, const char *text, guint32 *seed) {
    g_autofree char *old = g_strndup((const char *)bytes->data + place->at + 4, place->size - 4);
    g_autofree char *new = expand(text, old, seed);
    g_autoptr(GByteArray) with = g_byte_array_new();
    pdk__test_put_string(with, new);
    put(bytes, place->at, place->size, with);
}

static void put_name(GByteArray *bytes, const struct place *place, const char *text, guint32 *seed) {
    int32_t count = number_at(bytes, place->at);
    g_autofree char *first =
        count > 0 ? g_strndup((const char *)bytes->data + place->at + 8, (gsize)number_at(bytes, place->at + 4))
                  : g_strdup("x");
    g_autofree char *name = text ? expand(text, first, seed) : NULL;
    g_autoptr(GByteArray) with = g_byte_array_new();
    pdk__test_put_int(with, count + 1);
    pdk__test_put_string(with, name);
    put(bytes, place->at, 4, with);
}

static void hide_names(GByteArray *bytes, const struct place *place) {
    g_autoptr(GByteArray) with = g_byte_array_new();
    int32_t count = number_at(bytes, place->at), left = 0;
    pdk__test_put_int(with, 0);
    for (guint at = place->at + 4; count > 0; count--) {
        int32_t length = number_at(bytes, at);
        if (!g_strstr_len((const char *)bytes->data + at + 4, length, "-0")) {
            pdk__test_put_bytes(with, bytes->data + at + 4, length);
            left++;
        }
        at += 4 + (guint)length;
    }
    put(bytes, place->at, place->size, with);
    put_number(bytes, place, 'i', left);
}

static guint32 random_of(guint32 *seed) {
    *seed = *seed * 1103515245 + 12345;
    return *seed >> 8;
}

/* Any number, and any letter, but the lengths: the client library does not survive those. */
static bool randomise(GByteArray *bytes, const char *layout, guint32 *seed) {
    struct place place;
    int fields = (int)strlen(layout);
    for (unsigned changes = 1 + random_of(seed) % 4; changes > 0 && fields > 3; changes--) {
        int field = 3 + (int)(random_of(seed) % (unsigned)(fields - 3));
        guint head = strchr("sd", layout[field]) ? 4 : 0;
        if (layout[field] == 'b' || layout[field] == 'v' || !find(bytes, layout, field, &place) || place.size <= head)
            continue;
        guint at = place.at + head + random_of(seed) % (place.size - head);
        bytes->data[at] = (guint8)random_of(seed);
    }
    return true;
}

static bool is_field(enum lie_how how) { return how <= LIE_HIDE; }

static void tell_field(const struct lie *lie, GByteArray *answer, const struct place *place, char kind, guint32 *seed) {
    if (lie->how == LIE_NUMBER)
        put_number(answer, place, kind, lie->number);
    else if (lie->how == LIE_TEXT)
        put_text(answer, place, lie->text, seed);
    else if (lie->how == LIE_NAME)
        put_name(answer, place, lie->text, seed);
    else
        hide_names(answer, place);
}

static void tell_frame(const struct lie *lie, GByteArray *answer) {
    if (lie->how == LIE_CODE) {
        g_byte_array_set_size(answer, 16);
        put_number(answer, &(struct place){12, 4}, 'i', lie->number);
    } else if (lie->how == LIE_CUT) {
        int64_t size = lie->number < 0 ? (int64_t)answer->len + lie->number : lie->number;
        g_byte_array_set_size(answer, (guint)CLAMP(size, 0, (int64_t)answer->len));
    } else if (lie->how == LIE_MORE) {
        g_autofree guint8 *more = g_malloc0((gsize)lie->number);
        g_byte_array_append(answer, more, (guint)lie->number);
    }
}

bool lies_tell(const struct lie *lie, int type, GByteArray *answer, guint32 *seed) {
    const char *layout = lies_layout(type);
    bool whole = type == LIES_HANDSHAKE || (answer->len > 16 && number_at(answer, 12) == 0);
    struct place place;
    if (is_field(lie->how)) {
        bool there = (whole || lie->field < 3) && find(answer, layout, lie->field, &place);
        if (there)
            tell_field(lie, answer, &place, layout[lie->field], seed);
        return there;
    }
    if (lie->how == LIE_RANDOM)
        return whole && randomise(answer, layout, seed);
    if (lie->how == LIE_CUT && lie->number < 0 && (!whole || (int64_t)answer->len + lie->number < 20))
        return false; /* that would be a cut of the header, or of the first length: lies of their own */
    tell_frame(lie, answer);
    return true;
}
