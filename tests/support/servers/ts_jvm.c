/* The command line of a ZooKeeper server. */
#include "ts_jvm.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

#define JAR "/usr/share/java/zookeeper.jar"
#define LOG_JAR "/usr/share/java/slf4j-simple.jar"

static const char *const fixed_options[] = {
    "-Xmx128m",
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

char **ts_jvm_command(const char *config, const char *const *properties, const char *archive,
                      const char *write_archive) {
    GPtrArray *line = g_ptr_array_new();

    g_ptr_array_add(line, g_strdup("java"));
    for (size_t i = 0; i < G_N_ELEMENTS(fixed_options); i++) {
        g_ptr_array_add(line, g_strdup(fixed_options[i]));
    }
    if (archive != NULL) {
        g_ptr_array_add(line, g_strdup_printf("-XX:SharedArchiveFile=%s", archive));
    }
    if (write_archive != NULL) {
        g_ptr_array_add(line, g_strdup_printf("-XX:ArchiveClassesAtExit=%s", write_archive));
    }
    for (; properties != NULL && *properties != NULL; properties++) {
        g_ptr_array_add(line, g_strdup_printf("-D%s", *properties));
    }
    g_ptr_array_add(line, g_strdup("-cp"));
    g_ptr_array_add(line, g_strdup(JAR ":" LOG_JAR)); /* the jar's manifest names the rest */
    g_ptr_array_add(line, g_strdup("org.apache.zookeeper.server.quorum.QuorumPeerMain"));
    g_ptr_array_add(line, g_strdup(config));
    g_ptr_array_add(line, NULL);
    return (char **)g_ptr_array_free(line, FALSE);
}

/* Appends the data by which one version of a file differs from another. */
static bool describe(GString *out, const char *path) {
    char *real = realpath(path, NULL);
    GStatBuf info;
    bool ok = real != NULL && g_stat(real, &info) == 0;

    if (ok) {
        g_string_append_printf(out, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", real, (gint64)info.st_size,
                               (gint64)info.st_mtime);
    }
    free(real);
    return ok;
}

char *ts_jvm_archive_path(bool quorum) {
    g_autofree char *java = g_find_program_in_path("java");
    g_autoptr(GString) identity = g_string_new(NULL);
    g_autofree char *hash = NULL;
    g_autofree char *name = NULL;
    g_autofree char *release = NULL;
    g_autofree char *release_text = NULL;
    char *real;

    if (java == NULL || !describe(identity, java) || !describe(identity, JAR) || !describe(identity, LOG_JAR)) {
        fprintf(stderr, "test support: needs the Debian packages zookeeper and default-jre-headless\n");
        return NULL;
    }
    real = realpath(java, NULL);
    release = g_build_filename(real, "..", "..", "release", NULL);
    free(real);
    if (g_file_get_contents(release, &release_text, NULL, NULL)) {
        g_string_append(identity, release_text);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(fixed_options); i++) {
        g_string_append(identity, fixed_options[i]);
    }
    hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, identity->str, -1);
    hash[16] = '\0';
    name = g_strdup_printf("zookeeper-%s-%s.jsa", quorum ? "quorum" : "single", hash);
    return g_build_filename(g_get_user_cache_dir(), "paddock", name, NULL);
}
