// SPDX-License-Identifier: Apache-2.0
// Simulated devices; see simulation.h.
#include "simulation.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "batch.h"
#include "bytes.h"
#include "recipe.h"
#include "sha256.h"
#include "trie.h"
#include "value_draw.h"

#define BATCH_RECORDS 65536u
#define BATCH_BYTES ((size_t)16 << 20)

void agg_simulation_seed(uint8_t seed[32], const char *text)
{
    static const char label[] = "shoal simulate seed";
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label - 1);
    shoal_sha256_update(&sha, (const uint8_t *)text, strlen(text));
    shoal_sha256_final(seed, &sha);
}

// Derives a seed for one purpose: SHA-256 of the label, the simulation's seed and, if there is one,
// a hash.
static void derive_seed(uint8_t seed[32], const agg_simulation *s, const char *label,
                        const uint8_t hash[32])
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, strlen(label));
    shoal_sha256_update(&sha, s->seed, sizeof s->seed);
    if (hash != NULL) shoal_sha256_update(&sha, hash, 32);
    shoal_sha256_final(seed, &sha);
}

// Writes the salt of a batch, or its id in version 1.
static void batch_salt(uint8_t salt[16], const agg_simulation *s, uint64_t number)
{
    static const char label[] = "shoal simulate batch";
    uint8_t digest[32], eight[8];
    shoal_sha256 sha;
    store64_le(eight, number);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label - 1);
    shoal_sha256_update(&sha, s->seed, sizeof s->seed);
    shoal_sha256_update(&sha, s->recipe->recipe->recipe_hash, 32);
    shoal_sha256_update(&sha, eight, sizeof eight);
    store64_le(eight, s->first);
    if (s->first > 0) shoal_sha256_update(&sha, eight, sizeof eight);
    shoal_sha256_final(digest, &sha);
    memcpy(salt, digest, 16);
}

// Seals the records at *batch + SHOAL_BATCH_HEADER. A batch of version 1 has a shorter header, so
// it begins later.
static shoal_err seal(uint8_t **batch, size_t *len, const agg_simulation *s, uint32_t count,
                      const uint8_t salt[16])
{
    const shoal_recipe *recipe = s->recipe->recipe;
    uint32_t day = s->day > 0 ? s->day : AGG_SIMULATION_DAY;
    *len = s->is_batch_v1 ? shoal_batch_size_v1(recipe, count) : shoal_batch_size(recipe, count);
    if (!s->is_batch_v1) return shoal_batch_seal(*batch, *len, recipe, count, day, salt);
    *batch += SHOAL_BATCH_HEADER - SHOAL_BATCH_HEADER_V1;
    return shoal_batch_seal_v1(*batch, *len, recipe, count, salt);
}

// Values of `drawn` for devices that drew no cell, besides those of window_simulation.h:
#define AT_RANDOM (UINT32_MAX - 1) // no event matched, and the device answered at random
#define OUTSIDE UINT32_MAX         // the device sends to another part

typedef struct device_round {
    agg_err (*run)(uint8_t *records, uint32_t *drawn, struct device_round *r, uint64_t device,
                   unsigned part);
    const agg_simulation *simulation;
    const uint64_t *upto;           // running sums of the counts
    uint8_t secrets[32], coins[32]; // seeds
    uint64_t first;                 // number of the first device of this round of batches
    uint32_t count;
    uint32_t per_device; // records
    uint8_t *records;
    uint32_t *drawn; // the index in drawn.counts of each record of the round, or one of the above
    agg_window_law law;                        // with windows
    agg_window_tally tallies[AGG_THREADS_MAX]; // with windows, of each thread
    agg_err err[AGG_THREADS_MAX];
} device_round;

static bool has_events(const agg_simulation *s)
{
    return s->counts->kinds != NULL;
}

size_t agg_drawn_size(const agg_simulation *simulation)
{
    return has_events(simulation) ? simulation->recipe->recipe->parts[0].size
                                  : simulation->counts->n;
}

