// SPDX-License-Identifier: Apache-2.0
// Naive and memoized answers; see track_rivals.h.
#include "track_rivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "epoch_sampler.h"
#include "recipe.h"
#include "sha256.h"

typedef struct rival {
    uint64_t alpha;       // in units of 2^-32
    uint8_t responses[2]; // to 0 and to 1
    uint8_t used;         // bit b: response b was sent
    uint8_t last;         // what was sent last; 2 before
    uint8_t is_seen;      // it has changed
    shoal_rng rng;
} rival;

typedef struct tally {
    uint64_t naive, memoized, n_seen;
    uint32_t most_used;
} tally;

typedef struct arena {
    const track_simulation *simulation;
    uint32_t n_groups;
    uint64_t *items, *first;
    epoch_sampler *samplers;
    rival *devices;
    uint64_t q_naive, q_memoized; // probabilities of a lie, of 2^64
    tally *tallies;               // by thread
} arena;

static double lie(double epsilon)
{
    return 1 / (exp(epsilon) + 1);
}

static uint64_t threshold_of(double q)
{
    return (uint64_t)(q * 18446744073709551616.0);
}

static void start(rival *d, const uint8_t seed[32], uint64_t i, uint64_t q)
{
    shoal_rng_init_stream(&d->rng, seed, i);
    d->alpha = shoal_rng_u64(&d->rng) >> 32;
    for (uint8_t b = 0; b < 2; b++)
        d->responses[b] = (uint8_t)(b ^ shoal_rng_bernoulli(&d->rng, q));
    d->last = 2;
}

static void answer(tally *own, rival *d, const epoch_sampler *sampler, uint64_t q_naive)
{
    uint64_t mean = epoch_sampler_mean(sampler, &d->rng);
    uint32_t bit = mean > shoal_rng_u64(&d->rng) >> 32;
    uint8_t rounded = mean > d->alpha, response = d->responses[rounded];
    own->naive += bit ^ shoal_rng_bernoulli(&d->rng, q_naive);
    own->memoized += response;
    d->used |= (uint8_t)(1 << rounded);
    d->is_seen |= d->last < 2 && d->last != response;
    d->last = response;
    own->n_seen += d->is_seen;
    uint32_t n_used = (d->used & 1u) + (d->used >> 1);
    if (n_used > own->most_used) own->most_used = n_used;
}

static void answer_part(void *context, unsigned part, unsigned n_parts)
{
    const arena *a = context;
    uint64_t n = a->simulation->n_devices, begin = n * part / n_parts,
             stop = n * (part + 1) / n_parts;
    tally own = {0};
    for (uint32_t g = 0; g < a->n_groups; g++) {
        uint64_t from = a->first[g] > begin ? a->first[g] : begin;
        uint64_t to = a->first[g + 1] < stop ? a->first[g + 1] : stop;
        for (uint64_t i = from; i < to; i++)
            answer(&own, &a->devices[i], &a->samplers[g], a->q_naive);
    }
    a->tallies[part] = own;
}

static double estimate(const arena *a, uint64_t ones, double q)
{
    const shoal_recipe *r = a->simulation->recipe->recipe;
    double share = (double)ones / (double)a->simulation->n_devices;
    return (double)r->low_micro / 1e6 +
           (double)(r->high_micro - r->low_micro) / 1e6 * ((share - q) / (1 - 2 * q));
}

static agg_err live_epoch(track_rivals *rivals, agg_error *error, arena *a, uint32_t t)
{
    const track_simulation *s = a->simulation;
    double epsilon = s->recipe->recipe->eps_micro / 1e6;
    tally all = {0};
    for (uint32_t g = 0; g < a->n_groups; g++) {
        const epoch_law *law = epoch_counts_law(s->counts, g, t + 1);
        agg_err err = epoch_sampler_set(&a->samplers[g], error, s->counts, law, a->items,
                                        s->recipe->recipe->samples);
        if (err != SHOAL_OK) return err;
    }
    agg_parallel(s->n_threads, answer_part, a);
    for (unsigned i = 0; i < s->n_threads; i++) {
        all.naive += a->tallies[i].naive;
        all.memoized += a->tallies[i].memoized;
        all.n_seen += a->tallies[i].n_seen;
        if (a->tallies[i].most_used > all.most_used) all.most_used = a->tallies[i].most_used;
    }
    rivals->naive[t] = estimate(a, all.naive, lie(rivals->naive_epsilon));
    rivals->memoized[t] = estimate(a, all.memoized, lie(epsilon / 2));
    rivals->memoized_privacy[t] = all.most_used * epsilon / 2;
    rivals->memoized_seen[t] = (double)all.n_seen / (double)s->n_devices;
    return SHOAL_OK;
}

