/* See played.h. */
#include "played.h"

#include <check.h>
#include <glib.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"

GString *wrong;

/* A call that was to be refused was not. What it was given may be gone, so nothing else is played. */
static bool harmed;

void played_begin(void) {
    wrong = g_string_new(NULL);
    harmed = false;
}

bool promises(const struct row *row, pdk_status status) { return row->promised >> status & 1; }

void complain(const struct row *row, const char *when, const char *what) {
    g_string_append_printf(wrong, "\n%s, %s: %s (\"%s\")", row->name, when, what, pdk_last_error());
}

bool begin(const struct row *row, union value *values) {
    if (harmed)
        return false;
    const struct parameter *missing = world_arguments(row, values);
    if (missing)
        g_string_append_printf(wrong, "\n%s: world.c has no %s %s", row->name, missing->type, missing->name);
    pdk__fail(PDK_OK, "%s", "");
    return !missing;
}

/* An argument is named first, or right behind the call. Of other statuses the words stand behind the call. */
static bool says(const struct row *row, pdk_status status, const char *words) {
    const char *text = pdk_last_error(), *rest = g_str_has_prefix(text, row->name) ? text + strlen(row->name) : text;
    if (status == PDK_INVALID)
        return g_str_has_prefix(rest + (rest == text ? 0 : strlen(": ")), words);
    return rest != text && strstr(rest, words);
}

void assert_refused(const struct row *row, const union value *values, pdk_status wanted, const char *when,
                    const char *words) {
    static unsigned char before[sizeof world_scratch];
    memcpy(before, world_scratch, sizeof before);
    const pdk_status got = (pdk_status)row->call(values);
    harmed = got == PDK_OK;
    if (got != wanted)
        complain(row, when, pdk_status_name(got));
    else if (!says(row, wanted, words))
        complain(row, when, "the text does not say so");
    if (memcmp(before, world_scratch, sizeof before) != 0)
        complain(row, when, "an output was touched");
}

void assert_nothing(const struct row *row, int64_t got, const char *when, const char *words) {
    const char *text = row->returns == TEXT ? (const char *)(intptr_t)got : NULL;
    if (row->returns == TEXT ? !text || *text : row->returns == VALUE && got != row->nothing)
        complain(row, when, "another value");
    if (row->tells && !strstr(pdk_last_error(), words))
        complain(row, when, "the text does not say so");
}

void struct_fill(const struct parameter *p, const void *good, unsigned char *bytes, size_t size) {
    g_autofree char *type = g_strndup(p->type + strlen("const "), strlen(p->type) - strlen("const ") - strlen(" *"));
    g_autofree char *name = g_strconcat(type, "_init", NULL);
    if (good) {
        memset(bytes, 0, size);
        memcpy(bytes, good, MIN(size, p->size));
    } else {
        row_of(name)->call((union value[]){{.pointer = bytes}, {.number = (int64_t)size}});
    }
    memcpy(bytes, &size, sizeof size);
}

/* Larger than any that the library knows, and all beyond that is zero. */
static void grow(const struct parameter *p, union value *value) {
    static _Alignas(max_align_t) unsigned char bytes[2048];
    struct_fill(p, value->pointer, bytes, p->size + sizeof(size_t));
    value->pointer = bytes;
}

char *path_of(size_t length) {
    static char path[1024];
    g_assert(length < sizeof path);
    memset(path, 'p', length);
    for (size_t i = 0; i < length; i += 100)
        path[i] = '/';
    path[length] = '\0';
    return path;
}

/* Of one parameter, if it has so many ways; else *way is less by those that it has. */
static bool vary_one(const struct parameter *p, size_t *way, union value *value) {
    if (p->kind != NUMBER && p->may_be_null && --*way == 0) {
        if (p->kind == POINTER)
            value->pointer = NULL;
        else
            value->function = NULL;
        return true;
    }
    if (p->size > 0 && g_str_has_prefix(p->type, "const ") && --*way == 0) {
        grow(p, value);
        return true;
    }
    if (p->longest > 0 && --*way == 0) {
        value->pointer = path_of(p->longest);
        return true;
    }
    if (p->is_time && --*way == 0) {
        value->number = 0;
        return true;
    }
    if (g_str_equal(p->name, "timeout_ms") && --*way == 0) {
        value->number = PDK_FOREVER;
        return true;
    }
    return false;
}

bool vary(const struct row *row, size_t way, union value *values) {
    if (!begin(row, values))
        return false;
    bool varied = way == 0;
    for (size_t at = 0; at < row->count && !varied; at++)
        varied = vary_one(&row->parameters[at], &way, &values[at]);
    return varied;
}

const struct row *row_of(const char *name) {
    for (const struct row *row = rows; row < rows + rows_count; row++)
        if (g_str_equal(row->name, name))
            return row;
    g_error("no row for %s", name);
}

void assert_none_wrong(void) {
    if (world_called() > 0)
        g_string_append(wrong, "\na callback of a call that was refused was called");
    ck_assert_msg(wrong->len == 0, "%.4000s", wrong->str);
    g_string_free(wrong, TRUE);
}
