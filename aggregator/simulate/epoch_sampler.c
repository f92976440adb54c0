// SPDX-License-Identifier: Apache-2.0
// Samples of an epoch; see epoch_sampler.h.
#include "epoch_sampler.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

void epoch_sampler_release(epoch_sampler *sampler)
{
    binomial_table_release(&sampler->table);
    free(sampler->means);
    free(sampler->values);
    free(sampler->shares);
    memset(sampler, 0, sizeof *sampler);
}

static void take_values(epoch_sampler *sampler, const epoch_counts *counts)
{
    const epoch_law *law = sampler->law;
    double left = (double)law->total;
    for (size_t i = law->first; i < law->first + law->n; i++) {
        const epoch_count *entry = &counts->entries[i];
        if (entry->count == 0) continue;
        sampler->values[sampler->n] = entry->value;
        sampler->shares[sampler->n++] = (double)entry->count / left;
        left -= (double)entry->count; // exact: sums are at most 2^53
    }
}

static agg_err make_table(epoch_sampler *sampler, agg_error *error)
{
    uint64_t samples = sampler->samples;
    uint64_t first = sampler->items[sampler->values[0]],
             second = sampler->items[sampler->values[1]];
    agg_err err =
        binomial_table_init(&sampler->table, error, sampler->samples, 1 - sampler->shares[0]);
    if (err != SHOAL_OK) return err;
    sampler->means = agg_alloc(error, sampler->table.n_slots, sizeof *sampler->means);
    if (sampler->means == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < sampler->table.n_slots; i++) {
        uint64_t hits = sampler->table.first + i;
        sampler->means[i] = (hits * second + (samples - hits) * first) / samples; // below 2^63
    }
    return SHOAL_OK;
}

agg_err epoch_sampler_set(epoch_sampler *sampler, agg_error *error, const epoch_counts *counts,
                          const epoch_law *law, const uint64_t *items, uint32_t samples)
{
    if (sampler->law == law) return SHOAL_OK;
    epoch_sampler_release(sampler);
    sampler->values = agg_alloc(error, law->n, sizeof *sampler->values);
    sampler->shares = agg_alloc(error, law->n, sizeof *sampler->shares);
    agg_err err = sampler->values == NULL || sampler->shares == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        sampler->law = law;
        sampler->items = items;
        sampler->samples = samples;
        take_values(sampler, counts);
        if (sampler->n == 2) err = make_table(sampler, error);
    }
    if (err != SHOAL_OK) epoch_sampler_release(sampler);
    return err;
}

static uint64_t mean_of_many(const epoch_sampler *sampler, shoal_rng *rng)
{
    uint32_t left = sampler->samples;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sampler->n && left > 0; i++) {
        uint32_t count = i + 1 < sampler->n ? binomial_draw(rng, left, sampler->shares[i]) : left;
        sum += count * sampler->items[sampler->values[i]];
        left -= count;
    }
    return sum / sampler->samples;
}

uint64_t epoch_sampler_mean(const epoch_sampler *sampler, shoal_rng *rng)
{
    if (sampler->n == 2)
        return sampler->means[binomial_table_draw(&sampler->table, rng) - sampler->table.first];
    return mean_of_many(sampler, rng);
}

void epoch_sampler_counts(uint32_t *counts, const epoch_sampler *sampler, shoal_rng *rng)
{
    uint32_t left = sampler->samples;
    for (uint32_t i = 0; i < sampler->n; i++) {
        uint32_t count = i + 1 < sampler->n ? binomial_draw(rng, left, sampler->shares[i]) : left;
        counts[sampler->values[i]] = count;
        left -= count;
    }
}
