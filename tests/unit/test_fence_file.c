/* The fence in a file: shared by handles, threads and processes; whatever a crash leaves, and what no crash leaves. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <paddock/fence.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel.h"
#include "fence/fence.h"
#include "ts_check.h"
#include "ts_fork.h"

static char *folder, *path;
static pdk_fence *fence;

static void set_up(void) {
    folder = g_dir_make_tmp("paddock-test-XXXXXX", NULL);
    path = g_build_filename(folder, "mark", NULL);
    ck_assert_int_eq(pdk_fence_open(path, PDK_FENCE_CREATE, &fence), PDK_OK);
}

static void tear_down(void) {
    char *data = g_build_filename(folder, "data", NULL), *made = g_strconcat(path, "2", NULL);
    pdk_fence_close(fence);
    g_unlink(path);
    g_unlink(made);
    g_unlink(data);
    g_free(made);
    ck_assert_int_eq(g_rmdir(folder), 0); /* nothing is left over */
    g_free(data);
    g_free(path);
    g_free(folder);
}

static void mark_is(pdk_fence *of, int64_t token, uint32_t handover) {
    int64_t t = -1;
    uint32_t h = 77;
    ck_assert_int_eq(pdk_fence_mark(of, &t, &h), PDK_OK);
    ck_assert_int_eq(t, token);
    ck_assert_uint_eq(h, handover);
}

static pdk_status open_now(pdk_fence **other) { return pdk_fence_open(path, PDK_FENCE_EXISTING, other); }

static void refused(const char *why) {
    pdk_fence *other;
    ck_assert_int_eq(open_now(&other), PDK_DAMAGED);
    ck_assert_msg(strstr(pdk_last_error(), why) != NULL, "%s", pdk_last_error());
    ck_assert_int_eq(pdk_fence_open(path, PDK_FENCE_CREATE, &other), PDK_DAMAGED);
}

START_TEST(handles_share_the_mark) {
    pdk_fence *other;
    mark_is(fence, 0, 0);
    ck_assert_int_eq(open_now(&other), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 1), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(other, 33, 0), PDK_STALE);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_fence_admit: token 33, hand-over 0 is older than token 33"));
    ck_assert_int_eq(pdk_fence_advance(other, 34, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 33, 1), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit_shared(fence, 36, 0), PDK_OK);
    mark_is(other, 36, 0);
    ck_assert_int_eq(pdk_fence_admit_shared(other, 35, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit_shared(other, 33, 0), PDK_STALE);
    ck_assert_int_eq(pdk_fence_admit(other, 35, 0), PDK_STALE);
    pdk_fence_close(other);
    ck_assert_int_eq(open_now(&other), PDK_OK);
    mark_is(other, 36, 0);
    ck_assert_int_eq(pdk_fence_mark(other, NULL, NULL), PDK_OK);
    pdk_fence_close(other);
}
END_TEST

static void write_slot(int fd, int at, uint64_t serial) {
    struct pdk__slot slot = pdk__slot_make(&(struct pdk__mark){0}, serial);
    ck_assert(pdk__write_at(fd, &slot, sizeof slot, (int64_t)at * PDK__SLOT_STRIDE));
}

static void *open_thread(void *user) {
    pdk_fence **other = user;
    return GINT_TO_POINTER(open_now(other));
}

/* A reader that does not wait for the lock may see one slot of before several writes, and one of after them. */
START_TEST(it_is_opened_between_writes) {
    pdk_fence *other = NULL;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
    write_slot(fd, 0, 5);
    GThread *thread = g_thread_new("open", open_thread, &other);
    g_usleep(100000);
    write_slot(fd, 1, 6);
    close(fd); /* and the lock is free */
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), PDK_OK);
    pdk_fence_close(other);
}
END_TEST

