/* Runs a fuzz target without libFuzzer: NAME [-runs=N] [-seed=N] FILE|FOLDER…
 *
 * First every input as it is, in the order of the names, then N mutations of them. The same arguments do the same every
 * time. When the target fails, its input is left in ./crash-NAME, and the command that runs it again is printed. */
#include "fuzz.h"

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

enum { INPUT_MAX = 4096 };

static struct {
    uint8_t bytes[INPUT_MAX];
    size_t size;
} now; /* what is being run */
static char crash_file[256], advice[1024];
static guint64 seed = 1;

static guint64 any(guint64 below) {
    seed = seed * G_GUINT64_CONSTANT(6364136223846793005) + G_GUINT64_CONSTANT(1442695040888963407);
    return (seed >> 33) % below;
}

/* ---- the end of a run that fails */

static void leave_input(void) {
    int file = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || write(file, now.bytes, now.size) != (ssize_t)now.size ||
        write(STDERR_FILENO, advice, strlen(advice)) < 0)
        _exit(99);
    close(file);
}

static void on_signal(int number) {
    signal(number, SIG_DFL);
    leave_input();
    raise(number);
}

static void prepare_to_fail(const char *program) {
    g_autofree char *name = g_path_get_basename(program);
    g_snprintf(crash_file, sizeof crash_file, "crash-%s", name);
    g_snprintf(advice, sizeof advice, "the input is in ./%s; run it again: %s %s\n", crash_file, program, crash_file);
    signal(SIGABRT, on_signal); /* fuzz_fail, assertions */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    __sanitizer_set_death_callback(leave_input);
#else
    signal(SIGSEGV, on_signal);
    signal(SIGFPE, on_signal);
#endif
}

/* ---- inputs */

static void run(const void *bytes, size_t size) {
    now.size = MIN(size, sizeof now.bytes);
    memmove(now.bytes, bytes, now.size);
    /* In a block of exactly its size, so that a sanitizer sees reads beyond it. */
    g_autofree uint8_t *copy = g_memdup2(now.bytes, now.size);
    LLVMFuzzerTestOneInput(copy, now.size);
}

static void add_file(GPtrArray *inputs, const char *path) {
    char *text;
    gsize size;
    GError *error = NULL;
    if (!g_file_get_contents(path, &text, &size, &error))
        g_error("%s", error->message);
    g_ptr_array_add(inputs, g_bytes_new_take(text, size));
}

static gint by_text(gconstpointer a, gconstpointer b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_path(GPtrArray *inputs, const char *path) {
    GDir *folder = g_dir_open(path, 0, NULL);
    if (!folder) {
        add_file(inputs, path);
        return;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name = g_dir_read_name(folder); name; name = g_dir_read_name(folder))
        g_ptr_array_add(names, g_build_filename(path, name, NULL));
    g_dir_close(folder);
    g_ptr_array_sort(names, by_text);
    for (guint i = 0; i < names->len; i++)
        add_file(inputs, names->pdata[i]);
    g_ptr_array_free(names, TRUE);
}

/* ---- mutations */

/* Replace so many bytes by others. */
static void replace(GByteArray *input, guint at, guint length, const void *bytes, guint size) {
    if (length > 0)
        g_byte_array_remove_range(input, at, length);
    g_autofree uint8_t *tail = g_memdup2(input->data + at, input->len - at);
    guint tail_size = input->len - at;
    g_byte_array_set_size(input, at);
    g_byte_array_append(input, bytes, size);
    g_byte_array_append(input, tail, tail_size);
}

static void mutate_once(GByteArray *input, GPtrArray *inputs) {
    guint at = (guint)any(input->len + 1), left = input->len - at;
    uint8_t byte = (uint8_t)any(256);
    gsize size;
    const uint8_t *other = g_bytes_get_data(inputs->pdata[any(inputs->len)], &size);
    switch (any(5)) {
    case 0:
        if (left > 0)
            input->data[at] ^= (uint8_t)(1 << any(8));
        break;
    case 1:
        replace(input, at, left ? 1 : 0, &byte, 1);
        break;
    case 2:
        replace(input, at, 0, &byte, 1);
        break;
    case 3:
        replace(input, at, (guint)any(MIN(left, 16) + 1), "", 0);
        break;
    default: /* a piece of another */
        if (size > 0) {
            guint from = (guint)any(size), length = (guint)any(MIN(size - from, 24) + 1);
            replace(input, at, (guint)any(MIN(left, length) + 1), other + from, length);
        }
        break;
    }
}

static void run_mutation(GPtrArray *inputs) {
    gsize size;
    const void *bytes = g_bytes_get_data(inputs->pdata[any(inputs->len)], &size);
    GByteArray *input = g_byte_array_new();
    g_byte_array_append(input, bytes, (guint)size);
    for (guint64 i = any(6) + 1; i > 0; i--)
        mutate_once(input, inputs);
    run(input->data ? (const void *)input->data : "", input->len);
    g_byte_array_free(input, TRUE);
}

int main(int argc, char **argv) {
    GPtrArray *inputs = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    guint64 runs = 0;
    for (int i = 1; i < argc; i++)
        if (g_str_has_prefix(argv[i], "-runs="))
            runs = g_ascii_strtoull(argv[i] + strlen("-runs="), NULL, 10);
        else if (g_str_has_prefix(argv[i], "-seed="))
            seed = g_ascii_strtoull(argv[i] + strlen("-seed="), NULL, 10);
        else
            add_path(inputs, argv[i]);
    if (inputs->len == 0) {
        fprintf(stderr, "usage: %s [-runs=N] [-seed=N] FILE|FOLDER…\n", argv[0]);
        return 2;
    }
    prepare_to_fail(argv[0]);
    for (guint i = 0; i < inputs->len; i++) {
        gsize size;
        const void *bytes = g_bytes_get_data(inputs->pdata[i], &size);
        run(bytes ? bytes : "", size);
    }
    for (guint64 i = 0; i < runs; i++)
        run_mutation(inputs);
    printf("%u inputs and %" G_GUINT64_FORMAT " mutations of them\n", inputs->len, runs);
    g_ptr_array_free(inputs, TRUE);
    return 0;
}
