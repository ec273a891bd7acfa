/* The lease arithmetic by hand. The model of the lease proves that no leader expires a session within it. */
#include "core/lease.h"
#include "ts_check.h"

#include <stdlib.h>

#define T (16000 * PDK__MS) /* margin: 1000 + 50 ms; report delay with the default tick: 17/16 (4000 + 50) ms */
#define MS(n) ((n) * PDK__MS)

static struct pdk__lease lease;

static void setup(void) {
    pdk__lease_init(&lease, 0, 1);
    pdk__lease_begin(&lease, MS(100000));
}

START_TEST(none_before_it_is_negotiated_and_confirmed) {
    ck_assert(!pdk__lease_fresh(&lease, 0));
    ck_assert(!pdk__lease_answered(&lease, MS(100100), MS(100101), true));
    ck_assert_int_eq(lease.end, 0);
    pdk__lease_negotiated(&lease, T);
    ck_assert(!pdk__lease_fresh(&lease, MS(100100)));
    ck_assert(!pdk__lease_answered(&lease, MS(100110), MS(100111), false));
    ck_assert_int_eq(lease.end, 0);
}
END_TEST

START_TEST(a_handshake_counts_for_what_is_sent_after_it) {
    pdk__lease_negotiated(&lease, T);
    pdk__lease_dialled(&lease, MS(102000), MS(102050));
    ck_assert(pdk__lease_answered(&lease, MS(102049), MS(102060), true)); /* on the connection before, perhaps */
    ck_assert_int_eq(lease.end, MS(100000) + T - MS(1050));
    ck_assert(!pdk__lease_answered(&lease, MS(102050), MS(102061), false)); /* not committed */
    ck_assert(pdk__lease_answered(&lease, MS(102051), MS(102062), true));
    ck_assert_int_eq(lease.end, MS(102000) + T - MS(1050));
    pdk__lease_dialled(&lease, MS(101000), MS(103000)); /* older than what is known */
    ck_assert_int_eq(lease.dialled, MS(102000));
    pdk__lease_begin(&lease, MS(104000)); /* it was another session's */
    pdk__lease_negotiated(&lease, T);
    ck_assert(pdk__lease_answered(&lease, MS(104001), MS(104002), true));
    ck_assert_int_eq(lease.end, MS(104000) + T - MS(1050));
}
END_TEST

START_TEST(a_late_answer_cannot_shorten_it) {
    pdk__lease_negotiated(&lease, T);
    pdk__lease_answered(&lease, MS(103000), MS(103001), false);
    pdk__lease_answered(&lease, MS(107400), MS(107401), true);
    ck_assert(pdk__lease_answered(&lease, MS(108000), MS(108001), true));
    int64_t end = lease.end;
    ck_assert_int_eq(end, MS(103000) + T - MS(1050));
    ck_assert(!pdk__lease_answered(&lease, MS(100500), MS(108002), true));
    ck_assert_int_eq(lease.end, end);
}
END_TEST

START_TEST(the_servers_tick_and_the_hops_count) {
    for (int64_t late = 0; late < 2; late++) {
        pdk__lease_init(&lease, MS(2000), 2);
        pdk__lease_begin(&lease, MS(1000));
        pdk__lease_negotiated(&lease, T);
        pdk__lease_answered(&lease, MS(3000), MS(3001), false);
        pdk__lease_answered(&lease, MS(5232 + late), MS(5234), true); /* two hops of 17/16 (1000 + 50) ms later */
        pdk__lease_answered(&lease, MS(5288), MS(5289), true);
        ck_assert_int_eq(lease.end, MS(late ? 3000 : 1000) + T - MS(1050));
    }
    ck_assert_int_eq(pdk__lease_longest(&lease), T - MS(1050) - MS(223125) / 100 - MS(53125) / 1000);
}
END_TEST

START_TEST(a_shorter_timeout_shortens_it_and_a_longer_one_does_not_lengthen_it) {
    pdk__lease_negotiated(&lease, T);
    pdk__lease_answered(&lease, MS(100010), MS(100011), true);
    pdk__lease_negotiated(&lease, 2 * T);
    ck_assert_int_eq(lease.timeout, T);
    pdk__lease_negotiated(&lease, T / 2);
    ck_assert_int_eq(lease.timeout, T / 2);
    ck_assert_int_eq(lease.end, MS(100000) + T / 2 - MS(550));
    pdk__lease_negotiated(&lease, T);
    ck_assert_int_eq(lease.end, MS(100000) + T / 2 - MS(550));
}
END_TEST

START_TEST(a_shorter_timeout_before_there_is_one) {
    pdk__lease_negotiated(&lease, T);
    pdk__lease_negotiated(&lease, T / 2);
    ck_assert_int_eq(lease.end, 0);
    ck_assert_int_eq(pdk__lease_margin(&lease), MS(550));
}
END_TEST

START_TEST(a_new_session_starts_without) {
    pdk__lease_init(&lease, MS(3000), 2);
    pdk__lease_begin(&lease, 0);
    pdk__lease_negotiated(&lease, T);
    pdk__lease_answered(&lease, MS(10), MS(11), true);
    pdk__lease_begin(&lease, MS(7));
    ck_assert_int_eq(lease.end, 0);
    ck_assert_int_eq(lease.timeout, 0);
    ck_assert_uint_eq(lease.samples, 0);
    ck_assert_int_eq(lease.tick_option, MS(3000));
    ck_assert_int_eq(lease.hops, 2);
    ck_assert_int_eq(lease.born, MS(7));
}
END_TEST