START_TEST(a_missing_file_is_made_only_when_asked) {
    char *missing = g_strconcat(path, "2", NULL);
    pdk_fence *other;
    ck_assert_int_eq(pdk_fence_open(missing, PDK_FENCE_EXISTING, &other), PDK_SYSTEM);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "No such file"));
    ck_assert_int_eq(pdk_fence_open(missing, PDK_FENCE_CREATE, &other), PDK_OK);
    pdk_fence_close(other);
    g_unlink(missing);
    g_free(missing);
    char *nowhere = g_build_filename(folder, "no", "where", NULL);
    ck_assert_int_eq(pdk_fence_open(nowhere, PDK_FENCE_CREATE, &other), PDK_SYSTEM);
    g_free(nowhere);
    char *longest = g_strnfill(5000, 'x');
    ck_assert_int_eq(pdk_fence_open(longest, PDK_FENCE_CREATE, &other), PDK_INVALID);
    longest[4093] = '\0';
    ck_assert_int_eq(pdk_fence_open(longest, PDK_FENCE_CREATE, &other), PDK_SYSTEM);
    memset(longest, '/', 4080); /* long enough that there is no room for a name beside it */
    memset(longest, '.', 1);
    ck_assert_int_eq(pdk_fence_open(longest, PDK_FENCE_CREATE, &other), PDK_SYSTEM);
    g_free(longest);
}
END_TEST

START_TEST(it_lies_in_the_current_folder_too) {
    char *before = g_get_current_dir();
    pdk_fence *other;
    ck_assert_int_eq(g_chdir(folder), 0);
    pdk_status status = pdk_fence_open("mark", PDK_FENCE_EXISTING, &other);
    ck_assert_int_eq(g_chdir(before), 0);
    ck_assert_int_eq(status, PDK_OK);
    pdk_fence_close(other);
    g_free(before);
}
END_TEST

/* ---- what a crash leaves */

static gsize size_of(char **bytes) {
    gsize size;
    ck_assert(g_file_get_contents(path, bytes, &size, NULL));
    return size;
}

/* In place, so that the handle still has it. */
static void put(const char *bytes, gsize size) {
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    ck_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

/* A write was cut off behind any byte: the mark is the old one or the new one, and the next admit mends the file. */
START_TEST(a_torn_slot_is_a_crash_in_the_middle) {
    for (int round = 0; round < 4; round++) {
        char *before, *after;
        int64_t token = 10 + 2 * round;
        if (round % 2) /* the other slot */
            ck_assert_int_eq(pdk_fence_admit(fence, token - 1, 0), PDK_OK);
        ck_assert_int_eq(pdk_fence_admit(fence, token, 0), PDK_OK);
        gsize size = size_of(&before);
        ck_assert_uint_eq(size, PDK__SLOTS_SIZE);
        ck_assert_int_eq(pdk_fence_admit(fence, token, 1), PDK_OK);
        (void)size_of(&after);
        gsize first = 0, end = size;
        while (before[first] == after[first])
            first++;
        while (before[end - 1] == after[end - 1])
            end--;
        ck_assert_uint_eq(first / PDK__SLOT_STRIDE, (end - 1) / PDK__SLOT_STRIDE); /* one slot alone */
        for (gsize cut = first; cut <= end; cut++) {
            char *torn = g_memdup2(before, size);
            pdk_fence *other;
            memcpy(torn, after, first);
            memcpy(torn + first, after + first, cut - first);
            put(torn, size);
            ck_assert_int_eq(open_now(&other), PDK_OK);
            mark_is(other, token, cut == end ? 1 : 0);
            ck_assert_int_eq(pdk_fence_admit(other, token, 2), PDK_OK);
            ck_assert_int_eq(pdk_fence_admit(other, token, 3), PDK_OK);
            mark_is(other, token, 3);
            pdk_fence_close(other);
            g_free(torn);
        }
        put(after, size);
        g_free(before);
        g_free(after);
    }
}
END_TEST

START_TEST(what_no_crash_leaves_is_refused) {
    char *good, *old, *bytes;
    gsize size = size_of(&old);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(pdk_fence_admit(fence, 10 + i, 0), PDK_OK);
    (void)size_of(&good);
    put("", 0);
    refused("size");
    put(good, size - 1);
    refused("size");
    bytes = g_malloc0(size + 1);
    memcpy(bytes, good, size);
    put(bytes, size + 1);
    refused("size");
    memset(bytes, 0, size);
    put(bytes, size);
    refused("is not a fence");
    memcpy(bytes, good, size); /* both slots, and their names still there */
    bytes[20] ^= 1;
    bytes[PDK__SLOT_STRIDE + 20] ^= 1;
    put(bytes, size);
    refused("damaged in both");
    bytes[0] ^= 1;
    put(bytes, size);
    refused("damaged in both");
    memcpy(bytes, good, size); /* half of an old copy */
    memcpy(bytes, old, PDK__SLOT_STRIDE);
    put(bytes, size);
    refused("belong together");
    memcpy(bytes, old, size);
    memcpy(bytes, good, PDK__SLOT_STRIDE);
    put(bytes, size);
    refused("belong together");
    ck_assert_int_eq(pdk_fence_admit(fence, 20, 0), PDK_DAMAGED); /* nor by a handle that was open */
    ck_assert_int_eq(pdk_fence_mark(fence, NULL, NULL), PDK_DAMAGED);
    put(good, size);
    mark_is(fence, 14, 0);
    g_free(bytes);
    g_free(good);
    g_free(old);
}
END_TEST

START_TEST(a_deleted_file_is_refused) {
    ck_assert_int_eq(g_unlink(path), 0);
    ck_assert_int_eq(pdk_fence_admit(fence, 1, 0), PDK_DAMAGED);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "was deleted or replaced"));
}
END_TEST

