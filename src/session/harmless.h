/* Text that others wrote, before it reaches the program: a log line, a name. */
#ifndef PDK_SESSION_HARMLESS_H
#define PDK_SESSION_HARMLESS_H

#include <stddef.h>

/* The text as UTF-8 that acts on no terminal and breaks no line: a control or format character, as one that turns the
 * direction of the text, is \u{HHHH}, and a byte that is no UTF-8 is \xHH. It ends at a NUL. g_free it. */
char *pdk__harmless(const char *text, size_t size);

#endif
