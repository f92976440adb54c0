// SPDX-License-Identifier: Apache-2.0
// Devices that live through a run; see track_simulation.h.
#include "track_simulation.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "compound.h"
#include "epoch_sampler.h"
#include "heavythresh.h"
#include "next_epoch.h"
#include "record.h"
#include "thresh.h"

// The state of a device of thresh.
typedef struct device {
    shoal_thresh state;
    shoal_rng rng;
} device;

// The state of a device of heavythresh; its fractions are in world.fractions.
typedef struct heavy_device {
    shoal_epoch_books books;
    shoal_rng rng;
} heavy_device;

// A thread's scratch memory, and its findings in an epoch.
typedef struct worker {
    uint32_t *counts, *now; // heavythresh: samples by value, and sums by coordinate
    uint32_t (*sums)[256];  // four tables of the sums of a byte's values
    uint64_t n_spent;       // devices without a vote left
    uint32_t privacy;       // the most that a device has spent, in micro-units
    agg_err err;
} worker;

typedef struct world {
    const track_simulation *simulation;
    const agg_recipe *recipe; // the recipe of the epoch
    shoal_evolving run;
    uint32_t w; // coordinates; 0 for thresh
    uint32_t n_groups, n_values;
    uint64_t *items; // item of each value
    uint64_t *first; // first device of each group, and n_devices
    epoch_sampler *samplers;
    device *devices;
    heavy_device *heavy_devices;
    uint32_t *fractions; // 2 w for each device: reference, previous
    uint8_t *signs;      // bit i of [group of 8 values][coordinate] is value 8 group + i's sign
    uint8_t *records;
    worker *workers;
} world;

// Values are taken 32 at a time; those beyond the last have no samples.
static size_t padded(uint32_t n_values)
{
    return ((size_t)n_values + 31) / 32 * 32;
}

// ---- values ----

agg_err track_items(uint64_t *items, agg_error *error, const agg_recipe *recipe,
                    const epoch_counts *counts)
{
    for (uint32_t i = 0; i < counts->values.n; i++) {
        agg_text value = counts->values.texts[i];
        if (!agg_recipe_item(&items[i], recipe, value.bytes, value.len))
            return agg_fail(
                error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                "a value of the counts file is not a number of at most 12 digits and six decimals");
    }
    return SHOAL_OK;
}

agg_err track_truth(double *truth, agg_error *error, const agg_recipe *recipe,
                    const epoch_counts *counts, uint64_t n_devices, uint32_t n_epochs)
{
    double low = (double)recipe->recipe.low_micro / 1e6,
           high = (double)recipe->recipe.high_micro / 1e6;
    uint64_t *items = agg_alloc(error, counts->values.n, sizeof *items);
    double *numbers = agg_alloc(error, counts->values.n, sizeof *numbers);
    agg_err err = items == NULL || numbers == NULL ? AGG_ERR_MEMORY
                                                   : track_items(items, error, recipe, counts);
    for (uint32_t i = 0; err == SHOAL_OK && i < counts->values.n; i++)
        numbers[i] = low + (high - low) * ((double)items[i] / (double)SHOAL_NUMBER_ONE);
    for (uint32_t t = 0; err == SHOAL_OK && t < n_epochs; t++)
        truth[t] = epoch_counts_mean(counts, numbers, t + 1, n_devices);
    free(items);
    free(numbers);
    return err;
}

// ---- one device, one epoch ----

static void keep_books(worker *own, const world *w, const shoal_epoch_books *books)
{
    uint32_t spent = 2 * books->vote_micro + books->estimate_micro;
    own->n_spent += 4 * ((uint64_t)books->vote_micro + w->run.vote_micro) > w->run.eps_micro;
    if (spent > own->privacy) own->privacy = spent;
}

static agg_err run_device(worker *own, const world *w, uint64_t i, const epoch_sampler *sampler)
{
    const shoal_recipe *r = &w->recipe->recipe;
    device *d = &w->devices[i];
    uint64_t items[2], mean = epoch_sampler_mean(sampler, &d->rng);
    if (shoal_thresh_step(items, &d->state, &w->run, r->round_index, r->round_update, mean) !=
        SHOAL_EPOCH_ACCEPTED)
        return SHOAL_ERR_ARGUMENT;
    keep_books(own, w, &d->state.books);
    return shoal_record_randomize(w->records + i * r->record_size, r, items, 2, NULL, &d->rng);
}

// Writes to sums[x] the sum of the counts whose bit is set in x.
static void fill_sums(uint32_t sums[256], const uint32_t counts[8])
{
    for (uint32_t x = 1, top = 0; x < 256; x++) {
        if (x >= 2u << top) top++;
        sums[x] = sums[x - (1u << top)] + counts[top];
    }
}

