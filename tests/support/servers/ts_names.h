/* Names that a test decides about. The C library's getaddrinfo is replaced by one that reads a file at each look-up: in the program
 * that links this, and in a command that gets it with LD_PRELOAD (the module tests/names.so of the build). A line of the file:
 *
 *     NAME ADDRESS[,ADDRESS…]       these, in another order each time
 *     NAME late=MS ADDRESS[,…]      after so many ms
 *     NAME error=CODE               EAI_AGAIN is -3, EAI_NONAME -2
 *     NAME never                    no answer, for as long as the line says so
 *
 * The file is that of the environment variable TS_NAMES. Any other name goes to the C library.
 */
#ifndef TS_NAMES_H
#define TS_NAMES_H

#include <stdbool.h>

/* The text of the file from now on. It is made in a folder of the test's own, and TS_NAMES is set. */
void ts_names_set(const char *text);
/* How many look-ups of these names have begun. */
int ts_names_asked(void);
/* Remove the file. */
void ts_names_end(void);

#endif
