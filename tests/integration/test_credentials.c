/* Secrets out of files, and TLS where the client library has it: this program stands in for one that has. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "refused.h"
#include "session/credentials.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

#define USER "app:canary-3f9c"
/* The tail is longer than what registers have, which the loader of functions spills onto stacks. */
enum { SESSION_MS = 3000, SECRET_BYTES = 1000, TAIL_BYTES = 128 };

/* The TLS string. This program has it masked, so that no other copy is its own. */
static char masked[SECRET_BYTES];
static const char mask = 0x55;
static atomic_int as_given;

static char letter(size_t i) { return (char)(masked[i] ^ mask); }

static bool is_tail(const char *at) {
    size_t i = 0;
    while (i < TAIL_BYTES && at[i] == letter(SECRET_BYTES - TAIL_BYTES + i))
        i++;
    return i == TAIL_BYTES;
}

/* As in a build with OpenSSL: a call with a string and without a callback for its log. There is no TLS behind it. */
ZOOAPI zhandle_t *zookeeper_init_ssl(const char *host, const char *certificates, watcher_fn fn, int timeout_ms,
                                     const clientid_t *id, void *context, int flags);
zhandle_t *zookeeper_init_ssl(const char *host, const char *certificates, watcher_fn fn, int timeout_ms,
                              const clientid_t *id, void *context, int flags) {
    bool same = strlen(certificates) == SECRET_BYTES;
    for (size_t i = 0; same && i < SECRET_BYTES; i++)
        same = certificates[i] == letter(i);
    atomic_fetch_add(&as_given, same);
    return zookeeper_init(host, fn, timeout_ms, id, context, flags);
}

/* What the thread's next reads do. 0: as ever. */
static _Thread_local struct {
    bool one_by_one;
    int error;
} reads;

/* The executable's read replaces the C library's. */
__attribute__((visibility("default"))) ssize_t read(int fd, void *buffer, size_t size);
/* The name of the same in a program that is fortified. */
__attribute__((visibility("default"))) ssize_t read_checked(int fd, void *buffer, size_t size,
                                                            size_t room) __asm__("__read_chk");

typedef ssize_t read_fn(int fd, void *buffer, size_t size);

ssize_t read(int fd, void *buffer, size_t size) {
    read_fn *next;
    void *symbol = dlsym(RTLD_NEXT, "read");
    memcpy(&next, &symbol, sizeof next);
    if (reads.error) {
        errno = reads.error;
        reads.error = 0;
        return -1;
    }
    return next(fd, buffer, reads.one_by_one ? MIN(size, 1) : size);
}

ssize_t read_checked(int fd, void *buffer, size_t size, size_t room) {
    ck_assert_uint_le(size, room);
    return read(fd, buffer, size);
}

static ts_tempdir *folder;

static void begin(void) { ck_assert_ptr_nonnull(folder = ts_tempdir_new()); }

static void end(void) { ts_tempdir_free(folder); }

static const char *write_file(const char *name, const char *text, size_t size) {
    char *path = g_build_filename(ts_tempdir_path(folder), name, NULL);
    ts_paddock_keep(path, g_free);
    ck_assert(g_file_set_contents(path, text, (gssize)size, NULL));
    return path;
}

static int warnings;

static void note_warning(pdk_log_level level, const char *text, void *user) {
    (void)user;
    warnings += level == PDK_LOG_WARN && strstr(text, "others may");
}

/* A file of secrets that others may read is used, and the log says so: once, and without the secret. */
START_TEST(a_file_that_others_may_read) {
    static const struct {
        mode_t mode;
        int told;
    } modes[] = {{0600, 0}, {0640, 0}, {0604, 1}, {0602, 1}, {0666, 1}};
    const char *file = write_file("seen", USER "\n", sizeof USER);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
        pdk_session *s = NULL;
        options.digest_file = file;
        options.on_log = note_warning;
        warnings = 0;
        ck_assert_int_eq(chmod(file, modes[i].mode), 0);
        ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &s), PDK_OK);
        ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
        pdk_session_unref(s);
        ck_assert_int_eq(warnings, modes[i].told);
    }
}
END_TEST

