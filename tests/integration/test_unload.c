/* A program unloads the shared library right after a close: as a host of plugins does. */
#include <dlfcn.h>
#include <glib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"

enum { ROUNDS = 20 };

typedef pdk_status (*open_fn)(const char *hosts, const pdk_session_options *options, pdk_session **out);
typedef pdk_status (*close_fn)(pdk_session *session, int64_t timeout_ms);
typedef void (*unref_fn)(pdk_session *session);

static void *load(int more) {
    g_autofree char *path = g_build_filename(g_getenv("PDK_BUILD"), "libpaddock.so", NULL);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | more);
}

/* A function of the library. POSIX lets a pointer to data be one to a function. */
static void find(void *library, const char *name, void *fn) {
    void *symbol = dlsym(library, name);
    ck_assert_msg(symbol != NULL, "%s", name);
    memcpy(fn, &symbol, sizeof symbol);
}

START_TEST(a_session_in_a_library_that_is_unloaded) {
    for (int i = 0; i < ROUNDS; i++) {
        open_fn open_it;
        close_fn close_it;
        unref_fn unref_it;
        pdk_session *session = NULL;
        void *library = load(0);
        ck_assert_msg(library != NULL, "%s", dlerror());
        find(library, "pdk_session_open", &open_it);
        find(library, "pdk_session_close", &close_it);
        find(library, "pdk_session_unref", &unref_it);
        ck_assert_int_eq(open_it(ts_bench_server(), NULL, &session), PDK_OK);
        ck_assert_int_eq(close_it(session, PDK_FOREVER), PDK_OK);
        unref_it(session);
        ck_assert_int_eq(dlclose(library), 0);
    }
}
END_TEST

/* Its threads leave through its code, and forks and exits call it. */
START_TEST(the_library_stays) {
    void *library = load(0);
    ck_assert_msg(library != NULL, "%s", dlerror());
    ck_assert_int_eq(dlclose(library), 0);
    void *again = load(RTLD_NOLOAD);
    ck_assert_ptr_nonnull(again);
    dlclose(again);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("unload");
    TCase *tcase = ts_bench_case(suite, "unload");

    tcase_add_test(tcase, a_session_in_a_library_that_is_unloaded);
    tcase_add_test(tcase, the_library_stays);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
