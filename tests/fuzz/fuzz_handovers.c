/* Hand-overs: one is allowed exactly while a plain list of earlier hand-overs allows it. Input: the limits, and then
 * steps. */
#include "core/handovers.h"
#include "fuzz.h"

#include <glib.h>

struct log {
    uint32_t most, given; /* hand-overs since the grant */
    int64_t longest, granted;
};

static void check_release(struct pdk__handovers *bound, struct log *log, int64_t now, bool waiting, bool valid) {
    enum pdk__handover next = pdk__handovers_next(bound, now, waiting, valid), expected = PDK__HANDOVER_LEAVE;
    if (waiting)
        expected = valid && log->given + 1 <= log->most && log->granted + log->longest > now ? PDK__HANDOVER_HERE
                                                                                             : PDK__HANDOVER_REJOIN;
    FUZZ_REQUIRE(next == expected, "hand-over %d, expected %d, after %u of %u", next, expected, log->given, log->most);
    if (next == PDK__HANDOVER_HERE)
        log->given++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct fuzz_in in = {bytes, size};
    struct pdk__handovers bound;
    int64_t now = 0;
    uint32_t most = (uint32_t)fuzz_number(&in, 1);
    struct log log = {.most = most == 0xff ? UINT32_MAX : most, .longest = (int64_t)fuzz_number(&in, 2)};
    pdk__handovers_init(&bound, log.most, log.longest);
    pdk__handovers_granted(&bound, now);
    while (in.left > 0) {
        uint8_t step = fuzz_byte(&in);
        now += (step >> 3) * ((step & 7) == 7 ? 1000 : 1);
        if ((step & 7) == 6) {
            pdk__handovers_granted(&bound, now);
            log.granted = now;
            log.given = 0;
        } else {
            check_release(&bound, &log, now, (step & 1) || (step & 4), step & 2);
        }
    }
    return 0;
}