START_TEST(fresh_means_a_sixteenth_is_left) {
    pdk__lease_negotiated(&lease, T);
    pdk__lease_answered(&lease, MS(100010), MS(100011), true);
    ck_assert(pdk__lease_fresh(&lease, lease.end - T / 16 - 1));
    ck_assert(!pdk__lease_fresh(&lease, lease.end - T / 16));
    ck_assert(!pdk__lease_fresh(&lease, lease.end + 1));
}
END_TEST

START_TEST(periods) {
    pdk__lease_negotiated(&lease, T);
    ck_assert_int_eq(pdk__lease_renewal_period(&lease), T / 10);
    ck_assert_int_eq(pdk__lease_idle_period(&lease), T / 4);
    ck_assert_int_eq(pdk__lease_urgent_period(&lease), T / 16);
    lease.hops = 2; /* touches older than that would be too old */
    ck_assert_int_eq(pdk__lease_idle_period(&lease), T / 10);
    lease.end = MS(200000);
    ck_assert(pdk__lease_short(&lease, MS(200000) - T / 5 + 1));
    ck_assert(!pdk__lease_short(&lease, MS(200000) - T / 5));
    /* renewed in time it never ends: the worst end is longer than two periods and what "fresh" wants */
    ck_assert_int_gt(pdk__lease_longest(&lease), 2 * pdk__lease_renewal_period(&lease) + T / 16);
}
END_TEST

/* The least that remains, at the answers to renewals: each 80 ms after it was sent, by a thread that is 20 ms late. One in
 * five is refused. */
static int64_t least_remaining(int64_t timeout, int64_t tick, int64_t hops) {
    struct pdk__lease l;
    int64_t now = MS(1000), low = INT64_MAX;
    pdk__lease_init(&l, tick, hops);
    pdk__lease_begin(&l, now);
    pdk__lease_negotiated(&l, timeout);
    for (int i = 0; i < 300; i++) {
        int64_t sent =
            now + MS(20) + (pdk__lease_short(&l, now) ? pdk__lease_urgent_period(&l) : pdk__lease_renewal_period(&l));
        pdk__lease_answered(&l, sent, sent + MS(80), i % 5 != 0);
        now = sent + MS(80);
        if (i > 30 && l.end - now < low)
            low = l.end - now;
    }
    return low;
}

START_TEST(the_least_timeout_carries_a_lease) {
    static const int64_t ticks[] = {0, 20, 50, 100, 200, 500, 1000, 2000, 3000};
    for (int64_t hops = 1; hops <= 2; hops++)
        for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
            struct pdk__lease l;
            pdk__lease_init(&l, MS(ticks[i]), hops);
            int64_t least = pdk__lease_least_timeout(&l, MS(140));
            for (int64_t t = least; t < 2 * least; t += MS(7))
                ck_assert_msg(least_remaining(t, MS(ticks[i]), hops) > t / 16, "T %lld ms, tick %lld ms, %lld hops",
                              (long long)(t / PDK__MS), (long long)ticks[i], (long long)hops);
            if (hops == 1)
                ck_assert_int_lt(least_remaining(least / 2, MS(ticks[i]), hops), least / 32);
        }
    pdk__lease_init(&lease, 0, 1);
    ck_assert_int_eq(pdk__lease_least_timeout(&lease, MS(140)) / PDK__MS, 1993);
    pdk__lease_init(&lease, MS(200), 1);
    ck_assert_int_eq(pdk__lease_least_timeout(&lease, MS(140)) / PDK__MS, 1316);
}
END_TEST

/* More samples than there is room for: the oldest go. The lease is never longer than with all of them. */
START_TEST(old_samples_make_room) {
    const int64_t step = T / 64, margin = T / 16 + 50 * PDK__MS;
    const int64_t delay = T / 4 + T / 64 + 50 * PDK__MS;
    struct pdk__lease l;
    pdk__lease_init(&l, 0, 1);
    pdk__lease_begin(&l, 0);
    pdk__lease_negotiated(&l, T);
    for (int64_t i = 1; i <= 3 * PDK__LEASE_SAMPLES; i++) {
        pdk__lease_answered(&l, i * step, i * step, true);
        /* The write before this one, and the newest answer before the delay, not at it. */
        int64_t heard = ((i - 1) * step - delay - 1) / step * step;
        ck_assert_int_eq(l.end, (heard > 0 ? heard : 0) + T - margin);
        ck_assert_int_eq(l.samples, i < PDK__LEASE_SAMPLES ? i : PDK__LEASE_SAMPLES);
    }
}
END_TEST

/* Reports take so long that a sample is forgotten before it counts: only the birth is left. */
START_TEST(forgotten_samples_prove_nothing) {
    const int64_t step = T / 64, margin = T / 16 + 50 * PDK__MS;
    struct pdk__lease l;
    pdk__lease_init(&l, 2 * T, 2 * PDK__LEASE_SAMPLES / 64);
    pdk__lease_begin(&l, 7);
    pdk__lease_negotiated(&l, T);
    for (int64_t i = 1; i <= 6 * PDK__LEASE_SAMPLES; i++)
        pdk__lease_answered(&l, i * step, i * step, true);
    ck_assert_int_eq(l.end, 7 + T - margin);
}
END_TEST

int main(void) {
    return ts_run(
        "lease", setup, NULL, none_before_it_is_negotiated_and_confirmed, a_handshake_counts_for_what_is_sent_after_it,
        a_late_answer_cannot_shorten_it, the_servers_tick_and_the_hops_count,
        a_shorter_timeout_shortens_it_and_a_longer_one_does_not_lengthen_it, a_shorter_timeout_before_there_is_one,
        a_new_session_starts_without, fresh_means_a_sixteenth_is_left, periods, the_least_timeout_carries_a_lease,
        old_samples_make_room, forgotten_samples_prove_nothing, NULL);
}