/* Of two the first is told: when it is mended, so is the other, or it is told next. */
START_TEST(two_files_that_others_may_read) {
    struct pdk__credentials out;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.digest_file = write_file("digest", USER "\n", sizeof USER);
    options.tls_file = write_file("tls", "a,b,c,d\n", strlen("a,b,c,d\n"));
    ck_assert(chmod(options.digest_file, 0604) == 0 && chmod(options.tls_file, 0604) == 0);
    ck_assert_int_eq(pdk__credentials_take(&options, &out), PDK_OK);
    ck_assert_ptr_nonnull(out.warning);
    ck_assert_msg(strstr(out.warning, "digest_file") && !strstr(out.warning, "tls_file"), "%s", out.warning);
    pdk__credentials_free(&out);
}
END_TEST

static const char *secret_file(void) {
    char secret[SECRET_BYTES + 1];
    for (size_t i = 0; i < SECRET_BYTES; i++)
        masked[i] = (char)("0123456789abcdef"[g_random_int_range(0, 16)] ^ mask);
    for (size_t i = 0; i < SECRET_BYTES; i++)
        secret[i] = letter(i);
    secret[SECRET_BYTES] = '\n';
    const char *path = write_file("tls", secret, sizeof secret);
    explicit_bzero(secret, sizeof secret);
    return path;
}

static pdk_session *open_with(const pdk_session_options *options) {
    const ts_client *client = ts_client_open_with(ts_bench_server(), NULL, options);
    ck_assert_ptr_nonnull(client);
    return client->session;
}

static void open_refused(const pdk_session_options *options, const char *word) {
    pdk_session *out = NULL;
    refused(pdk_session_open(ts_bench_server(), options, &out), PDK_INVALID, word);
    ck_assert_ptr_null(out);
}

/* Who takes this lock is the user of the file: nobody else may read its node. */
static void is_user(const char *text, size_t size) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.digest_file = write_file("digest", text, size);
    options.access = PDK_ACCESS_CREATOR;
    pdk_session *s = open_with(&options);
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(s, ts_fresh_path(), NULL, &lock), PDK_OK);
    pdk_hold *hold = ts_bench_acquire(lock, 5000);
    char *node = ts_hold_node(hold);
    ts_observer *o = ts_observer_open(ts_bench_server());
    ck_assert_int_eq(ts_observer_get(o, node, NULL, NULL, NULL), -102);
    ck_assert_int_eq(ts_observer_auth(o, "digest", USER), 0);
    ck_assert_int_eq(ts_observer_get(o, node, NULL, NULL, NULL), 0);
    ts_observer_close(o);
    g_free(node);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
}

START_TEST(a_digest_comes_out_of_a_file) {
    is_user(USER, strlen(USER));
    is_user(USER "\n", strlen(USER) + 1);
    is_user(USER "\r\n", strlen(USER) + 2);
}
END_TEST

START_TEST(a_file_has_one_line) {
    char most[1024 + 3] = USER, more[1024 + 3];
    const struct {
        const char *text;
        size_t size;
    } wrong[] = {{"", 0},        {"\n", 1},    {"a:b\nc:d", 7}, {"a:b\rc", 5}, {"a:b\0c", 5},
                 {"a:b\n\n", 5}, {most, 1025}, {most, 1026},    {more, 1027}};
    memset(most + strlen(most), 'x', sizeof most - strlen(most));
    memcpy(more, most, 1024);
    memcpy(more + 1024, "\r\nx", 3); /* behind the longest line */
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        options.digest_file = write_file("wrong", wrong[i].text, wrong[i].size);
        open_refused(&options, "digest_file");
    }
    options.digest_file = write_file("nobody", ":b", 2);
    open_refused(&options, "digest is not");
    options.digest_file = write_file("longest", most, 1024);
    open_with(&options);
    options.digest_file = write_file("longest of all", more, 1026);
    open_with(&options);
}
END_TEST

/* As of a file system in user space. */
START_TEST(a_file_comes_in_pieces) {
    pdk_session *s = NULL;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.digest_file = write_file("pieces", USER "\r\n", strlen(USER) + 2);
    reads.one_by_one = true;
    reads.error = EINTR;
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &s), PDK_OK);
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
    options.digest_file = write_file("two lines", "a:b\nc:d", 7);
    open_refused(&options, "not one line");
    reads.one_by_one = false;
    reads.error = EIO;
    open_refused(&options, "two lines: Input/output error");
}
END_TEST