// Counts the samples whose value has the sign + at each coordinate, 32 values at a time by four
// tables.
static void project(uint32_t *positive, const worker *own, const world *w)
{
    uint32_t(*sums)[256] = own->sums;
    memset(positive, 0, w->w * sizeof *positive);
    for (size_t g = 0; 8 * g < w->n_values; g += 4) {
        const uint8_t *a = w->signs + g * w->w, *b = a + w->w, *c = b + w->w, *d = c + w->w;
        for (size_t i = 0; i < 4; i++) fill_sums(sums[i], own->counts + 8 * (g + i));
        for (uint32_t j = 0; j < w->w; j++)
            positive[j] += sums[0][a[j]] + sums[1][b[j]] + sums[2][c[j]] + sums[3][d[j]];
    }
}

static agg_err run_heavy_device(worker *own, const world *w, uint64_t i,
                                const epoch_sampler *sampler)
{
    const shoal_recipe *r = &w->recipe->recipe;
    heavy_device *d = &w->heavy_devices[i];
    uint32_t *reference = w->fractions + 2 * i * w->w;
    uint64_t vote = 0, sends = 0;
    epoch_sampler_counts(own->counts, sampler, &d->rng);
    project(own->now, own, w);
    shoal_heavythresh_fractions(own->now, own->now, w->w, r->samples);
    if (shoal_heavythresh_step(&vote, &sends, &d->books, reference, reference + w->w, &w->run, w->w,
                               r->round_index, r->round_update, own->now) != SHOAL_EPOCH_ACCEPTED)
        return SHOAL_ERR_ARGUMENT;
    keep_books(own, w, &d->books);
    shoal_heavythresh_record(w->records + i * r->record_size, r, vote, sends, reference, &d->rng);
    return SHOAL_OK;
}

// ---- one epoch ----

static void run_group(worker *own, const world *w, uint32_t group, uint64_t start, uint64_t stop)
{
    const epoch_sampler *sampler = &w->samplers[group];
    if (w->w > 0) memset(own->counts, 0, padded(w->n_values) * sizeof *own->counts);
    for (uint64_t i = start; i < stop && own->err == SHOAL_OK; i++)
        own->err = w->w > 0 ? run_heavy_device(own, w, i, sampler) : run_device(own, w, i, sampler);
}

static void run_part(void *context, unsigned part, unsigned n_parts)
{
    const world *w = context;
    worker own = w->workers[part]; // a copy, since other threads write to its neighbours in memory
    uint64_t n = w->simulation->n_devices, start = n * part / n_parts,
             stop = n * (part + 1) / n_parts;
    own.n_spent = 0;
    own.privacy = 0;
    for (uint32_t g = 0; g < w->n_groups; g++) {
        uint64_t from = w->first[g] > start ? w->first[g] : start;
        uint64_t to = w->first[g + 1] < stop ? w->first[g + 1] : stop;
        if (from < to) run_group(&own, w, g, from, to);
    }
    w->workers[part] = own;
}

