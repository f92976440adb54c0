// SPDX-License-Identifier: Apache-2.0
// The account of Count Mean Sketch: apple-2017 Theorem 4.2 and section 5.
#include <math.h>

#include "account.h"
#include "bytes.h"
#include "cms.h"
#include "hash_column.h"
#include "row_count.h"

#define M_LEAST 8u

// Returns: the columns of the index-th variant. A list gets powers of two. Strings get steps of an
// eighth of an octave, in whole bytes, because every bit counts where a record's size is limited.
static uint64_t columns(const agg_wish *wish, uint32_t index)
{
    if (wish->size > 0) return index < 32 ? (uint64_t)M_LEAST << index : UINT64_MAX;
    return index < 256 ? M_LEAST * (uint64_t)lround(exp2(index / 8.0)) : UINT64_MAX;
}

// Proposes one variant for every width of a record, from 8 columns to 65,536.
static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    uint64_t m = columns(wish, index);
    if (wish->is_number || m > SHOAL_CMS_M_MAX || wish->size > (uint32_t)1 << SHOAL_AFFINE1_BITS)
        return false;
    double e = exp(wish->eps_micro / 2e6), spread = (1 - 1 / (double)m) / (double)m;
    double cells = fmin(wish->cells, (double)SHOAL_SKETCH_CELLS_MAX);
    uint32_t k = agg_row_count(spread * (wish->squares - wish->n),
                               wish->n * (e / ((e - 1) * (e - 1)) + spread), (double)m, cells,
                               SHOAL_CMS_K_MAX);
    *part = (shoal_part){.mechanism = shoal_cms_id,
                         .domain = wish->size > 0 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN,
                         .hash = wish->size > 0 ? SHOAL_HASH_AFFINE1 : SHOAL_HASH_POLY1,
                         .eps_micro = wish->eps_micro,
                         .k = k,
                         .m = (uint32_t)m,
                         .size = wish->size};
    return true;
}

static double q_of(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64;
}

// The formula is that of estimate/cms_estimate.c, with Q = squares - n in place of its estimate.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    double q = q_of(part), m = part->m, stretch = m / (m - 1), spread = (1 - 1 / m) / m,
           c = 1 / (1 - 2 * q);
    double pairs = squares - n - f * f + f;
    return stretch * stretch *
           (n * c * c * q * (1 - q) + (n - f) * spread +
            spread / part->k * (pairs > 0 ? pairs : 0));
}

static uint32_t bit_of(const uint8_t *record, uint32_t l)
{
    return record[4 + l / 8] >> l % 8 & 1;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    uint32_t j = load32_le(record), of_a = agg_hash_column(part, j, a),
             of_b = agg_hash_column(part, j, b);
    return of_a != of_b && bit_of(record, of_a) && !bit_of(record, of_b);
}

static uint64_t n_outputs(const shoal_part *part)
{
    return part->m <= 16 && part->k <= (1u << 20) >> part->m ? (uint64_t)part->k << part->m : 0;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    store32_le(record, (uint32_t)(index >> part->m));
    uint64_t bits = index & (((uint64_t)1 << part->m) - 1);
    for (uint32_t i = 4; i < part->record_size; i++, bits >>= 8) record[i] = (uint8_t)bits;
    return true;
}

static double of_column(const shoal_part *part, const uint8_t *record, uint32_t column)
{
    double q = q_of(part), product = 1.0 / part->k;
    for (uint32_t l = 0; l < part->m; l++)
        product *= bit_of(record, l) == (uint32_t)(l == column) ? 1 - q : q;
    return product;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double sum = 0;
    if (part->domain == SHOAL_DOMAIN_OPEN || item != SHOAL_ITEM_NONE)
        return of_column(part, record, agg_hash_column(part, load32_le(record), item));
    for (uint32_t l = 0; l < part->m; l++) sum += of_column(part, record, l) / part->m;
    return sum;
}

static double paper_bits(const shoal_part *part)
{
    return log2(part->k) + part->m;
}

static double paper_steps(const shoal_part *part, double n, double p)
{
    return n * (double)part->m + p * (double)part->k;
}

static const agg_paper_cost paper = {
    .bits = paper_bits,
    .steps = paper_steps,
    .bits_text = "log2(k) + m bits",
};

// Two columns' bits, where a flipped bit is improbable by q: x's alone is set, x' its own alone,
// both, none. No input's law is below that of a vector of zeros, flipped alike, by more than q/(1 -
// q).
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double q = q_of(part), p = 1 - q, least = q / p;
    agg_pair_add_both(law, p * p, q * q, least * q * p, q * p);
    agg_pair_add(law, p * q, p * q, least * q * q, q * q);
    agg_pair_add(law, q * p, q * p, least * p * p, p * p);
}

const agg_account agg_cms_account = {
    .id = shoal_cms_id,
    .usual_for = AGG_USUAL_STRINGS,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
    .paper = &paper,
};