/* The second slot cannot be written. */
START_TEST(a_failing_disk_admits_nothing) {
    struct rlimit limit, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = PDK__SLOT_STRIDE;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    pdk_status first = pdk_fence_admit(fence, 5, 0), second = pdk_fence_admit(fence, 6, 0);
    pdk_fence *other;
    char *more = g_strconcat(path, "2", NULL);
    pdk_status made = pdk_fence_open(more, PDK_FENCE_CREATE, &other);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, handler);
    ck_assert_int_eq(first, PDK_OK);
    ck_assert_int_eq(second, PDK_SYSTEM);
    ck_assert_int_eq(made, PDK_SYSTEM);
    mark_is(fence, 5, 0);
    ck_assert_int_eq(pdk_fence_admit(fence, 6, 0), PDK_OK);
    g_free(more);
}
END_TEST

START_TEST(a_lost_descriptor_is_an_error) {
    int fd = dup(fence->file->fd), null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert(fd >= 0 && null >= 0 && dup2(null, fence->file->fd) >= 0);
    ck_assert_int_eq(pdk_fence_admit(fence, 5, 0), PDK_SYSTEM); /* no lock */
    ck_assert_int_eq(pdk_fence_mark(fence, NULL, NULL), PDK_SYSTEM);
    ck_assert_int_eq(pdk_fence_write(fence, 5, 0, fd, "", 0, 0), PDK_SYSTEM);
    ck_assert(dup2(fd, fence->file->fd) >= 0);
    close(fd);
    close(null);
}
END_TEST

/* ---- processes and threads */

START_TEST(a_child_opens_the_file_anew) {
    pid_t pid = fork();
    ck_assert(pid >= 0);
    if (pid == 0) {
        pdk_fence *own;
        bool fine = pdk_fence_admit(fence, 1, 0) == PDK_FORKED && open_now(&own) == PDK_OK &&
                    pdk_fence_admit(own, 7, 0) == PDK_OK;
        ts_end_child(fine ? 0 : 1);
    }
    int status;
    ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
    ck_assert_int_eq(pdk_fence_admit(fence, 6, 0), PDK_STALE);
    mark_is(fence, 7, 0);
}
END_TEST

static gint wrong;

