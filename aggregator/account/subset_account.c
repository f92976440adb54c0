// SPDX-License-Identifier: Apache-2.0
// The account of subset selection; its variance is that of estimate/subset_estimate.c.
#include "subset.h"

#include "bytes.h"
#include "index_law.h"

#define OUTPUTS_MAX (1u << 20)

static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    return index == 0 && index_propose(part, wish, shoal_subset_id, SHOAL_SUBSET_SIZE_MAX);
}

static double in_of(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64;
}

static double variance(const shoal_part *part, double n, double f, double squares)
{
    double p = in_of(part);
    (void)squares;
    return index_variance(n, f, p, (part->k - p) / (part->m - 1));
}

static bool holds(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    uint32_t index = item < part->size ? (uint32_t)item : part->size;
    for (uint32_t i = 0; i < part->k; i++)
        if (load32_le(record + 4 * i) == index) return true;
    return false;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    return holds(part, record, a) && !holds(part, record, b);
}

// Returns: the number of sets of k of n, or OUTPUTS_MAX + 1 if it exceeds OUTPUTS_MAX.
static uint64_t count_sets(uint32_t n, uint32_t k)
{
    uint64_t count = 1; // sets of i of n - k + i for i = 0, 1, .. k, which never falls
    if (k > n) return 0;
    for (uint32_t i = 1; i <= k && count <= OUTPUTS_MAX; i++) count = count * (n - k + i) / i;
    return count <= OUTPUTS_MAX ? count : OUTPUTS_MAX + 1;
}

static uint64_t n_outputs(const shoal_part *part)
{
    uint64_t outputs = count_sets(part->m, part->k);
    return outputs <= OUTPUTS_MAX ? outputs : 0;
}

// Returns: the largest c < n for which there are at most `index` sets of k of c.
static uint32_t largest_below(uint32_t n, uint32_t k, uint64_t index)
{
    uint32_t low = 0;
    while (n - low > 1) {
        uint32_t middle = low + (n - low) / 2;
        if (count_sets(middle, k) <= index)
            low = middle;
        else
            n = middle;
    }
    return low;
}

// Output indices are those of the combinatorial number system: the set c_1 < ... < c_d has the
// index C(c_1, 1) + ... + C(c_d, d).
static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    uint32_t above = part->m;
    for (uint32_t i = part->k; i > 0; i--) {
        above = largest_below(above, i, index);
        index -= count_sets(above, i);
        store32_le(record + (size_t)4 * (i - 1), above);
    }
    return true;
}

// Returns: one over the number of sets of k of n.
static double one_in_sets(uint32_t n, uint32_t k)
{
    double one = 1;
    for (uint32_t i = 1; i <= k; i++) one *= (double)i / (n - k + i);
    return one;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double in = in_of(part), out = (double)part->threshold * 0x1p-64;
    uint32_t others = part->m - 1;
    return holds(part, record, item) ? in * one_in_sets(others, part->k - 1)
                                     : out * one_in_sets(others, part->k);
}

// Sets that hold x but not x', the mirror image, both, and neither. A set that leaves a value out
// is as probable under it as in the blanket. The third value has both and neither in one class.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double in = in_of(part), out = (double)part->threshold * 0x1p-64;
    double s = part->m, d = part->k, scale = out / (s - d) / (s - 1); // of the blanket's sets
    double hit = in * (s - d) / (s - 1), miss = out * d / (s - 1);
    double third =
        s > 2 ? (in * (d - 1) * (s - d) + out * d * (s - 1 - d)) / ((s - 1) * (s - 2)) : 0;
    double both = in * (d - 1) / (s - 1), neither = out * (s - 1 - d) / (s - 1);
    agg_pair_add_both(law, hit, miss, scale * d * (s - d), third);
    agg_pair_add(law, both, both, scale * d * (d - 1), 1 - 2 * third);
    agg_pair_add(law, neither, neither, scale * (s - d) * (s - d - 1), 0);
}

const agg_account agg_subset_account = {
    .id = shoal_subset_id,
    .usual_for = AGG_USUAL_SHORT_RECORDS,
    .propose = propose,
    .variance = variance,
    .sums_up = true,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
};
