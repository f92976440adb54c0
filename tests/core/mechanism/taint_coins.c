// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: beside the item, the coin between truth and lie is uninitialised memory. A
// record together with its coin gives the answer away, so that where both could be put under a mask
// nothing may branch on either. The place of the coin among the draws is the mechanism's (see its
// header).
#include <stdio.h>
#include <valgrind/memcheck.h>

#include "closed_part.h"
#include "scripted_rng.h"

typedef struct setting {
    uint32_t mechanism, size, eps_micro;
    uint32_t coin; // which u64 of the stream it is
} setting;

static const setting settings[] = {
    {shoal_grr_id, 9, 1000000, 0},
    {shoal_grr_id, 1000, 4000000, 0},
    {shoal_subset_id, 9, 1000000, 0},
    {shoal_subset_id, 1000, 2000000, 0},
    {shoal_subset_id, 3, 8000000, 0},
    {shoal_hadamard_id, 9, 1000000, 1},
    {shoal_hadamard_id, 1000, 4000000, 1},
    {shoal_hadamard_id, 5, 8000000, 0}, // a matrix of one row is not drawn from
};

// Returns: whether any bit of the record depends on what was marked.
static int depends(const setting *s, int is_item_secret)
{
    static uint8_t record[65536], marks[65536];
    shoal_part part = closed_part(s->mechanism, s->size, s->eps_micro);
    uint64_t item = s->size - 1;
    uint8_t seed[32] = {3}, any = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    CHECK(shoal_rng_u64(&rng) != 0); // makes the draws ahead
    rng.used -= 8;
    if (is_item_secret) VALGRIND_MAKE_MEM_UNDEFINED(&item, sizeof item);
    VALGRIND_MAKE_MEM_UNDEFINED(rng.buffer + rng.used + 8 * s->coin, 8);
    shoal_mechanism_by_id(s->mechanism)->randomize(record, &part, item, NULL, &rng);
    CHECK(VALGRIND_GET_VBITS(record, marks, part.record_size) == 1);
    VALGRIND_MAKE_MEM_DEFINED(record, part.record_size); // a finished record is public
    for (uint32_t b = 0; b < part.record_size; b++) any |= marks[b];
    return any != 0;
}

int main(void)
{
    if (!RUNNING_ON_VALGRIND) return fputs("taint_coins: run under valgrind\n", stderr), 2;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        CHECK(depends(&settings[i], 0)); // the coin is where it is said to be
        CHECK(depends(&settings[i], 1));
    }
    return check_summary();
}
