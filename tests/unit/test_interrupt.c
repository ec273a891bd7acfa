/* An interrupt by itself: what it remembers, to which thread it belongs, and that a raise is never lost. */
#include <errno.h>
#include <glib.h>
#include <paddock/interrupt.h>
#include <string.h>

#include "base/interrupt.h"
#include "ts_check.h"
#include "ts_clock.h"

static pdk_interrupt *make(void) {
    pdk_interrupt *interrupt = NULL;
    ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
    return interrupt;
}

static gpointer attach_elsewhere(gpointer interrupt) {
    const pdk_status status = pdk_interrupt_attach(interrupt);
    pdk_interrupt_detach();
    return GINT_TO_POINTER(status);
}

static pdk_status elsewhere(pdk_interrupt *interrupt) {
    return GPOINTER_TO_INT(g_thread_join(g_thread_new("elsewhere", attach_elsewhere, interrupt)));
}

START_TEST(it_stays_raised_until_it_is_cleared) {
    pdk_interrupt *interrupt = make();
    ck_assert(!pdk_interrupt_is_raised(interrupt));
    pdk_interrupt_raise(interrupt);
    pdk_interrupt_raise(interrupt);
    ck_assert(pdk_interrupt_is_raised(interrupt));
    pdk_interrupt_clear(interrupt);
    ck_assert(!pdk_interrupt_is_raised(interrupt));
    pdk_interrupt_unref(interrupt);
}
END_TEST

START_TEST(a_thread_has_one_and_it_has_one_thread) {
    pdk_interrupt *interrupt = make(), *other = make();
    ck_assert(!pdk__interrupted());
    ck_assert_int_eq(pdk_interrupt_attach(interrupt), PDK_OK);
    ck_assert_int_eq(pdk_interrupt_attach(interrupt), PDK_INVALID);
    ck_assert_int_eq(pdk_interrupt_attach(other), PDK_INVALID);
    ck_assert_msg(strstr(pdk_last_error(), "detach") != NULL, "%s", pdk_last_error());
    ck_assert_int_eq(elsewhere(interrupt), PDK_INVALID);
    ck_assert_int_eq(elsewhere(other), PDK_OK);
    pdk_interrupt_raise(interrupt);
    ck_assert(pdk__interrupted());
    pdk_interrupt_detach();
    ck_assert(!pdk__interrupted());
    ck_assert_int_eq(elsewhere(interrupt), PDK_OK);
    pdk_interrupt_detach(); /* nothing is attached */
    pdk_interrupt_unref(interrupt);
    pdk_interrupt_unref(other);
}
END_TEST

START_TEST(the_thread_keeps_it) {
    pdk_interrupt *interrupt = make();
    ck_assert_int_eq(pdk_interrupt_attach(interrupt), PDK_OK);
    pdk_interrupt_ref(interrupt);
    pdk_interrupt_unref(interrupt);
    pdk_interrupt_unref(interrupt);
    pdk_interrupt_raise(interrupt); /* the thread's reference */
    ck_assert(pdk__interrupted());
    pdk_interrupt_detach();
}
END_TEST

START_TEST(nothing_is_allowed_where_it_can_be) {
    ck_assert_int_eq(pdk_interrupt_new(NULL), PDK_INVALID);
    ck_assert_int_eq(pdk_interrupt_attach(NULL), PDK_INVALID);
    ck_assert_ptr_null(pdk_interrupt_ref(NULL));
    pdk_interrupt_unref(NULL);
    pdk_interrupt_raise(NULL);
    pdk_interrupt_clear(NULL);
    ck_assert(!pdk_interrupt_is_raised(NULL));
}
END_TEST

START_TEST(a_raise_before_the_sleep_ends_the_sleep) {
    pdk_interrupt *interrupt = make();
    pdk_interrupt_raise(interrupt);
    pdk__interrupt_sleep(interrupt, INT64_MAX);
    const int64_t before = ts_now_ms();
    pdk__interrupt_sleep(interrupt, INT64_C(20) * 1000000); /* nothing else wakes it */
    ck_assert_int_ge(ts_now_ms() - before, 19);
    errno = EDOM;
    for (int i = 0; i < 3; i++)
        pdk__interrupt_wake(interrupt);
    ck_assert_int_eq(errno, EDOM);
    pdk_interrupt_unref(interrupt);
}
END_TEST

static gpointer on_what(gpointer ignored) {
    (void)ignored;
    return pdk_interrupt_ref(pdk__interrupt_to_sleep_on());
}

/* With a reference it outlives the thread. */
START_TEST(a_thread_without_one_sleeps_on_its_own) {
    pdk_interrupt *mine = pdk__interrupt_to_sleep_on(), *attached = make();
    ck_assert_ptr_nonnull(mine);
    ck_assert_ptr_eq(pdk__interrupt_to_sleep_on(), mine);
    ck_assert_int_eq(pdk_interrupt_attach(attached), PDK_OK);
    ck_assert_ptr_eq(pdk__interrupt_to_sleep_on(), attached);
    pdk_interrupt_detach();
    ck_assert_ptr_eq(pdk__interrupt_to_sleep_on(), mine);
    pdk_interrupt *others = g_thread_join(g_thread_new("sleeps", on_what, NULL));
    ck_assert_ptr_ne(others, mine);
    pdk__interrupt_wake(others);
    pdk__interrupt_sleep(others, INT64_MAX);
    pdk_interrupt_unref(others);
    pdk_interrupt_unref(attached);
}
END_TEST

int main(void) {
    return ts_run("interrupt", NULL, NULL, it_stays_raised_until_it_is_cleared, a_thread_has_one_and_it_has_one_thread,
                  the_thread_keeps_it, nothing_is_allowed_where_it_can_be, a_raise_before_the_sleep_ends_the_sleep,
                  a_thread_without_one_sleeps_on_its_own, NULL);
}
