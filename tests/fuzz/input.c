/* For every target: its input, taken apart, and a way to fail. */
#include "fuzz.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t fuzz_byte(struct fuzz_in *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

uint64_t fuzz_number(struct fuzz_in *in, size_t bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)fuzz_byte(in) << (8 * i);
    return number;
}

char *fuzz_text(struct fuzz_in *in, char end) {
    size_t length = 0;
    while (length < in->left && in->at[length] != '\0' && in->at[length] != (uint8_t)end)
        length++;
    char *text = g_malloc(length + 1);
    if (length > 0)
        memcpy(text, in->at, length);
    text[length] = '\0';
    size_t eaten = length < in->left ? length + 1 : length;
    in->at += eaten;
    in->left -= eaten;
    return text;
}

void fuzz_fail(const char *file, int line, const char *condition, const char *format, ...) {
    va_list arguments;
    fprintf(stderr, "%s:%d: not so: %s\n  ", file, line, condition);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    abort();
}
