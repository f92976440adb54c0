// SPDX-License-Identifier: Apache-2.0
// The account of Hadamard Count Mean Sketch: apple-2017 Theorem 5.2 and section 5.
#include <math.h>

#include "account.h"
#include "bytes.h"
#include "cms.h"
#include "hash_column.h"
#include "hcms.h"
#include "row_count.h"

#define M_LEAST 8u

// Proposes one variant for every number of columns, 8 to 2^20, because a record's size hardly
// depends on it.
static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    uint64_t m = index < 32 ? (uint64_t)M_LEAST << index : UINT64_MAX;
    if (wish->is_number || m > SHOAL_HCMS_M_MAX || wish->size > (uint32_t)1 << SHOAL_AFFINE1_BITS)
        return false;
    double e = exp(wish->eps_micro / 1e6), c = (e + 1) / (e - 1),
           spread = (1 - 1 / (double)m) / (double)m;
    double cells = fmin(wish->cells, (double)SHOAL_SKETCH_CELLS_MAX);
    uint32_t k = agg_row_count(spread * (wish->squares - wish->n), wish->n * c * c, (double)m,
                               cells, SHOAL_HCMS_K_MAX);
    *part = (shoal_part){.mechanism = shoal_hcms_id,
                         .domain = wish->size > 0 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN,
                         .hash = wish->size > 0 ? SHOAL_HASH_AFFINE1 : SHOAL_HASH_POLY1,
                         .eps_micro = wish->eps_micro,
                         .k = k,
                         .m = (uint32_t)m,
                         .size = wish->size};
    return true;
}

// The formula is that of estimate/hcms_estimate.c, with Q = squares - n in place of its estimate.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    double q = (double)part->threshold * 0x1p-64, m = part->m, c = 1 / (1 - 2 * q);
    double stretch = m / (m - 1), spread = (1 - 1 / m) / m, pairs = squares - n - f * f + f;
    double mean = f + (n - f) / (m * m);
    return stretch * stretch * (n * c * c - mean + spread / part->k * (pairs > 0 ? pairs : 0));
}

// Returns: whether the record's sign is that of the column's Hadamard entry.
static bool agrees(const uint8_t *record, uint32_t column)
{
    uint32_t column_sign = load32_le(record + 4);
    return (column_sign & 1) != shoal_parity(column_sign >> 1 & column);
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    uint32_t j = load32_le(record);
    return agrees(record, agg_hash_column(part, j, a)) &&
           !agrees(record, agg_hash_column(part, j, b));
}

static uint64_t n_outputs(const shoal_part *part)
{
    uint64_t outputs = 2 * (uint64_t)part->k * part->m;
    return outputs <= 1u << 20 ? outputs : 0;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    store32_le(record, (uint32_t)(index / (2 * (uint64_t)part->m)));
    store32_le(record + 4, (uint32_t)(index % (2 * (uint64_t)part->m)));
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double q = (double)part->threshold * 0x1p-64, each = 1.0 / part->k / part->m;
    if (part->domain == SHOAL_DOMAIN_OPEN || item != SHOAL_ITEM_NONE)
        return each * (agrees(record, agg_hash_column(part, load32_le(record), item)) ? 1 - q : q);
    double sum = 0;
    for (uint32_t l = 0; l < part->m; l++) sum += each * (agrees(record, l) ? 1 - q : q) / part->m;
    return sum;
}

// A record names one cell, so columns cost nothing to send; rows cost memory.
static void draft(shoal_part *part, double epsilon, double n)
{
    (void)epsilon;
    (void)n;
    if (part->k == 0) part->k = 1024;
    if (part->m == 0) part->m = 32768;
}

static double paper_bits(const shoal_part *part)
{
    return log2(part->k) + log2(part->m) + 1;
}

static double paper_steps(const shoal_part *part, double n, double p)
{
    double k = part->k, m = part->m;
    return n + k * m * log2(m) + p * k;
}

static const agg_paper_cost paper = {
    .bits = paper_bits,
    .steps = paper_steps,
    .bits_text = "log2(k) + log2(m) + 1 bits",
};

// Records whose sign agrees with the columns of x and of x': with x alone, x' alone, both, neither.
// Different columns of a Hadamard matrix agree in half of the rows.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double q = (double)part->threshold * 0x1p-64;
    agg_pair_add_both(law, (1 - q) / 2, q / 2, q / 2, 0.25);
    agg_pair_add(law, (1 - q) / 2, (1 - q) / 2, q / 2, 0.25);
    agg_pair_add(law, q / 2, q / 2, q / 2, 0.25);
}

const agg_account agg_hcms_account = {
    .id = shoal_hcms_id,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
    .draft = draft,
    .paper = &paper,
};