START_TEST(what_cannot_be_read_is_named) {
    const char *path = write_file("gone", "a:b", 3);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.digest_file = path;
    ck_assert_int_eq(unlink(path), 0);
    open_refused(&options, "gone: No such file");
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* without a writer it would keep the caller for ever */
    open_refused(&options, "regular file");
    options.digest_file = NULL;
    options.tls_file = path;
    open_refused(&options, "tls_file");
    options.tls = "a,b,c,d";
    open_refused(&options, "tls and tls_file");
    options.tls = options.tls_file = NULL;
    options.digest = USER;
    options.digest_file = path;
    open_refused(&options, "digest and digest_file");
}
END_TEST

static void on_log(pdk_log_level level, const char *text, void *user) {
    (void)level;
    if (strstr(text, "ZOO_"))
        atomic_fetch_add((atomic_int *)user, 1);
}

START_TEST(the_client_librarys_tls_is_used_and_its_log_is_heard) {
    static atomic_int lines;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.tls_file = secret_file();
    options.access = PDK_ACCESS_CREATOR; /* which a certificate is enough for */
    options.on_log = on_log;
    options.on_log_user = &lines;
    options.log_level = PDK_LOG_DEBUG;
    atomic_store(&as_given, 0);
    open_with(&options);
    ck_assert_int_eq(atomic_load(&as_given), 1);
    for (int64_t until = ts_now_ms() + ts_patience(10000); atomic_load(&lines) == 0 && ts_now_ms() < until;)
        g_usleep(10000);
    ck_assert_int_gt(atomic_load(&lines), 0);
}
END_TEST

/* How often the end of the secret is in this range of our memory. */
static int copies_in(int memory, guint64 from, guint64 to) {
    static char part[1 << 16];
    int found = 0;
    for (guint64 at = from; at < to; at += sizeof part - TAIL_BYTES) {
        ssize_t length = pread(memory, part, MIN(sizeof part, to - at), (off_t)at);
        const char *next = part, *end = part + MAX(length, TAIL_BYTES) - TAIL_BYTES;
        while ((next = memchr(next, letter(SECRET_BYTES - TAIL_BYTES), (size_t)(end - next))))
            found += is_tail(next++);
        memset(part, 0, sizeof part);
    }
    return found;
}

/* How often it is in all of our memory but that of a sanitizer, whose reservations are far larger. */
static int copies(void) {
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC), found = 0;
    char line[4096];
    ck_assert(maps && memory >= 0);
    while (fgets(line, sizeof line, maps)) {
        char *end;
        guint64 from = g_ascii_strtoull(line, &end, 16), to = g_ascii_strtoull(end + 1, &end, 16);
        if (g_str_has_prefix(end, " rw") && to - from < (guint64)1 << 30)
            found += copies_in(memory, from, to);
    }
    fclose(maps);
    close(memory);
    return found;
}

START_TEST(no_copy_of_the_tls_string_is_left) {
    pdk_session *s = NULL;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.tls_file = secret_file();
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &s), PDK_OK);
    ck_assert_int_gt(copies(), 0); /* which shows that they would be found */
    ck_assert_int_eq(pdk_session_close(s, 10000), PDK_OK);
    pdk_session_unref(s);
    int left = 1;
    for (int64_t until = ts_now_ms() + ts_patience(10000); left > 0 && ts_now_ms() < until; g_usleep(10000))
        left = copies(); /* the last thread of the session frees it */
    ck_assert_int_eq(left, 0);
    options.digest = "nobody"; /* refused after the TLS string was read */
    open_refused(&options, "digest");
    ck_assert_int_eq(copies(), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("credentials");
    TCase *cases = ts_bench_case(suite, "credentials");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_test(cases, a_digest_comes_out_of_a_file);
    tcase_add_test(cases, a_file_has_one_line);
    tcase_add_test(cases, a_file_comes_in_pieces);
    tcase_add_test(cases, what_cannot_be_read_is_named);
    tcase_add_test(cases, the_client_librarys_tls_is_used_and_its_log_is_heard);
    tcase_add_test(cases, no_copy_of_the_tls_string_is_left);
    tcase_add_test(cases, a_file_that_others_may_read);
    tcase_add_test(cases, two_files_that_others_may_read);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
