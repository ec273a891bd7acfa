/* The text of this thread's last failure. */
#ifndef PDK_TEXT_H
#define PDK_TEXT_H

#include <paddock/status.h>

#define PDK__TEXT_SIZE 2048 /* two paths and more */

/* Sets the error text and returns the status. */
__attribute__((format(printf, 2, 3))) pdk_status pdk__fail(pdk_status status, const char *format, ...);

#endif