static gpointer admit_in_order(gpointer user) {
    pdk_fence *mine = user ? user : fence;
    int64_t seen, last = 0;
    for (int64_t token = 1; token <= 100; token++) {
        pdk_status status = pdk_fence_admit(mine, token, 0);
        if ((status != PDK_OK && status != PDK_STALE) || pdk_fence_mark(mine, &seen, NULL) != PDK_OK || seen < last ||
            seen < token)
            g_atomic_int_inc(&wrong);
        last = seen;
    }
    return NULL;
}

START_TEST(threads_and_handles_take_turns) {
    pdk_fence *other;
    ck_assert_int_eq(open_now(&other), PDK_OK);
    GThread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = g_thread_new("admit", admit_in_order, i % 2 ? other : NULL);
    for (int i = 0; i < 4; i++)
        g_thread_join(threads[i]);
    ck_assert_int_eq(wrong, 0);
    mark_is(other, 100, 0);
    pdk_fence_close(other);
}
END_TEST

/* ---- threads that are cancelled */

enum { CANCELLATIONS = 1000, PATIENCE_S = 10 };

static int data_fd;
static char data_bytes[65536];

static void do_open(void) {
    pdk_fence *other;
    if (open_now(&other) == PDK_OK)
        pdk_fence_close(other);
}
static void do_create(void) {
    pdk_fence *other;
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s2", path);
    unlink(name); /* one that a cancelled thread had made */
    if (pdk_fence_open(name, PDK_FENCE_CREATE, &other) == PDK_OK)
        pdk_fence_close(other);
}
/* Takes an answer that does not matter: the thread ends meanwhile. */
static void whatever(pdk_status status) { (void)status; }
static void do_admit(void) { whatever(pdk_fence_admit(fence, ++data_bytes[0] & 1 ? 1 : 2, 0)); }
static void do_admit_shared(void) { whatever(pdk_fence_admit_shared(fence, 3, 0)); }
static void do_advance(void) { pdk_fence_advance(fence, 4, 0); }
static void do_mark(void) { pdk_fence_mark(fence, NULL, NULL); }
static void do_write(void) { whatever(pdk_fence_write(fence, 5, 0, data_fd, data_bytes, sizeof data_bytes, 0)); }

/* What touches a file: a new one of these belongs here. */
static const struct {
    const char *name;
    void (*act)(void);
} touching[] = {
    {"open", do_open},       {"create", do_create}, {"admit", do_admit},       {"admit_shared", do_admit_shared},
    {"advance", do_advance}, {"mark", do_mark},     {"fenced_write", do_write}};

static void *act_until_cancelled(void *user) {
    void (*act)(void);
    memcpy(&act, user, sizeof act);
    for (;;) {
        act();
        pthread_testcancel(); /* between two calls, where it harms nobody */
    }
    return NULL;
}

static bool ends(pthread_t thread) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static void *take_a_turn(void *user) { return GINT_TO_POINTER(pdk_fence_mark(user, NULL, NULL)); }