static agg_err run_device(uint8_t *record, uint32_t *drawn, device_round *r, uint64_t device,
                          unsigned part)
{
    (void)part;
    const agg_simulation *s = r->simulation;
    bool is_permanent = shoal_recipe_is_permanent(s->recipe->recipe);
    shoal_permanent permanent;
    shoal_rng rng;
    if (is_permanent) {
        shoal_rng_init_stream(&rng, r->secrets, device);
        shoal_rng_bytes(&rng, permanent.secret, sizeof permanent.secret);
    }
    shoal_rng_init_stream(&rng, s->seed, device);
    *drawn = agg_draw_value(r->upto, s->counts->n, &rng);
    const agg_text *value = &s->counts->values[*drawn];
    size_t width = s->counts->width;
    if (width == 1 && !agg_recipe_is_closed(s->recipe))
        return shoal_record_randomize_string(record, s->recipe->recipe,
                                             (const uint8_t *)value->bytes, value->len,
                                             is_permanent ? &permanent : NULL, &rng);
    return shoal_record_randomize(record, s->recipe->recipe, &s->counts->items[*drawn * width],
                                  (uint32_t)width, is_permanent ? &permanent : NULL, &rng);
}

// Draws the device's events; the first one decides its part.
//   matching: written; the events of that part that match
// Returns: the first event, or OUTSIDE if its part is not the recipe's.
static uint32_t draw_events(uint32_t matching[AGG_EVENTS_MAX], uint32_t *n_matching,
                            const device_round *r, uint64_t device)
{
    const agg_simulation *s = r->simulation;
    uint32_t first = 0;
    shoal_rng rng;
    shoal_rng_init_stream(&rng, s->seed, device);
    *n_matching = 0;
    for (uint32_t i = 0; i < s->n_events; i++) {
        uint32_t event = agg_draw_value(r->upto, s->counts->n, &rng);
        uint8_t kind = s->counts->kinds[event];
        if (kind & AGG_EVENT_MATCHES && kind & AGG_EVENT_IN_PART) matching[(*n_matching)++] = event;
        if (i == 0) first = event;
    }
    return s->counts->kinds[first] & AGG_EVENT_IN_PART ? first : OUTSIDE;
}

static agg_err run_device_with_events(uint8_t *record, uint32_t *drawn, device_round *r,
                                      uint64_t device, unsigned part)
{
    (void)part;
    const agg_simulation *s = r->simulation;
    const shoal_recipe *recipe = s->recipe->recipe;
    uint32_t matching[AGG_EVENTS_MAX], n = 0;
    shoal_rng coins;
    shoal_rng_init_stream(&coins, r->coins, device);
    *drawn = draw_events(matching, &n, r, device);
    if (*drawn == OUTSIDE) return SHOAL_OK;
    uint64_t item = n > 0 ? s->counts->items[matching[shoal_rng_below(&coins, n)]]
                          : shoal_rng_below(&coins, recipe->parts[0].size);
    *drawn = n > 0 ? (uint32_t)item : AT_RANDOM;
    return shoal_record_randomize(record, recipe, &item, 1, NULL, &coins);
}

// Draws all words of a device and writes a record for each contribution.
static agg_err run_device_of_trie(uint8_t *records, uint32_t *drawn, device_round *r,
                                  uint64_t device, unsigned part)
{
    (void)part;
    const agg_simulation *s = r->simulation;
    const shoal_recipe *recipe = s->recipe->recipe;
    uint32_t words[AGG_EVENTS_MAX], n = 0;
    uint64_t items[SHOAL_TRIE_CONTRIBUTIONS_MAX];
    shoal_rng coins;
    shoal_rng_init_stream(&coins, r->coins, device);
    bool is_outside = draw_events(words, &n, r, device) == OUTSIDE;
    for (uint32_t i = 0; i < n; i++) words[i] = (uint32_t)s->counts->items[words[i]];
    agg_err err = is_outside ? SHOAL_OK : shoal_trie_choose(items, recipe, words, n, &coins);
    for (uint32_t i = 0; i < r->per_device && err == SHOAL_OK; i++) {
        drawn[i] = OUTSIDE;
        if (is_outside) continue;
        drawn[i] = items[i] == SHOAL_ITEM_NONE ? AGG_DRAWN_NOTHING : (uint32_t)items[i];
        err = shoal_record_randomize(records + (size_t)i * recipe->record_size, recipe, &items[i],
                                     1, NULL, &coins);
    }
    return err;
}

static agg_err run_device_in_windows(uint8_t *records, uint32_t *drawn, device_round *r,
                                     uint64_t device, unsigned part)
{
    return agg_window_device(records, drawn, &r->tallies[part], &r->law, device);
}

static void run_devices(void *context, unsigned part, unsigned n_parts)
{
    device_round *r = context;
    const agg_simulation *s = r->simulation;
    uint32_t start = (uint32_t)((uint64_t)r->count * part / n_parts);
    uint32_t stop = (uint32_t)((uint64_t)r->count * (part + 1) / n_parts);
    size_t size = (size_t)s->recipe->recipe->record_size * r->per_device;
    for (uint32_t i = start; i < stop && r->err[part] == SHOAL_OK; i++)
        r->err[part] = r->run(r->records + i * size, r->drawn + (size_t)i * r->per_device, r,
                              r->first + i, part);
}

