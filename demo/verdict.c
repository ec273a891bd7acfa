/* The verdict: each line a question that had to come up, and its answer. */
#include "verdict.h"

#include "screen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool exclusion(struct story *story) {
    struct finding found;
    const int threads = ledger_threads(&story->ledger, "ABC");

    ledger_check_exclusion(&story->ledger, &found);
    if (found.problem[0] != '\0')
        return screen_verdict(false, "exclusion", "%s", found.problem);
    if (threads < 12)
        return screen_verdict(false, "exclusion", "only %d of 12 threads ever had a turn", threads);
    return screen_verdict(true, "exclusion",
                          "%" PRId64 " holds by %d threads, no two valid at once; between processes %.2f ms or more",
                          found.count, ledger_threads(&story->ledger, "ABCD"), (double)found.closest_ns / 1e6);
}

static bool token_order(struct story *story) {
    struct finding found;

    ledger_check_tokens(&story->ledger, &found);
    if (found.problem[0] != '\0')
        return screen_verdict(false, "token order", "%s", found.problem);
    return screen_verdict(true, "token order", "each grant has a larger (token, hand-over) than the one before");
}

static bool file_order(struct story *story, const char *file) {
    struct finding found;

    ledger_check_file(&story->ledger, file, &found);
    if (found.problem[0] != '\0')
        return screen_verdict(false, "the file", "%s", found.problem);
    return screen_verdict(found.count > 0, "the file", "%" PRId64 " lines, tokens in order, each written by its holder",
                          found.count);
}

static double seconds_to_next(const struct scene *scene) { return (double)(scene->next_ns - scene->struck_ns) / 1e9; }

static bool killed_holder(const struct story *story) {
    const struct scene *scene = &story->killed;

    if (scene->next.token == 0)
        return screen_verdict(false, "killed holder", "nobody got the lock after it");
    return screen_verdict(true, "killed holder", "%s, token %" PRId64 "; %.1f s later %s got the lock, token %" PRId64,
                          scene->victim.who, scene->victim.token, seconds_to_next(scene), scene->next.who,
                          scene->next.token);
}

static bool paused_holder(const struct story *story) {
    const bool said_no = story->woke.kind != 0 && strcmp(story->woke.word, "no") == 0;

    if (story->paused.next.token == 0)
        return screen_verdict(false, "stopped holder", "nobody got the lock while it was stopped");
    return screen_verdict(said_no && story->lost_count == 1, "stopped holder",
                          "%s, token %" PRId64 "; %.1f s later %s got the lock; its first pdk_hold_valid said %s; "
                          "LOST (%s) %s",
                          story->paused.victim.who, story->paused.victim.token, seconds_to_next(&story->paused),
                          story->paused.next.who, story->woke.kind ? story->woke.word : "nothing",
                          story->lost_count ? story->lost.word : "none",
                          story->lost_count == 1   ? "once"
                          : story->lost_count == 0 ? "never"
                                                   : "more than once");
}

static bool stale_write(const struct story *story) {
    const int64_t token = story->paused.victim.token;

    if (story->naive.kind == 0)
        return screen_verdict(false, "stale write", "never attempted: the demo shows nothing");
    if (story->refused.kind == 0 || strcmp(story->naive.word, "refused") != 0)
        return screen_verdict(false, "stale write", "%s's write with the old token %" PRId64 " was NOT refused",
                              story->naive.who, token);
    return screen_verdict(true, "stale write",
                          "%s tried with token %" PRId64 "; the file had seen %" PRId64 ": refused", story->naive.who,
                          token, story->refused.number);
}

static bool orderly(const struct story *story) {
    return screen_verdict(story->troubles == 0 && story->bad_ends == 0, "processes",
                          "%d calls failed, %d processes ended badly", story->troubles, story->bad_ends);
}

bool verdict(struct story *story, const char *file) {
    const bool exclusive = exclusion(story);
    const bool tokens = token_order(story);
    const bool in_file = file_order(story, file);
    const bool killed = killed_holder(story);
    const bool paused = paused_holder(story);
    const bool stale = stale_write(story);
    const bool ended = orderly(story);
    const bool good = exclusive && tokens && in_file && killed && paused && stale && ended;

    screen_end(good, "exclusion: %s; token order: %s; stale write refused: %s; %u grants in %.1f s",
               exclusive ? "yes" : "NO", tokens && in_file ? "yes" : "NO", stale ? "yes" : "NO",
               story->ledger.grants->len, (double)story->ran_ns / 1e9);
    return good;
}
