#include "core/sequencer.h"
#include "core/names.h"
#include "core/paths.h"

#include <string.h>

static const char head[] = "pdk1 ";
static const char exchanged[] = "shared/";

bool pdk__number_parse(const char *digits, size_t length, uint64_t least, uint64_t most, uint64_t *value) {
    uint64_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(digits[i] - '0');
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return length > 0 && number >= least && number <= most;
}

static bool parse_number(const char *word, uint64_t least, uint64_t most, uint64_t *value) {
    return pdk__number_parse(word, strlen(word), least, most, value);
}

/* The mode of the grant. A downgraded one is "shared/<czxid>", since it stands on another node than the one that gave
 * its token. */
static bool parse_mode(const char *word, struct pdk__sequencer *out) {
    static const struct {
        const char *word;
        enum pdk__mode mode;
    } modes[] = {{"exclusive", PDK__MODE_EXCLUSIVE},
                 {"shared", PDK__MODE_SHARED},
                 {"leader", PDK__MODE_LEADER},
                 {"permit", PDK__MODE_PERMIT}};
    uint64_t czxid = 0;
    bool known = false;
    if (strncmp(word, exchanged, strlen(exchanged)) == 0) {
        known = parse_number(word + strlen(exchanged), 1, INT64_MAX, &czxid);
        out->mode = PDK__MODE_SHARED;
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(word, modes[i].word) == 0) {
            known = true;
            out->mode = modes[i].mode;
        }
    out->czxid = (int64_t)czxid;
    return known;
}

/* Is it a node below a lock's path? It may be longer than a path, by a contender's name. The text begins with a
 * slash. */
static bool is_node(char *node) {
    char *slash = strrchr(node, '/');
    struct pdk__name parsed;
    if (slash == node || strlen(slash) > PDK__NAME_SIZE || !pdk__name_parse(slash + 1, &parsed))
        return false;
    bool fine = !pdk__path_error(slash, 0);
    *slash = '\0';
    fine = fine && !pdk__path_error(node, 0);
    *slash = '/';
    return fine;
}

/* Cuts the last word off. NULL: there is only one. */
static char *cut_word(char *text) {
    char *space = strrchr(text, ' ');
    if (!space)
        return NULL;
    *space = '\0';
    return space + 1;
}

/* The node may contain spaces: it is all the text between the first field and the last three. */
bool pdk__sequencer_parse_bytes(const char *bytes, size_t size, struct pdk__sequencer *out) {
    size_t prefix = strlen(head);
    if (size > PDK__SEQUENCER_MAX || size <= prefix || memcmp(bytes, head, prefix) != 0 || bytes[prefix] != '/' ||
        memchr(bytes, '\0', size))
        return false;
    struct pdk__sequencer read;
    memcpy(read.node, bytes + prefix, size - prefix);
    read.node[size - prefix] = '\0';
    char *last = cut_word(read.node), *second = last ? cut_word(read.node) : NULL,
         *first = second ? cut_word(read.node) : NULL;
    uint64_t token, handover;
    if (!first || !parse_mode(first, &read) || !parse_number(second, 1, INT64_MAX, &token) ||
        !parse_number(last, 0, UINT32_MAX, &handover) || !is_node(read.node))
        return false;
    read.token = (int64_t)token;
    if (read.czxid == 0)
        read.czxid = read.token;
    read.handover = (uint32_t)handover;
    *out = read;
    return true;
}

bool pdk__sequencer_parse(const char *text, struct pdk__sequencer *out) {
    return text && pdk__sequencer_parse_bytes(text, strnlen(text, PDK__SEQUENCER_MAX + 1), out);
}
