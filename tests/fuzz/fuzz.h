/* Fuzz targets: fuzz_NAME.c, one for each parser of foreign texts, and for each automaton of the core.
 *
 *     input bytes ──► target ──► the code as shipped ──┐
 *                          └───► an oracle ────────────┴──► they agree, or fuzz_fail: the input is kept
 *
 * The oracle is a slower and plainer way to the same answer, a round trip, or a property that holds for every input.
 * The same targets run in two ways: replay.c runs their corpus and mutations of it from a fixed seed, with any compiler, in
 * the everyday tests; libFuzzer looks for new inputs (`./run fuzz`).
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The target; of this name because libFuzzer calls it. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* An input, eaten from the front. Where nothing is left there are zeros. */
struct fuzz_in {
    const uint8_t *at;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_in *in);
/* Little-endian, of that many bytes. */
uint64_t fuzz_number(struct fuzz_in *in, size_t bytes);
/* Up to the next such byte, or zero byte, or the end, in a block of its own of just that size. Free it with g_free. */
char *fuzz_text(struct fuzz_in *in, char end);

/* Say what is wrong, and abort. */
#define FUZZ_REQUIRE(condition, ...)                                                                                   \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fuzz_fail(__FILE__, __LINE__, #condition, __VA_ARGS__);                                                    \
    } while (0)

__attribute__((format(printf, 4, 5), noreturn)) void fuzz_fail(const char *file, int line, const char *condition,
                                                               const char *format, ...);

#endif
