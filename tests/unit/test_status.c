/* Statuses in words, the predicates, and the error text of a thread. */
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>

#include "base/text.h"
#include "ts_check.h"

static const pdk_status all[] = {
#define VALUE(name, value, text) PDK_##name,
    PDK_STATUS_MAP(VALUE)
#undef VALUE
};

/* The values are an ABI: spelled out here a second time, so that a renumbering is noticed. */
START_TEST(the_values_never_change) {
    ck_assert_int_eq(PDK_OK, 0);
    ck_assert_int_eq(PDK_TIMEOUT, 1);
    ck_assert_int_eq(PDK_BUSY, 2);
    ck_assert_int_eq(PDK_CANCELED, 3);
    ck_assert_int_eq(PDK_LOST, 4);
    ck_assert_int_eq(PDK_NOT_HELD, 5);
    ck_assert_int_eq(PDK_DEADLOCK, 6);
    ck_assert_int_eq(PDK_WRONG_THREAD, 7);
    ck_assert_int_eq(PDK_UNAVAILABLE, 8);
    ck_assert_int_eq(PDK_RESOLVE, 9);
    ck_assert_int_eq(PDK_AUTH, 10);
    ck_assert_int_eq(PDK_NO_PERMISSION, 11);
    ck_assert_int_eq(PDK_INVALID, 12);
    ck_assert_int_eq(PDK_UNSUPPORTED, 13);
    ck_assert_int_eq(PDK_LIMIT, 14);
    ck_assert_int_eq(PDK_EXHAUSTED, 15);
    ck_assert_int_eq(PDK_CLOSED, 16);
    ck_assert_int_eq(PDK_FORKED, 17);
    ck_assert_int_eq(PDK_SYSTEM, 18);
    ck_assert_int_eq(PDK_UPGRADE, 19);
    ck_assert_int_eq(PDK_MISMATCH, 20);
    ck_assert_int_eq(PDK_STALE, 21);
    ck_assert_int_eq(PDK_DAMAGED, 22);
    ck_assert_int_eq(PDK_REWOUND, 23);
    ck_assert_int_eq(PDK_ABSENT, 24);
    ck_assert_int_eq(PDK_EXISTS, 25);
    ck_assert_int_eq(PDK_REPLACED, 26);
    ck_assert_int_eq(PDK_GONE, 27);
    ck_assert_int_eq(PDK_SKIPPED, 28);
    ck_assert_int_eq(PDK_UNPROTECTED, 29);
    ck_assert_uint_eq(G_N_ELEMENTS(all), 30);
}
END_TEST

START_TEST(every_status_has_a_name_and_a_text_of_its_own) {
    ck_assert_str_eq(pdk_status_name(PDK_BUSY), "PDK_BUSY");
    ck_assert_str_eq(pdk_status_text(PDK_BUSY), "it is not free now");
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        ck_assert_msg(g_str_has_prefix(pdk_status_name(all[i]), "PDK_"), "%d: %s", all[i], pdk_status_name(all[i]));
        ck_assert_str_ne(pdk_status_text(all[i]), "");
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(pdk_status_name(all[i]), pdk_status_name(all[j]));
            ck_assert_str_ne(pdk_status_text(all[i]), pdk_status_text(all[j]));
        }
    }
}
END_TEST

START_TEST(values_that_do_not_exist_have_words_too) {
    static const int strange[] = {-1, G_N_ELEMENTS(all), 1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < G_N_ELEMENTS(strange); i++) {
        pdk_status status;
        memcpy(&status, &strange[i], sizeof status);
        ck_assert_str_ne(pdk_status_name(status), "");
        ck_assert_str_ne(pdk_status_text(status), "");
        ck_assert(!pdk_status_is_retriable(status) && !pdk_status_is_lost(status) && !pdk_status_is_usage(status));
    }
}
END_TEST

static bool among(pdk_status status, const pdk_status *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i] == status)
            return true;
    return false;
}

