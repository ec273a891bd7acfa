#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

/* The text goes where pdk_last_error of this process reads it. The fence's library has these functions as well: where a
 * program loads both libraries, one of the two speaks for both. */
pdk_status pdk__fail(pdk_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf((char *)pdk_last_error(), PDK__TEXT_SIZE, format, arguments);
    va_end(arguments);
    return status;
}
