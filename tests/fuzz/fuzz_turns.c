/* Turns: a hand-over is given exactly while all of a plain list of hand-overs allows it. Input: the limits, and then steps. */
#include "core/turns.h"
#include "fuzz.h"

#include <glib.h>

struct log {
    uint32_t most, given; /* hand-overs since the grant */
    int64_t longest, granted;
};

static void check_release(struct pdk__turns *turns, struct log *log, int64_t now, bool waiting, bool valid) {
    enum pdk__turn turn = pdk__turns_next(turns, now, waiting, valid), expected = PDK__TURN_LEAVE;
    if (waiting)
        expected = valid && log->given + 1 <= log->most && log->granted + log->longest > now ? PDK__TURN_HAND_OVER
                                                                                             : PDK__TURN_REJOIN;
    FUZZ_REQUIRE(turn == expected, "turn %d, expected %d, after %u of %u", turn, expected, log->given, log->most);
    if (turn == PDK__TURN_HAND_OVER)
        log->given++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    struct pdk__turns turns;
    int64_t now = 0;
    uint32_t most = (uint32_t)fuzz_number(&in, 1);
    struct log log = {.most = most == 0xff ? UINT32_MAX : most, .longest = (int64_t)fuzz_number(&in, 2)};
    pdk__turns_init(&turns, log.most, log.longest);
    pdk__turns_granted(&turns, now);
    while (in.left > 0) {
        uint8_t step = fuzz_byte(&in);
        now += (step >> 3) * ((step & 7) == 7 ? 1000 : 1);
        if ((step & 7) == 6) {
            pdk__turns_granted(&turns, now);
            log.granted = now;
            log.given = 0;
        } else {
            check_release(&turns, &log, now, (step & 1) || (step & 4), step & 2);
        }
    }
    return 0;
}
