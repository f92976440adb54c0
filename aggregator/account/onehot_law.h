// SPDX-License-Identifier: Apache-2.0
// The output law of independent bits, one for each listed value. The accounts of both one-hot
// encodings share it. Private to account/.
#ifndef ONEHOT_LAW_H
#define ONEHOT_LAW_H

#include "index_law.h"
#include "onehot_asymmetric.h"

// Returns: the probability of the less likely side of a coin.
static inline double onehot_rare(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

static inline int onehot_bit(const uint8_t *record, uint64_t item)
{
    return record[item / 8] >> item % 8 & 1;
}

// Implements agg_account.tells_apart. "None" has no bit of its own, so the value's bit alone tells
// it from a value.
static inline int onehot_tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a,
                                     uint64_t b)
{
    return (a >= part->m || onehot_bit(record, a)) && (b >= part->m || !onehot_bit(record, b));
}

static inline uint64_t onehot_n_outputs(const shoal_part *part)
{
    return part->m <= 16 ? (uint64_t)1 << part->m : 0;
}

static inline int onehot_output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    for (uint32_t i = 0; i < part->record_size; i++) record[i] = (uint8_t)(index >> 8 * i);
    return 1;
}

// Returns: the record's probability when the item's own bit is 1 with probability p and any other
// bit with probability q.
static inline double onehot_probability(const shoal_part *part, const uint8_t *record,
                                        uint64_t item, double p, double q)
{
    double product = 1;
    for (uint32_t l = 0; l < part->m; l++) {
        double one = l == item ? p : q;
        product *= onehot_bit(record, l) ? one : 1 - one;
    }
    return product;
}

#endif
