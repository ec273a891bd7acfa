/* The command line of a ZooKeeper server. */
#include "jvm.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

#define VARIABLE "PADDOCK_TEST_CLASSPATH"
/* Debian's. The first one's manifest names the rest. */
#define JARS "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

static const char *const fixed_options[] = {
    "-Xmx256m", /* 3.9 collects garbage all the time with 100,000 nodes in 128 MB */
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "-Dzookeeper.forceSync=no",
    "-Dzookeeper.preAllocSize=64",
    "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.4lw.commands.whitelist=*",
    /* After a cut between servers the next election must not wait a minute. */
    "-Dzookeeper.fastleader.maxNotificationInterval=1000",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
};

/* A jar, a folder, or all jars of a folder (it ends with a star): the file that has to be there (g_free). */
static char *file_of(const char *part) {
    return g_str_has_suffix(part, "/*") ? g_strndup(part, strlen(part) - 2) : g_strdup(part);
}

static bool all_there(char **parts) {
    for (char **part = parts; *part != NULL; part++) {
        g_autofree char *file = file_of(*part);

        if (g_access(file, R_OK) != 0) {
            pdk__test_fail("%s of ZooKeeper's jars cannot be read: %s; install libzookeeper-java and libslf4j-java "
                           "(Debian), or name the jars in " VARIABLE,
                           *part, g_strerror(errno));
            return false;
        }
    }
    return true;
}

char *pdk__test_jvm_class_path(const char *wanted) {
    g_autofree char *java = g_find_program_in_path("java");
    g_auto(GStrv) parts = NULL;

    if (java == NULL) {
        pdk__test_fail(
            "there is no java in PATH; install default-jre-headless (Debian), or put the folder of java into PATH");
        return NULL;
    }
    wanted = wanted != NULL ? wanted : g_getenv(VARIABLE);
    parts = g_strsplit(wanted != NULL && *wanted != '\0' ? wanted : JARS, ":", -1);
    for (char **part = parts; *part != NULL; part++) {
        char *absolute = g_canonicalize_filename(*part, NULL);

        g_free(*part);
        *part = absolute;
    }
    return all_there(parts) ? g_strjoinv(":", parts) : NULL;
}

char **pdk__test_jvm_command(const pdk__test_jvm *jvm) {
    GPtrArray *line = g_ptr_array_new();

    g_ptr_array_add(line, g_strdup("java"));
    for (size_t i = 0; i < G_N_ELEMENTS(fixed_options); i++) {
        g_ptr_array_add(line, g_strdup(fixed_options[i]));
    }
    if (jvm->archive != NULL) {
        g_ptr_array_add(line, g_strdup_printf("-XX:SharedArchiveFile=%s", jvm->archive));
    }
    if (jvm->write_archive != NULL) {
        g_ptr_array_add(line, g_strdup_printf("-XX:ArchiveClassesAtExit=%s", jvm->write_archive));
    }
    for (const char *const *name = jvm->properties; name != NULL && *name != NULL; name++) {
        g_ptr_array_add(line, g_strdup_printf("-D%s", *name));
    }
    g_ptr_array_add(line, g_strdup("-cp"));
    g_ptr_array_add(line, g_strdup(jvm->class_path));
    g_ptr_array_add(line, g_strdup("org.apache.zookeeper.server.quorum.QuorumPeerMain"));
    g_ptr_array_add(line, g_strdup(jvm->config));
    g_ptr_array_add(line, NULL);
    return (char **)g_ptr_array_free(line, FALSE);
}

/* Appends the data by which one version of a file differs from another. */
static void describe(GString *out, const char *path) {
    char *real = realpath(path, NULL);
    GStatBuf info;

    if (real != NULL && g_stat(real, &info) == 0) {
        g_string_append_printf(out, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", real, (gint64)info.st_size,
                               (gint64)info.st_mtime);
    }
    free(real);
}

static void describe_java(GString *out) {
    g_autofree char *java = g_find_program_in_path("java");
    char *real = java == NULL ? NULL : realpath(java, NULL);
    g_autofree char *release = real == NULL ? NULL : g_build_filename(real, "..", "..", "release", NULL);
    g_autofree char *text = NULL;

    if (real != NULL) {
        describe(out, real);
        if (g_file_get_contents(release, &text, NULL, NULL)) {
            g_string_append(out, text);
        }
    }
    free(real);
}

char *pdk__test_jvm_archive_path(const char *class_path, bool quorum) {
    g_auto(GStrv) parts = g_strsplit(class_path, ":", -1);
    g_autoptr(GString) identity = g_string_new(class_path);
    g_autofree char *hash = NULL;
    g_autofree char *name = NULL;

    describe_java(identity);
    for (char **part = parts; *part != NULL; part++) {
        g_autofree char *file = file_of(*part);

        describe(identity, file);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(fixed_options); i++) {
        g_string_append(identity, fixed_options[i]);
    }
    hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, identity->str, -1);
    hash[16] = '\0';
    name = g_strdup_printf("zookeeper-%s-%s.jsa", quorum ? "quorum" : "single", hash);
    return g_build_filename(g_get_user_cache_dir(), "paddock", name, NULL);
}