/* Is the file free, for this handle and for others? */
static bool is_free(void) {
    pthread_t thread;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool free_for_others = fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0;
    close(fd);
    return free_for_others && pthread_create(&thread, NULL, take_a_turn, fence) == 0 && ends(thread);
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 512; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* A thread is cancelled at any moment of each call: it keeps neither the mutex, nor the file's lock, nor a descriptor. */
START_TEST(a_cancelled_thread_keeps_nothing) {
    const int times = CANCELLATIONS / (int)G_N_ELEMENTS(touching) + 1;
    char *data = g_build_filename(folder, "data", NULL);
    data_fd = open(data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const int before = open_descriptors();
    for (int i = 0; i < times; i++) {
        pthread_t thread;
        void (*act)(void) = touching[_i].act;
        ck_assert_int_eq(pthread_create(&thread, NULL, act_until_cancelled, (void *)&act), 0);
        g_usleep((gulong)g_random_int_range(0, 1500));
        ck_assert_int_eq(pthread_cancel(thread), 0);
        ck_assert_msg(ends(thread), "%s: the thread did not end", touching[_i].name);
        ck_assert_msg(is_free(), "%s: cancellation %d keeps the file", touching[_i].name, i + 1);
    }
    ck_assert_msg(open_descriptors() == before, "%s: %d descriptors are left", touching[_i].name,
                  open_descriptors() - before);
    close(data_fd);
    g_free(data);
}
END_TEST

/* Whoever waits for another process is cancelled there, and not only when that one has done. */
START_TEST(a_cancelled_wait_for_the_file_is_given_up) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert(fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0);
    const int before = open_descriptors();
    for (size_t i = 0; i < G_N_ELEMENTS(touching); i++) {
        pthread_t thread;
        void (*act)(void) = touching[i].act;
        if (act == do_create) /* nobody else has a file that is new */
            continue;
        ck_assert_int_eq(pthread_create(&thread, NULL, act_until_cancelled, (void *)&act), 0);
        g_usleep(20000);
        ck_assert_int_eq(pthread_cancel(thread), 0);
        ck_assert_msg(ends(thread), "%s: the thread did not end", touching[i].name);
    }
    ck_assert_int_eq(open_descriptors(), before);
    close(fd);
    ck_assert(is_free());
}
END_TEST

/* ---- a wait for the file */

static volatile sig_atomic_t signals;

static void count_signal(int number) {
    (void)number;
    signals++;
}

static void *release_later(void *fd) {
    g_usleep(300000);
    close(GPOINTER_TO_INT(fd));
    return NULL;
}

/* A call within another call of the library, as from a callback, is not cut short. And a signal ends no wait. _i: which of them. */
START_TEST(a_wait_for_the_file_goes_on) {
    const struct sigaction action = {.sa_handler = count_signal}; /* without SA_RESTART */
    const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    pthread_t thread;
    sigset_t alarm;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert(fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &alarm, NULL), 0); /* for the thread */
    ck_assert_int_eq(pthread_create(&thread, NULL, release_later, GINT_TO_POINTER(fd)), 0);
    ck_assert_int_eq(pthread_sigmask(SIG_UNBLOCK, &alarm, NULL), 0);
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    if (_i)
        ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    else
        pdk__cancel_off();
    ck_assert_int_eq(pdk_fence_admit(fence, 7, 0), PDK_OK);
    if (_i)
        ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    else
        pdk__cancel_back();
    ck_assert_int_ge(signals, _i);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    mark_is(fence, 7, 0);
}
END_TEST

/* ---- descriptors 0, 1 and 2 */

