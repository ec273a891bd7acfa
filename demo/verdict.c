/* The verdict: each line answers one question that must have come up. */
#include "verdict.h"

#include "screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool exclusion(struct results *results) {
    struct finding found;
    const int threads = grant_log_threads(&results->grant_log, "ABC");

    grant_log_check_exclusion(&results->grant_log, &found);
    if (found.problem[0] != '\0')
        return screen_verdict(false, "exclusion", "%s", found.problem);
    if (threads < 12)
        return screen_verdict(false, "exclusion", "only %d of 12 threads ever had a turn", threads);
    return screen_verdict(true, "exclusion",
                          "%" PRId64 " holds by %d threads, no two valid at once; between processes %.2f ms or more",
                          found.count, grant_log_threads(&results->grant_log, "ABCD"), (double)found.closest_ns / 1e6);
}

static bool token_order(struct results *results) {
    struct finding found;

    grant_log_check_tokens(&results->grant_log, &found);
    if (found.problem[0] != '\0')
        return screen_verdict(false, "token order", "%s", found.problem);
    return screen_verdict(true, "token order", "each grant has a larger (token, hand-over) than the one before");
}

static bool file_order(struct results *results, const char *file) {
    struct finding found;

    grant_log_check_file(&results->grant_log, file, &found);
    if (found.problem[0] != '\0')
        return screen_verdict(false, "the file", "%s", found.problem);
    return screen_verdict(found.count > 0, "the file", "%" PRId64 " lines, tokens in order, each written by its holder",
                          found.count);
}

static double seconds_to_next(const struct incident *incident) {
    return (double)(incident->next_ns - incident->fault_ns) / 1e9;
}

static bool killed_holder(const struct results *results) {
    const struct incident *incident = &results->killed;

    if (incident->next.token == 0)
        return screen_verdict(false, "killed holder", "nobody got the lock after it");
    return screen_verdict(true, "killed holder", "%s, token %" PRId64 "; %.1f s later %s got the lock, token %" PRId64,
                          incident->victim.who, incident->victim.token, seconds_to_next(incident), incident->next.who,
                          incident->next.token);
}

static bool paused_holder(const struct results *results) {
    const bool said_no = results->woke.kind != 0 && strcmp(results->woke.word, "no") == 0;

    if (results->paused.next.token == 0)
        return screen_verdict(false, "stopped holder", "nobody got the lock while it was stopped");
    return screen_verdict(said_no && results->lost_count == 1, "stopped holder",
                          "%s, token %" PRId64 "; %.1f s later %s got the lock; its first pdk_hold_is_valid said %s; "
                          "LOST (%s) %s",
                          results->paused.victim.who, results->paused.victim.token, seconds_to_next(&results->paused),
                          results->paused.next.who, results->woke.kind ? results->woke.word : "nothing",
                          results->lost_count ? results->lost.word : "none",
                          results->lost_count == 1   ? "once"
                          : results->lost_count == 0 ? "never"
                                                     : "more than once");
}

static bool stale_write(const struct results *results) {
    const int64_t token = results->paused.victim.token;

    if (results->naive.kind == 0)
        return screen_verdict(false, "stale write", "never attempted: the demo shows nothing");
    if (results->refused.kind == 0 || strcmp(results->naive.word, "refused") != 0)
        return screen_verdict(false, "stale write", "%s's write with the old token %" PRId64 " was NOT refused",
                              results->naive.who, token);
    return screen_verdict(true, "stale write",
                          "%s tried with token %" PRId64 "; the file had seen %" PRId64 ": refused", results->naive.who,
                          token, results->refused.number);
}

static bool orderly(const struct results *results) {
    return screen_verdict(results->troubles == 0 && results->bad_ends == 0, "processes",
                          "%d calls failed, %d processes ended badly", results->troubles, results->bad_ends);
}

bool verdict(struct results *results, const char *file) {
    const bool exclusive = exclusion(results);
    const bool tokens = token_order(results);
    const bool in_file = file_order(results, file);
    const bool killed = killed_holder(results);
    const bool paused = paused_holder(results);
    const bool stale = stale_write(results);
    const bool ended = orderly(results);
    const bool good = exclusive && tokens && in_file && killed && paused && stale && ended;

    screen_end(good, "exclusion: %s; token order: %s; stale write refused: %s; %u grants in %.1f s",
               exclusive ? "yes" : "NO", tokens && in_file ? "yes" : "NO", stale ? "yes" : "NO",
               results->grant_log.grants->len, (double)results->ran_ns / 1e9);
    return good;
}