static void derive(uint8_t seed[32], const track_simulation *s)
{
    static const char label[] = "shoal track rivals";
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label - 1);
    shoal_sha256_update(&sha, s->seed, sizeof s->seed);
    shoal_sha256_final(seed, &sha);
}

static agg_err build(track_rivals *rivals, agg_error *error, arena *a)
{
    const track_simulation *s = a->simulation;
    uint8_t seed[32];
    a->items = agg_alloc(error, s->counts->values.n, sizeof *a->items);
    a->first = agg_alloc(error, (size_t)a->n_groups + 1, sizeof *a->first);
    a->samplers = agg_alloc(error, a->n_groups, sizeof *a->samplers);
    a->devices = agg_alloc(error, (size_t)s->n_devices, sizeof *a->devices);
    a->tallies = agg_alloc(error, s->n_threads, sizeof *a->tallies);
    rivals->naive = agg_alloc(error, rivals->n, sizeof *rivals->naive);
    rivals->memoized = agg_alloc(error, rivals->n, sizeof *rivals->memoized);
    rivals->memoized_privacy = agg_alloc(error, rivals->n, sizeof *rivals->memoized_privacy);
    rivals->memoized_seen = agg_alloc(error, rivals->n, sizeof *rivals->memoized_seen);
    if (a->items == NULL || a->first == NULL || a->samplers == NULL || a->devices == NULL ||
        a->tallies == NULL || rivals->naive == NULL || rivals->memoized == NULL ||
        rivals->memoized_privacy == NULL || rivals->memoized_seen == NULL)
        return AGG_ERR_MEMORY;
    for (uint32_t g = 0; g <= a->n_groups; g++)
        a->first[g] = epoch_counts_first_device(s->counts, g, s->n_devices);
    derive(seed, s);
    for (uint64_t i = 0; i < s->n_devices; i++) start(&a->devices[i], seed, i, a->q_memoized);
    return track_items(a->items, error, s->recipe, s->counts);
}

static void release_arena(arena *a)
{
    for (uint32_t g = 0; g < a->n_groups && a->samplers != NULL; g++)
        epoch_sampler_release(&a->samplers[g]);
    free(a->items);
    free(a->first);
    free(a->samplers);
    free(a->devices);
    free(a->tallies);
}

agg_err track_rivals_run(track_rivals *rivals, agg_error *error, const track_simulation *simulation)
{
    const shoal_recipe *r = simulation->recipe->recipe;
    double epsilon = r->eps_micro / 1e6;
    memset(rivals, 0, sizeof *rivals);
    rivals->n = simulation->n_epochs > 0 && simulation->n_epochs < r->epochs ? simulation->n_epochs
                                                                             : r->epochs;
    rivals->naive_epsilon = epsilon / r->epochs;
    arena a = {.simulation = simulation,
               .n_groups = simulation->counts->groups.n,
               .q_naive = threshold_of(lie(rivals->naive_epsilon)),
               .q_memoized = threshold_of(lie(epsilon / 2))};
    agg_err err = build(rivals, error, &a);
    for (uint32_t t = 0; t < rivals->n && err == SHOAL_OK; t++)
        err = live_epoch(rivals, error, &a, t);
    release_arena(&a);
    if (err != SHOAL_OK) track_rivals_release(rivals);
    return err;
}

void track_rivals_release(track_rivals *rivals)
{
    free(rivals->naive);
    free(rivals->memoized);
    free(rivals->memoized_privacy);
    free(rivals->memoized_seen);
    memset(rivals, 0, sizeof *rivals);
}
