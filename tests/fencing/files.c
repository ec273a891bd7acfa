/*
 * The resource that is a local file: writes an amount to three of them.
 *
 *     files FOLDER ITEM TOKEN HANDOVER AMOUNT     prints "naive written", and of the other two "written" or "refused"
 *     files --read FOLDER ITEM                    prints the three amounts
 *
 * naive: a plain write. record: pdk_fence_write. beside: a lock of the resource's own, the mark, then a plain write.
 */
#include <fcntl.h>
#include <glib.h>
#include <paddock/fence.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { WIDTH = 10 };

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "files: %s: %s\n", what, pdk_last_error());
    exit(EXIT_FAILURE);
}

static int open_data(const char *folder, const char *item, const char *kind) {
    g_autofree char *name = g_strdup_printf("%s.%s", item, kind);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        fail(path);
    return fd;
}

static pdk_fence *open_mark(const char *folder, const char *item, const char *kind) {
    g_autofree char *name = g_strdup_printf("%s.%s.mark", item, kind);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    pdk_fence *file;
    if (pdk_fence_open(path, PDK_FENCE_CREATE, &file) != PDK_OK)
        fail(path);
    return file;
}

static void tell(const char *kind, pdk_status status) {
    if (status != PDK_OK && status != PDK_STALE)
        fail(kind);
    printf("%s %s\n", kind, status == PDK_OK ? "written" : "refused");
}

static bool put(int fd, const char *amount) { return pwrite(fd, amount, WIDTH, 0) == WIDTH; }

static int read_all(const char *folder, const char *item) {
    static const char *const kinds[] = {"naive", "record", "beside"};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        char amount[WIDTH + 1] = "0";
        int fd = open_data(folder, item, kinds[i]);
        if (pread(fd, amount, WIDTH, 0) < 0)
            fail(kinds[i]);
        close(fd);
        printf("%s%s", g_strchug(amount), i + 1 < G_N_ELEMENTS(kinds) ? " " : "\n");
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--read") == 0)
        return read_all(argv[2], argv[3]);
    int64_t token;
    if (argc != 6 || pdk_token_parse(argv[3], strlen(argv[3]), &token) != PDK_OK)
        return 2;
    const char *folder = argv[1], *item = argv[2];
    uint32_t handover = (uint32_t)g_ascii_strtoull(argv[4], NULL, 10);
    g_autofree char *amount = g_strdup_printf("%*s", WIDTH, argv[5]);

    int naive = open_data(folder, item, "naive");
    if (!put(naive, amount))
        fail("naive");
    tell("naive", PDK_OK);
    close(naive);

    int record = open_data(folder, item, "record");
    pdk_fence *mark = open_mark(folder, item, "record");
    tell("record", pdk_fence_write(mark, token, handover, record, amount, WIDTH, 0));
    pdk_fence_close(mark);
    close(record);

    int beside = open_data(folder, item, "beside");
    mark = open_mark(folder, item, "beside");
    if (flock(beside, LOCK_EX) != 0)
        fail("flock");
    pdk_status status = pdk_fence_admit(mark, token, handover);
    if (status == PDK_OK && !put(beside, amount))
        fail("beside");
    tell("beside", status);
    close(beside);
    pdk_fence_close(mark);
    return EXIT_SUCCESS;
}
