/* The command line of a ZooKeeper server, made for a quick start: few threads, small heap, classes from an archive. */
#ifndef TESTING_JVM_H
#define TESTING_JVM_H

#include <stdbool.h>

/* The class path to use (g_free): `wanted`, otherwise the environment's, otherwise Debian's. Its parts are absolute
 * paths, since a server has a folder of its own. NULL, and the reason is said, when java or a jar is missing. */
char *pdk__test_jvm_class_path(const char *wanted);

/* The differences between the servers of one program. */
typedef struct {
    const char *config; /* relative to the folder where it runs */
    const char *class_path;
    const char *const *properties; /* "name=value", NULL-terminated; may be NULL */
    const char *archive;           /* the classes come from there; may be NULL */
    const char *write_archive;     /* and are written there at the end; may be NULL */
} pdk__test_jvm;

/* The arguments, NULL-terminated (g_strfreev). */
char **pdk__test_jvm_command(const pdk__test_jvm *jvm);

/* The path of the archive of classes (g_free): in the user's cache directory, named after this java and these jars. It
 * need not exist. */
char *pdk__test_jvm_archive_path(const char *class_path, bool quorum);

#endif
