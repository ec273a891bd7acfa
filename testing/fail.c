/* The reason of the last failure of a thread, in words. */
#include "fail.h"

#include <paddock/testing.h>
#include <stdarg.h>

static _Thread_local char text[4096];

void pdk__test_fail(const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    g_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
}

const char *pdk_test_last_error(void) { return text; }
