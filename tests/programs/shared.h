/* Memory that a program shares with the copies of itself that it starts: a file on tmpfs, which each of them maps. */
#ifndef SHARED_H
#define SHARED_H

#include <stddef.h>

/* Makes the file, zeroed, and maps it. Aborts when that fails. */
void *shared_create(const char *path, size_t size);
/* Maps the file that another process made. */
void *shared_open(const char *path, size_t size);
void shared_close(void *memory, size_t size);

/* The path of this program, to start it again; free with g_free. */
char *shared_program(void);

#endif