// Counts the drawn values and closes the gaps of devices that send nothing. Returns: the number of
// records that are left.
static uint32_t settle(agg_drawn *drawn, device_round *r)
{
    size_t size = r->simulation->recipe->recipe->record_size;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count * r->per_device; i++) {
        drawn->n_outside += r->drawn[i] == OUTSIDE && i % r->per_device == 0;
        drawn->n_random += r->drawn[i] == AT_RANDOM;
        drawn->n_nothing += r->drawn[i] == AGG_DRAWN_NOTHING;
        if (r->drawn[i] == OUTSIDE || r->drawn[i] == AGG_DRAWN_SILENT) continue;
        if (r->drawn[i] < AGG_DRAWN_SILENT) drawn->counts[r->drawn[i]]++;
        if (kept != i) memcpy(r->records + kept * size, r->records + i * size, size);
        kept++;
    }
    return kept;
}

static uint32_t records_per_device(const agg_simulation *s)
{
    const shoal_recipe *recipe = s->recipe->recipe;
    if (s->windows != NULL) return s->windows->days * recipe->per_day;
    return recipe->contributions > 0 ? recipe->contributions : 1;
}

// Returns: devices of one batch, at least one; no device has more than 1000 records of 16 KiB.
static uint32_t batch_devices(const agg_simulation *s)
{
    size_t fit = BATCH_BYTES / s->recipe->recipe->record_size;
    return (fit < BATCH_RECORDS ? (uint32_t)fit : BATCH_RECORDS) / records_per_device(s);
}

static agg_err run_round(agg_drawn *drawn, agg_error *error, device_round *r, uint8_t *batch,
                         uint64_t number, agg_batch_sink sink, void *sink_context)
{
    const agg_simulation *s = r->simulation;
    uint8_t salt[16];
    memset(r->err, 0, sizeof r->err);
    agg_parallel(s->n_threads, run_devices, r);
    for (unsigned t = 0; t < AGG_THREADS_MAX; t++)
        if (r->err[t] != SHOAL_OK) return agg_fail_core(error, r->err[t], AGG_EXIT_RUNTIME);
    uint32_t count = settle(drawn, r);
    drawn->n_reports += count;
    if (count == 0) return SHOAL_OK;
    size_t len;
    batch_salt(salt, s, number);
    agg_err err = seal(&batch, &len, s, count, salt);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    return sink(sink_context, error, batch, len, count);
}

static agg_err run_rounds(agg_drawn *drawn, agg_error *error, device_round *r, uint8_t *batch,
                          agg_batch_sink sink, void *sink_context)
{
    const agg_simulation *s = r->simulation;
    uint32_t most = batch_devices(s);
    uint64_t done = 0;
    for (uint64_t number = 0; done < s->n_devices; number++, done += r->count) {
        uint64_t left = s->n_devices - done;
        r->first = s->first + done;
        r->count = left < most ? (uint32_t)left : most;
        agg_err err = run_round(drawn, error, r, batch, number, sink, sink_context);
        if (err != SHOAL_OK) return err;
        if (s->progress != NULL) s->progress(s->progress_context, done + r->count);
    }
    return SHOAL_OK;
}

static void start_round(device_round *r, agg_drawn *drawn, const agg_simulation *s, uint64_t *upto)
{
    agg_running_sums(upto, s->counts->counts, s->counts->n);
    memset(drawn->counts, 0, agg_drawn_size(s) * sizeof *drawn->counts);
    drawn->n_random = drawn->n_nothing = drawn->n_outside = drawn->n_reports = 0;
    r->per_device = records_per_device(s);
    r->run = s->windows != NULL                     ? run_device_in_windows
             : !has_events(s)                       ? run_device
             : s->recipe->recipe->contributions > 0 ? run_device_of_trie
                                                    : run_device_with_events;
    r->simulation = s;
    r->upto = upto;
    derive_seed(r->secrets, s, "shoal simulate secret", NULL);
    derive_seed(r->coins, s, "shoal simulate coins", s->recipe->recipe->query_hash);
}

// ---- windows ----

// What a simulation of windows needs beside the rest.
typedef struct window_memory {
    uint64_t *openings_upto; // NULL without openings
    uint64_t *shares;        // of each thread, one after the other; NULL where they are not wanted
} window_memory;