static agg_err set_samplers(world *w, agg_error *error)
{
    const shoal_recipe *r = &w->recipe->recipe;
    uint32_t epoch = r->round_index < r->epochs
                         ? r->round_index
                         : r->epochs; // the closing epoch has no law of its own
    for (uint32_t g = 0; g < w->n_groups; g++) {
        const epoch_law *law = epoch_counts_law(w->simulation->counts, g, epoch);
        agg_err err = epoch_sampler_set(&w->samplers[g], error, w->simulation->counts, law,
                                        w->items, r->samples);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

static agg_err settle(track_spent *spent, agg_error *error, const world *w)
{
    uint64_t n_spent = 0;
    uint32_t privacy = 0, at = w->recipe->recipe.round_index - 1;
    for (unsigned t = 0; t < w->simulation->n_threads; t++) {
        const worker *own = &w->workers[t];
        if (own->err != SHOAL_OK) return agg_fail_core(error, own->err, AGG_EXIT_RUNTIME);
        n_spent += own->n_spent;
        if (own->privacy > privacy) privacy = own->privacy;
    }
    if (privacy > w->run.eps_micro)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "a device has spent %.6f of epsilon %.6f: this must never happen",
                        privacy / 1e6, w->run.eps_micro / 1e6);
    if (at == w->recipe->recipe.epochs) at--; // the closing reports count to the last epoch
    spent->n = at + 1;
    spent->votes_spent[at] = (double)n_spent / (double)w->simulation->n_devices;
    spent->privacy[at] = privacy / 1e6;
    return SHOAL_OK;
}

// Runs the devices of an epoch and sums their reports.
static agg_err run_epoch(track_spent *spent, agg_accumulator *acc, agg_error *error, world *w)
{
    const track_simulation *s = w->simulation;
    const uint32_t most = (uint32_t)1 << 20;
    agg_err err = set_samplers(w, error);
    if (err != SHOAL_OK) return err;
    agg_parallel(s->n_threads, run_part, w);
    err = settle(spent, error, w);
    for (uint64_t i = 0; i < s->n_devices && err == SHOAL_OK; i += most) {
        uint32_t count = s->n_devices - i < most ? (uint32_t)(s->n_devices - i) : most;
        err = agg_accumulator_add(acc, error, w->records + i * w->recipe->recipe.record_size, count,
                                  s->n_threads);
    }
    return err;
}

// Reads the recipe that follows, or writes is_over if none does.
static agg_err follow(agg_recipe *after, bool *is_over, agg_error *error, const agg_recipe *recipe,
                      const agg_accumulator *acc)
{
    agg_next_epoch next;
    char *text = NULL;
    agg_err err = agg_next_epoch_decide(&next, error, recipe, acc);
    if (err != SHOAL_OK) return err;
    *is_over = next.is_over;
    if (next.is_over) return SHOAL_OK;
    err = agg_next_epoch_text(&text, error, recipe, &next);
    if (err == SHOAL_OK)
        err = agg_recipe_from_bytes(after, error, "the next recipe", text, strlen(text));
    free(text);
    return err;
}

// Runs one epoch from recipe to sink; the next recipe replaces this one.
static agg_err live_epoch(track_spent *spent, bool *is_over, agg_error *error, world *w,
                          agg_recipe *recipe)
{
    const track_simulation *s = w->simulation;
    agg_accumulator acc;
    agg_recipe after = {0};
    w->recipe = recipe;
    agg_err err = agg_accumulator_init(&acc, error, &recipe->recipe);
    if (err != SHOAL_OK) return err;
    err = run_epoch(spent, &acc, error, w);
    if (err == SHOAL_OK) err = s->sink(s->sink_context, error, recipe, &acc);
    if (err == SHOAL_OK) err = follow(&after, is_over, error, recipe, &acc);
    agg_accumulator_release(&acc);
    if (err != SHOAL_OK || *is_over) return err;
    agg_recipe_release(recipe);
    *recipe = after;
    return SHOAL_OK;
}

static agg_err live(track_spent *spent, agg_error *error, world *w)
{
    const track_simulation *s = w->simulation;
    uint32_t most = s->n_epochs > 0 ? s->n_epochs : UINT32_MAX;
    bool is_over = false;
    agg_recipe recipe;
    agg_err err =
        agg_recipe_from_bytes(&recipe, error, s->recipe->id, s->recipe->json, s->recipe->json_len);
    if (err != SHOAL_OK) return err;
    for (uint32_t t = 0; t < most && !is_over && err == SHOAL_OK; t++) {
        err = live_epoch(spent, &is_over, error, w, &recipe);
        if (s->progress != NULL) s->progress(s->progress_context, t + 1);
    }
    agg_recipe_release(&recipe);
    return err;
}

// ---- the world ----

static void release_world(world *w)
{
    for (uint32_t g = 0; g < w->n_groups && w->samplers != NULL; g++)
        epoch_sampler_release(&w->samplers[g]);
    for (unsigned t = 0; t < w->simulation->n_threads && w->workers != NULL; t++) {
        free(w->workers[t].counts);
        free(w->workers[t].now);
        free(w->workers[t].sums);
    }
    free(w->items);
    free(w->first);
    free(w->samplers);
    free(w->devices);
    free(w->heavy_devices);
    free(w->fractions);
    free(w->signs);
    free(w->records);
    free(w->workers);
}

static void start_devices(world *w)
{
    for (uint64_t i = 0; i < w->simulation->n_devices && w->w == 0; i++) {
        shoal_thresh_start(&w->devices[i].state);
        shoal_rng_init_stream(&w->devices[i].rng, w->simulation->seed, i);
    }
    for (uint64_t i = 0; i < w->simulation->n_devices && w->w > 0; i++)
        shoal_rng_init_stream(&w->heavy_devices[i].rng, w->simulation->seed, i);
    for (uint64_t j = 0; j < 2 * w->simulation->n_devices * w->w; j++)
        w->fractions[j] = SHOAL_HEAVYTHRESH_ONE / 2;
}

static void fill_signs(world *w, uint8_t *bits)
{
    uint32_t key[8];
    shoal_heavythresh_key(key, w->simulation->recipe->recipe.seed);
    for (uint32_t v = 0; v < w->n_values; v++) {
        uint8_t *out = w->signs + (size_t)(v / 8) * w->w;
        shoal_heavythresh_signs(bits, w->w, key, w->items[v]);
        for (uint32_t j = 0; j < w->w; j++)
            out[j] = (uint8_t)(out[j] | ((bits[j / 8] >> (j % 8) & 1) << (v % 8)));
    }
}

static agg_err build_heavy(world *w, agg_error *error)
{
    size_t n = (size_t)w->simulation->n_devices, n_fractions = 0;
    if (!agg_size_multiply(&n_fractions, n, 2 * (size_t)w->w))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "more devices than any memory holds");
    uint8_t *bits = agg_alloc(error, w->w / 8, 1);
    w->heavy_devices = agg_alloc(error, n, sizeof *w->heavy_devices);
    w->fractions = agg_alloc(error, n_fractions, sizeof *w->fractions);
    w->signs = agg_alloc(error, padded(w->n_values) / 8, w->w);
    bool is_built =
        bits != NULL && w->heavy_devices != NULL && w->fractions != NULL && w->signs != NULL;
    for (unsigned t = 0; t < w->simulation->n_threads && is_built; t++) {
        worker *own = &w->workers[t];
        own->counts = agg_alloc(error, padded(w->n_values), sizeof *own->counts);
        own->now = agg_alloc(error, w->w, sizeof *own->now);
        own->sums = agg_alloc(error, 4, sizeof *own->sums);
        is_built = own->counts != NULL && own->now != NULL && own->sums != NULL;
    }
    if (is_built) fill_signs(w, bits);
    free(bits);
    return is_built ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err build(world *w, agg_error *error)
{
    const track_simulation *s = w->simulation;
    w->items = agg_alloc(error, w->n_values, sizeof *w->items);
    w->first = agg_alloc(error, (size_t)w->n_groups + 1, sizeof *w->first);
    w->samplers = agg_alloc(error, w->n_groups, sizeof *w->samplers);
    w->records = agg_alloc(error, (size_t)s->n_devices, s->recipe->recipe.record_size);
    w->workers = agg_alloc(error, s->n_threads, sizeof *w->workers);
    if (w->items == NULL || w->first == NULL || w->samplers == NULL || w->records == NULL ||
        w->workers == NULL)
        return AGG_ERR_MEMORY;
    for (uint32_t g = 0; g <= w->n_groups; g++)
        w->first[g] = epoch_counts_first_device(s->counts, g, s->n_devices);
    agg_err err = track_items(w->items, error, s->recipe, s->counts);
    if (err != SHOAL_OK) return err;
    if (w->w > 0)
        err = build_heavy(w, error);
    else if ((w->devices = agg_alloc(error, (size_t)s->n_devices, sizeof *w->devices)) == NULL)
        err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) start_devices(w);
    return err;
}

