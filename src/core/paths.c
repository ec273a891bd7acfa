#include "core/paths.h"

#include <stdbool.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at text, 0 where there is none. Overlong forms, surrogates and characters beyond
 * U+10FFFF are not valid. Neither are characters that no terminal should get: C0, DEL and C1 controls. */
static size_t printable(const unsigned char *text) {
    unsigned char c = text[0];
    if (c < 0x20 || c == 0x7f)
        return 0;
    if (c < 0x80)
        return 1;
    size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if (c == 0xc2 && text[1] < 0xa0)
        return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0))
        return 0;
    if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] >= 0x90))
        return 0;
    return n;
}

/* Does a server take a name with this character of n bytes? It takes none for private use, none from U+FFF0 on, and
 * none above U+FFFF, since it reads UTF-16 and refuses surrogates (PathUtils.validatePath). */
static bool is_taken(const unsigned char *c, size_t n) {
    unsigned code = n == 3 ? (c[0] & 0x0fu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu) : 0;
    return n < 4 && !(code >= 0xe000 && code <= 0xf8ff) && code < 0xfff0;
}

static bool is_segment(const char *begin, size_t length, const char *word) {
    return strlen(word) == length && memcmp(begin, word, length) == 0;
}

const char *pdk__path_error(const char *path, size_t prefix) {
    if (path[0] != '/')
        return "is relative: begin with a slash";
    if (path[1] == '\0')
        return "is the root: name a node below it";
    if (prefix + strnlen(path, PDK__PATH_MAX + 1) > PDK__PATH_MAX)
        return "is longer than 512 bytes, chroot included";
    for (const char *c = path; *c;) {
        size_t n = printable((const unsigned char *)c);
        if (n == 0)
            return "contains a control character or is not UTF-8";
        if (!is_taken((const unsigned char *)c, n))
            return "contains a character that no server takes: above U+FFFF, of private use, or from U+FFF0 on";
        c += n;
    }
    for (const char *segment = path + 1;; segment++) {
        size_t length = strcspn(segment, "/");
        if (length == 0)
            return "has an empty segment: no double or trailing slash";
        if (is_segment(segment, length, ".") || is_segment(segment, length, ".."))
            return "has a relative segment, \".\" or \"..\"";
        if (prefix == 0 && segment == path + 1 && is_segment(segment, length, "zookeeper"))
            return "is reserved: ZooKeeper keeps its own nodes below /zookeeper";
        segment += length;
        if (*segment == '\0')
            return NULL;
    }
}
