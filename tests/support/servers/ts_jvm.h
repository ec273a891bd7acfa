/* The command line of a ZooKeeper server, made for a quick start: few threads, small heap, classes from an archive. */
#ifndef TS_JVM_H
#define TS_JVM_H

#include <stdbool.h>

/* The arguments, NULL-terminated (g_strfreev). `properties` ("name=value", NULL-terminated, may be NULL) go to the JVM.
 * With `archive` its classes come from there; with `write_archive` it writes them there when it ends. Both may be NULL. */
char **ts_jvm_command(const char *config, const char *const *properties, const char *archive,
                      const char *write_archive);

/* Where the archive of classes belongs (g_free): in the user's cache directory, named after this java and this
 * ZooKeeper. It need not exist. NULL when java or ZooKeeper is not installed (said on standard error). */
char *ts_jvm_archive_path(bool quorum);

#endif