static agg_err check(agg_error *error, const track_simulation *s)
{
    const shoal_recipe *r = &s->recipe->recipe;
    if (r->epochs == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: is not a recipe of a run over epochs", s->recipe->id);
    if (r->round_index != 1)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: a simulation begins with the recipe of epoch 1", s->recipe->id);
    if (s->counts->last_epoch > r->epochs)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "the counts file has epoch %u, but the run ends with epoch %u",
                        s->counts->last_epoch, r->epochs);
    return SHOAL_OK;
}

uint64_t track_simulation_memory(const track_simulation *simulation)
{
    const shoal_recipe *r = &simulation->recipe->recipe;
    uint64_t w = shoal_evolving_stated(r).projection, n_values = simulation->counts->values.n;
    uint64_t a_device =
        r->record_size + (w > 0 ? sizeof(heavy_device) + 2 * w * sizeof(uint32_t) : sizeof(device));
    uint64_t signs = w * padded((uint32_t)n_values) / 8,
             a_worker = sizeof(uint32_t) * (n_values + w + 4 * 256);
    return simulation->n_devices * a_device + n_values * sizeof(uint64_t) + signs +
           (w > 0 ? simulation->n_threads * a_worker : 0);
}

agg_err track_simulation_run(track_spent *spent, agg_error *error,
                             const track_simulation *simulation)
{
    const shoal_recipe *r = &simulation->recipe->recipe;
    memset(spent, 0, sizeof *spent);
    agg_err err = check(error, simulation);
    if (err != SHOAL_OK) return err;
    world w = {.simulation = simulation,
               .run = shoal_evolving_of(r),
               .w = shoal_evolving_stated(r).projection,
               .n_groups = simulation->counts->groups.n,
               .n_values = simulation->counts->values.n};
    spent->votes_spent = agg_alloc(error, r->epochs, sizeof *spent->votes_spent);
    spent->privacy = agg_alloc(error, r->epochs, sizeof *spent->privacy);
    err = spent->votes_spent == NULL || spent->privacy == NULL ? AGG_ERR_MEMORY : build(&w, error);
    if (err == SHOAL_OK) err = live(spent, error, &w);
    release_world(&w);
    if (err != SHOAL_OK) track_spent_release(spent);
    return err;
}

void track_spent_release(track_spent *spent)
{
    free(spent->votes_spent);
    free(spent->privacy);
    memset(spent, 0, sizeof *spent);
}
