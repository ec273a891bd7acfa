/* The names of pledges: a node's is made of its UUID and its sequence number, and of nothing else; it is read as a pledge, and never as a
 * contender. Input: two names of nodes. */
#include "core/delay.h"
#include "fuzz.h"

#include <glib.h>
#include <string.h>

/* The UUID, as it stands in the name. NULL: there is none. */
static char *uuid_of(const char *node) {
    bool dashed = g_str_has_prefix(node, "_c_");
    g_auto(GStrv) parts = dashed ? g_strsplit(node + 3, "-", -1) : NULL;
    g_autofree char *digits = dashed ? g_strjoinv("", parts) : g_strdup(node);
    return strspn(digits, "0123456789abcdef") < 32 ? NULL : g_strndup(node, dashed ? 39 : 32);
}

/* NULL: it can have none. */
static char *pledge_slowly(const char *node) {
    struct pdk__name name, read;
    g_autofree char *uuid = uuid_of(node);
    if (!uuid || strlen(node) >= 64 || !pdk__name_parse(node, &name))
        return NULL;
    char *pledge = g_strdup_printf("pledge-%s-%010d", uuid, name.sequence);
    if (pdk__name_parse(pledge, &read))
        g_clear_pointer(&pledge, g_free);
    return pledge;
}

static void check_child(const char *child) {
    struct pdk__name name;
    bool wanted = g_str_has_prefix(child, "pledge-") && strlen(child) < 128 && !pdk__name_parse(child, &name);
    FUZZ_REQUIRE(pdk__is_pledge(child) == wanted, "\"%s\": %d", child, !wanted);
}

static char *check_node(const char *node) {
    char pledge[PDK__NAME_SIZE];
    char *wanted = pledge_slowly(node);
    memset(pledge, 'x', sizeof pledge);
    bool made = pdk__pledge_name(node, pledge);
    FUZZ_REQUIRE(made == (wanted != NULL), "\"%s\": %d", node, made);
    if (made) {
        FUZZ_REQUIRE(memchr(pledge, '\0', sizeof pledge), "the pledge of \"%s\" does not fit", node);
        FUZZ_REQUIRE(strcmp(pledge, wanted) == 0, "\"%s\": \"%s\", not \"%s\"", node, pledge, wanted);
        FUZZ_REQUIRE(pdk__is_pledge(pledge), "\"%s\"", pledge);
    }
    return wanted;
}

/* Two nodes have one pledge exactly when UUID and number are the same. */
static void check_both(const char *a, const char *b, const char *pledge_a, const char *pledge_b) {
    struct pdk__name name_a, name_b;
    g_autofree char *uuid_a = uuid_of(a), *uuid_b = uuid_of(b);
    pdk__name_parse(a, &name_a);
    pdk__name_parse(b, &name_b);
    bool same = strcmp(uuid_a, uuid_b) == 0 && name_a.sequence == name_b.sequence;
    FUZZ_REQUIRE((strcmp(pledge_a, pledge_b) == 0) == same, "\"%s\" and \"%s\"", a, b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    g_autofree char *a = fuzz_text(&in, '\n'), *b = fuzz_text(&in, '\0');
    g_autofree char *pledge_a = check_node(a), *pledge_b = check_node(b);
    check_child(a);
    check_child(b);
    if (pledge_a && pledge_b)
        check_both(a, b, pledge_a, pledge_b);
    return 0;
}