/* The words of a program whose standard error is closed are lost, and never in the fence. */
START_TEST(words_never_reach_the_file) {
    pdk_fence *other;
    char *before, *after;
    const int closed = _i + 1; /* a set of 0, 1 and 2 */
    int kept[3];
    ck_assert_int_eq(pdk_fence_admit(fence, 300, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_admit(fence, 500, 0), PDK_OK);
    gsize size = size_of(&before);
    char *made = g_strconcat(path, "2", NULL);
    for (int i = 0; i < 3; i++) {
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
        if (closed & 1 << i)
            close(i);
    }
    pdk_status opened = open_now(&other), refused_one = pdk_fence_admit(other, 400, 0);
    for (int i = 0; i < 3; i++)
        if (closed & 1 << i)
            (void)!write(i, "a token was refused: it is older than another one", 49);
    pdk_fence *new_one = NULL;
    pdk_status created = pdk_fence_open(made, PDK_FENCE_CREATE, &new_one);
    const bool above = other->file->fd > 2 && new_one->file->fd > 2;
    for (int i = 0; i < 3; i++) {
        dup2(kept[i], i);
        close(kept[i]);
    }
    ck_assert_int_eq(opened, PDK_OK);
    ck_assert_int_eq(refused_one, PDK_STALE);
    ck_assert_int_eq(created, PDK_OK);
    ck_assert(above);
    ck_assert_uint_eq(size_of(&after), size);
    ck_assert_mem_eq(after, before, size);
    ck_assert_int_eq(pdk_fence_admit(other, 400, 0), PDK_STALE);
    pdk_fence_close(other);
    pdk_fence_close(new_one);
    g_unlink(made);
    g_free(made);
    g_free(before);
    g_free(after);
}
END_TEST

/* ---- fenced writes */

START_TEST(a_fenced_write_is_of_the_holder_alone) {
    char *data = g_build_filename(folder, "data", NULL), text[4] = "";
    int fd = open(data, O_RDWR | O_CREAT | O_CLOEXEC, 0600), reader = open(data, O_RDONLY | O_CLOEXEC),
        end = open(data, O_WRONLY | O_APPEND | O_CLOEXEC);
    ck_assert(fd >= 0 && reader >= 0 && end >= 0);
    ck_assert_int_eq(pdk_fence_write(fence, 33, 0, fd, "old", 3, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_write(fence, 34, 0, fd, "new", 3, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_write(fence, 33, 0, fd, "old", 3, 0), PDK_STALE);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "pdk_fence_write: token 33"));
    ck_assert_int_eq(pread(fd, text, 3, 0), 3);
    ck_assert_str_eq(text, "new");
    ck_assert_int_eq(pdk_fence_write(fence, 34, 0, fd, NULL, 0, 0), PDK_OK);
    ck_assert_int_eq(pdk_fence_write(fence, 35, 0, fd, NULL, 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_write(fence, 35, 0, fd, "x", 1, -1), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_write(fence, 35, 0, reader, "x", 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_write(fence, 35, 0, end, "x", 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_write(fence, 35, 0, -1, "x", 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_write(NULL, 35, 0, fd, "x", 1, 0), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_write(fence, 0, 0, fd, "x", 1, 0), PDK_INVALID);
    mark_is(fence, 34, 0);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pdk_fence_write(fence, 35, 0, full, "x", 1, 0), PDK_SYSTEM);
    mark_is(fence, 35, 0);
    close(full);
    close(end);
    close(reader);
    close(fd);
    g_free(data);
}
END_TEST

START_TEST(bad_input_is_refused) {
    pdk_fence *other;
    ck_assert_int_eq(pdk_fence_open(NULL, PDK_FENCE_CREATE, &other), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_open(path, PDK_FENCE_CREATE, NULL), PDK_INVALID);
    ck_assert_int_eq(pdk_fence_open(path, (pdk_fence_open_how)2, &other), PDK_INVALID);
    mark_is(fence, 0, 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("fence_file");
    TCase *cases = tcase_create("fence_file");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, handles_share_the_mark);
    tcase_add_test(cases, it_is_opened_between_writes);
    tcase_add_test(cases, a_missing_file_is_made_only_when_asked);
    tcase_add_test(cases, it_lies_in_the_current_folder_too);
    tcase_add_test(cases, a_torn_slot_is_a_crash_in_the_middle);
    tcase_add_test(cases, what_no_crash_leaves_is_refused);
    tcase_add_test(cases, a_deleted_file_is_refused);
    tcase_add_test(cases, a_failing_disk_admits_nothing);
    tcase_add_test(cases, a_lost_descriptor_is_an_error);
    tcase_add_test(cases, a_child_opens_the_file_anew);
    tcase_add_test(cases, threads_and_handles_take_turns);
    tcase_add_loop_test(cases, a_cancelled_thread_keeps_nothing, 0, (int)G_N_ELEMENTS(touching));
    tcase_add_test(cases, a_cancelled_wait_for_the_file_is_given_up);
    tcase_add_loop_test(cases, a_wait_for_the_file_goes_on, 0, 2);
    tcase_add_loop_test(cases, words_never_reach_the_file, 0, 7);
    tcase_add_test(cases, a_fenced_write_is_of_the_holder_alone);
    tcase_add_test(cases, bad_input_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
