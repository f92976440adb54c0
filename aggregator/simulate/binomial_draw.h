// SPDX-License-Identifier: Apache-2.0
// Binomial numbers for simulated devices: a table for a law that is drawn from often, and a
// rejection sampler for laws that change from draw to draw. Both are exact up to the rounding of
// doubles (relative 1e-13 in a probability), and the table omits tails below 1e-20.
//
// The table is built with + - * / alone, so that every build makes the same one; the sampler calls
// log and sqrt. Source: M. D. Vose, "A linear algorithm for generating random numbers with a given
// distribution" (1991), for the table; W. Hoermann, "The generation of binomial random variates"
// (1993), algorithm BTRS, for the sampler. Knows no recipe.
#ifndef BINOMIAL_DRAW_H
#define BINOMIAL_DRAW_H

#include <stdint.h>

#include "agg_error.h"
#include "rng.h"

typedef struct binomial_slot {
    uint64_t threshold; // the slot's own outcome if the draw is below it
    uint32_t other;     // the outcome otherwise
} binomial_slot;

typedef struct binomial_table {
    uint32_t first;   // least possible outcome
    uint32_t n_slots; // outcomes first .. first + n_slots - 1
    binomial_slot *slots;
} binomial_table;

// Builds the table of n draws with probability p.
//   n: 1 .. 10^9; p: in [0, 1]
// Memory: 16 bytes for each of about 20 standard deviations. Release on OK only.
agg_err binomial_table_init(binomial_table *table, agg_error *error, uint32_t n,
                            double p) SHOAL_MUST_CHECK;
void binomial_table_release(binomial_table *table);

// Returns: an outcome. Takes one u64 of the stream: the high part picks the slot, the rest the
// side.
static inline uint32_t binomial_table_draw(const binomial_table *table, shoal_rng *rng)
{
    uint64_t u = shoal_rng_u64(rng), n = table->n_slots;
    uint32_t slot = (uint32_t)(((u >> 32) * n + (((u & UINT32_MAX) * n) >> 32)) >> 32);
    const binomial_slot *s = &table->slots[slot];
    return table->first + (u * n < s->threshold ? slot : s->other);
}

// Returns: how many of n draws with probability p hit. The number of u64s that it takes from the
// stream depends on the draw.
//   n: 0 .. 10^9; p: in [0, 1]
uint32_t binomial_draw(shoal_rng *rng, uint32_t n, double p);

#endif