START_TEST(the_predicates_say_what_the_header_says) {
    static const pdk_status retriable[] = {PDK_TIMEOUT, PDK_BUSY, PDK_UNAVAILABLE, PDK_RESOLVE, PDK_SYSTEM};
    static const pdk_status lost[] = {PDK_LOST, PDK_CLOSED};
    static const pdk_status usage[] = {PDK_NOT_HELD, PDK_DEADLOCK, PDK_WRONG_THREAD, PDK_INVALID,
                                       PDK_FORKED,   PDK_UPGRADE,  PDK_MISMATCH};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        const char *name = pdk_status_name(all[i]);
        ck_assert_msg(pdk_status_is_retriable(all[i]) == among(all[i], retriable, G_N_ELEMENTS(retriable)), "%s", name);
        ck_assert_msg(pdk_status_is_lost(all[i]) == among(all[i], lost, G_N_ELEMENTS(lost)), "%s", name);
        ck_assert_msg(pdk_status_is_usage(all[i]) == among(all[i], usage, G_N_ELEMENTS(usage)), "%s", name);
    }
}
END_TEST

static void *text_of_new_thread(void *unused) {
    (void)unused;
    char *before = g_strdup(pdk_last_error());
    pdk__fail(PDK_BUSY, "the other thread's");
    return before;
}

START_TEST(the_error_text_is_the_threads_own) {
    ck_assert_int_eq(pdk__fail(PDK_TIMEOUT, "%s: %d", "mine", 1), PDK_TIMEOUT);
    char *before = g_thread_join(g_thread_new("other", text_of_new_thread, NULL));
    ck_assert_str_eq(before, "");
    g_free(before);
    ck_assert_str_eq(pdk_last_error(), "mine: 1");
}
END_TEST

START_TEST(a_success_does_not_clear_the_error_text) {
    pdk_session *none = NULL;
    ck_assert_int_eq(pdk_session_open(NULL, NULL, &none), PDK_INVALID);
    char *text = g_strdup(pdk_last_error());
    ck_assert_str_ne(text, "");
    pdk_session_unref(NULL);
    ck_assert_uint_eq(pdk_contenders_count(NULL), 0);
    ck_assert_str_eq(pdk_last_error(), text);
    g_free(text);
}
END_TEST

START_TEST(a_long_error_text_is_cut_not_overrun) {
    char *huge = g_strnfill(5000, 'x');
    pdk__fail(PDK_INVALID, "%s", huge);
    ck_assert_uint_gt(strlen(pdk_last_error()), 100);
    ck_assert_uint_lt(strlen(pdk_last_error()), 5000);
    g_free(huge);
}
END_TEST

START_TEST(reasons_have_names) {
    ck_assert_str_eq(pdk_reason_name(PDK_REASON_NONE), "NONE");
    ck_assert_str_eq(pdk_reason_name(PDK_REASON_EXPIRED), "EXPIRED");
    ck_assert_str_eq(pdk_reason_name(PDK_REASON_LEASE), "LEASE");
    ck_assert_str_eq(pdk_reason_name(PDK_REASON_NODE_GONE), "NODE_GONE");
    ck_assert_str_eq(pdk_reason_name(PDK_REASON_CLOSED), "CLOSED");
    ck_assert_str_eq(pdk_reason_name(PDK_REASON_OVERDUE), "OVERDUE");
    ck_assert_str_ne(pdk_reason_name((pdk_reason)77), "");
}
END_TEST

START_TEST(the_loaded_version_is_that_of_the_header) {
    char *expected = g_strdup_printf("%d.%d.%d", PDK_VERSION_MAJOR, PDK_VERSION_MINOR, PDK_VERSION_PATCH);
    ck_assert_str_eq(pdk_version(), expected);
    g_free(expected);
}
END_TEST

int main(void) {
    return ts_run("status", NULL, NULL, the_values_never_change, every_status_has_a_name_and_a_text_of_its_own,
                  values_that_do_not_exist_have_words_too, the_predicates_say_what_the_header_says,
                  the_error_text_is_the_threads_own, a_success_does_not_clear_the_error_text,
                  a_long_error_text_is_cut_not_overrun, reasons_have_names, the_loaded_version_is_that_of_the_header,
                  NULL);
}
