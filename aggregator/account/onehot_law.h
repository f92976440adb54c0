// SPDX-License-Identifier: Apache-2.0
// Computes the output law of one-hot records, which have an independent bit for each listed value.
// The accounts (account.h) of the symmetric and the asymmetric encoding share it. Private to
// account/.
#ifndef ONEHOT_LAW_H
#define ONEHOT_LAW_H

#include "index_law.h"
#include "onehot_asymmetric.h"

// Returns: the probability that the bit of a value other than the item is 1. It is the rare side of
// that bit's coin, with part->threshold.
static inline double onehot_rare(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

// Returns: the record's bit for a listed value.
static inline bool onehot_bit(const uint8_t *record, uint64_t item)
{
    return record[item / 8] >> item % 8 & 1;
}

// Implements agg_account.tells_apart: the event is that a's bit is 1 and b's bit is 0. If a or b is
// "none", which has no bit (item >= m), only the other item's bit matters.
static inline bool onehot_tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a,
                                      uint64_t b)
{
    return (a >= part->m || onehot_bit(record, a)) && (b >= part->m || !onehot_bit(record, b));
}

// Implements agg_account.n_outputs: 2^m records, or 0 (too many) for more than 16 values.
static inline uint64_t onehot_n_outputs(const shoal_part *part)
{
    return part->m <= 16 ? (uint64_t)1 << part->m : 0;
}

// Implements agg_account.output: the index's bits are the record's. Every index has a record.
static inline bool onehot_output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    for (uint32_t i = 0; i < part->record_size; i++) record[i] = (uint8_t)(index >> 8 * i);
    return true;
}

// Returns: the record's probability if the item's own bit is 1 with probability p and every other
// bit is 1 with probability q.
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

// Implements agg_account.pair for a record whose item's own bit is 1 with probability p, any other
// with q: two values' bits are set for x alone, for x' alone, for both, for none. No input's law is
// below that of "none" by more than (1 - p)/(1 - q).
static inline void onehot_pair(agg_pair_law *law, double p, double q)
{
    double least = (1 - p) / (1 - q);
    agg_pair_add_both(law, p * (1 - q), (1 - p) * q, least * q * (1 - q), q * (1 - q));
    agg_pair_add(law, p * q, p * q, least * q * q, q * q);
    agg_pair_add(law, (1 - p) * (1 - q), (1 - p) * (1 - q), least * (1 - q) * (1 - q),
                 (1 - q) * (1 - q));
}

#endif