static agg_err start_windows(device_round *r, window_memory *m, agg_drawn *drawn, agg_error *error)
{
    const agg_simulation *s = r->simulation;
    size_t n = s->counts->n;
    if (s->windows == NULL) return SHOAL_OK;
    agg_window_law *law = &r->law;
    *law = (agg_window_law){.recipe = s->recipe,
                            .counts = s->counts,
                            .windows = s->windows,
                            .upto = r->upto,
                            .openings_upto = r->upto,
                            .unit = agg_windows_unit(s->windows)};
    agg_running_sums(law->sizes_upto, s->windows->size_weights, s->windows->n_sizes);
    derive_seed(law->crowd, s, "shoal simulate windows", NULL);
    derive_seed(law->coins, s, "shoal simulate window coins", s->recipe->recipe->recipe_hash);
    memcpy(law->secrets, r->secrets, sizeof law->secrets);
    drawn->windows.n_windows = drawn->windows.n_active = drawn->windows.n_lost = 0;
    if (s->windows->openings != NULL) {
        m->openings_upto = agg_alloc(error, n, sizeof *m->openings_upto);
        if (m->openings_upto == NULL) return AGG_ERR_MEMORY;
        agg_running_sums(m->openings_upto, s->windows->openings, n);
        law->openings_upto = m->openings_upto;
    }
    if (drawn->windows.shares == NULL) return SHOAL_OK;
    m->shares = agg_alloc(error, n * s->n_threads, sizeof *m->shares);
    if (m->shares == NULL) return AGG_ERR_MEMORY;
    for (unsigned t = 0; t < s->n_threads; t++) r->tallies[t].shares = m->shares + n * t;
    return SHOAL_OK;
}

// Adds up what the threads counted.
static void end_windows(agg_drawn *drawn, const device_round *r)
{
    const agg_simulation *s = r->simulation;
    agg_window_tally *all = &drawn->windows;
    size_t n = s->counts->n;
    if (s->windows == NULL) return;
    if (all->shares != NULL) memset(all->shares, 0, n * sizeof *all->shares);
    for (unsigned t = 0; t < s->n_threads; t++) {
        const agg_window_tally *own = &r->tallies[t];
        all->n_windows += own->n_windows;
        all->n_active += own->n_active;
        all->n_lost += own->n_lost;
        for (size_t i = 0; all->shares != NULL && i < n; i++) all->shares[i] += own->shares[i];
    }
}

uint64_t agg_simulation_memory(const agg_simulation *simulation)
{
    const shoal_recipe *recipe = simulation->recipe->recipe;
    uint64_t most = batch_devices(simulation),
             n = (simulation->n_devices < most ? simulation->n_devices : most) *
                 records_per_device(simulation);
    uint64_t sums =
        1; // running sums; with windows also those of openings, and each thread's shares
    if (simulation->windows != NULL) sums += 1 + simulation->n_threads;
    return simulation->counts->n * sums * sizeof(uint64_t) + shoal_batch_size(recipe, (uint32_t)n) +
           n * sizeof(uint32_t);
}

agg_err agg_simulation_run(agg_drawn *drawn, agg_error *error, const agg_simulation *simulation,
                           agg_batch_sink sink, void *sink_context)
{
    const agg_simulation *s = simulation;
    if (s->windows != NULL) {
        agg_err refused = agg_windows_check(error, s->windows, s->recipe);
        if (refused != SHOAL_OK) return refused;
    }
    uint32_t most = batch_devices(s) * records_per_device(s);
    if (s->recipe->recipe->n_parts != s->counts->width && agg_recipe_is_closed(s->recipe))
        return agg_fail(
            error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
            "the counts have one value a device, and devices of this recipe send several");
    uint64_t *upto = agg_alloc(error, s->counts->n, sizeof *upto);
    uint8_t *batch = agg_alloc(error, shoal_batch_size(s->recipe->recipe, most), 1);
    uint32_t *index = agg_alloc(error, most, sizeof *index);
    agg_err err = upto == NULL || batch == NULL || index == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    window_memory windows = {NULL, NULL};
    if (err == SHOAL_OK) {
        device_round r = {.records = batch + SHOAL_BATCH_HEADER, .drawn = index};
        start_round(&r, drawn, s, upto);
        err = start_windows(&r, &windows, drawn, error);
        if (err == SHOAL_OK) err = run_rounds(drawn, error, &r, batch, sink, sink_context);
        if (err == SHOAL_OK) end_windows(drawn, &r);
    }
    free(windows.openings_upto);
    free(windows.shares);
    free(upto);
    free(batch);
    free(index);
    return err;
}
