// SPDX-License-Identifier: Apache-2.0
// The account of Hadamard response; its variance is that of estimate/hadamard_estimate.c.
#include "hadamard.h"

#include "affine1.h"
#include "bytes.h"
#include "index_law.h"

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    return index == 0 && index_propose(part, wish, shoal_hadamard_id, SHOAL_HADAMARD_SIZE_MAX);
}

static double truth_of(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64;
}

// Returns: the probability of each cell but the device's own.
static double lie_of(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64 / (2 * part->k - 1);
}

// Returns: the probability that two values of a list in random order lie in the same block.
static double together(const shoal_part *part)
{
    double each = part->size / part->k, more = part->size % part->k, size = part->size;
    return (part->k * each * (each - 1) + 2 * more * each) / (size * (size - 1));
}

static double variance(const shoal_part *part, double n, double f, double squares)
{
    double q = lie_of(part), gap = truth_of(part) - q, in_block = f + (n - f) * together(part);
    (void)squares;
    return (2 * n * q + in_block * gap) / (gap * gap) - f;
}

// Returns: the cell of a listed item in the record's row, in the form of a record.
static uint32_t own_record(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    uint32_t row = load32_le(record) / 2 % part->m, x = (uint32_t)item;
    return 2 * (x % part->k * part->m + row) + (shoal_parity(row & x / part->k) ^ 1);
}

static bool is_own(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    return item < part->size && load32_le(record) == own_record(part, record, item);
}

// "None" has no cell of its own, so the item's cell alone tells it from an item.
static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    return (is_own(part, record, a) || a >= part->size) && !is_own(part, record, b);
}

static uint64_t n_outputs(const shoal_part *part)
{
    uint64_t outputs = (uint64_t)2 * part->k * part->m;
    return outputs <= 1u << 20 ? outputs : 0;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    (void)part;
    store32_le(record, (uint32_t)index);
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double row = 1.0 / part->m;
    if (item >= part->size) return row / (2 * part->k);
    return row * (is_own(part, record, item) ? truth_of(part) : lie_of(part));
}

// Of values of different blocks, which share no cell. With a single block two values have the same
// cell in half of the rows.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double truth = truth_of(part), lie = lie_of(part), rest = (2.0 * part->k - 2) * lie;
    if (part->k == 1) {
        agg_pair_add_both(law, truth / 2, lie / 2, lie / 2, 0.25);
        agg_pair_add(law, truth / 2, truth / 2, lie / 2, 0.25);
        agg_pair_add(law, lie / 2, lie / 2, lie / 2, 0.25);
        return;
    }
    agg_pair_add_both(law, truth, lie, lie, lie);
    agg_pair_add(law, rest, rest, rest, rest - lie + truth);
}

const agg_account agg_hadamard_account = {
    .id = shoal_hadamard_id,
    .usual_for = AGG_USUAL_SHORTEST_RECORDS,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
};
