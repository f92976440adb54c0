// SPDX-License-Identifier: Apache-2.0
// Simulated devices; see simulation.h.
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "batch.h"
#include "bytes.h"

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

// Streams of this seed hold the devices' permanent secrets.
static void secret_seed(uint8_t seed[32], const agg_simulation *s)
{
    static const char label[] = "shoal simulate secret";
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label - 1);
    shoal_sha256_update(&sha, s->seed, sizeof s->seed);
    shoal_sha256_final(seed, &sha);
}

static void batch_id(uint8_t id[16], const agg_simulation *s, uint64_t number)
{
    static const char label[] = "shoal simulate batch";
    uint8_t digest[32], eight[8];
    shoal_sha256 sha;
    store64_le(eight, number);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label - 1);
    shoal_sha256_update(&sha, s->seed, sizeof s->seed);
    shoal_sha256_update(&sha, s->recipe->recipe.recipe_hash, 32);
    shoal_sha256_update(&sha, eight, sizeof eight);
    shoal_sha256_final(digest, &sha);
    memcpy(id, digest, 16);
}

typedef struct device_round {
    const agg_simulation *simulation;
    const uint64_t *upto; // running sums of the counts
    uint64_t first;       // number of the round's first device
    uint32_t count;
    uint8_t *records;
    uint32_t *drawn; // the value's index of each device of the round
    shoal_err err[AGG_THREADS_MAX];
} device_round;

// The first value whose running sum is above the draw.
static uint32_t find_value(const uint64_t *upto, size_t n, uint64_t draw)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (upto[middle] > draw)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

static void run_devices(void *context, unsigned part, unsigned n_parts)
{
    device_round *r = context;
    const agg_simulation *s = r->simulation;
    uint32_t start = (uint32_t)((uint64_t)r->count * part / n_parts);
    uint32_t stop = (uint32_t)((uint64_t)r->count * (part + 1) / n_parts);
    size_t size = s->recipe->recipe.record_size;
    int is_permanent = shoal_recipe_is_permanent(&s->recipe->recipe);
    uint8_t secrets[32];
    shoal_permanent permanent;
    shoal_rng rng;
    secret_seed(secrets, s);
    for (uint32_t i = start; i < stop && r->err[part] == SHOAL_OK; i++) {
        if (is_permanent) {
            shoal_rng_init_stream(&rng, secrets, r->first + i);
            shoal_rng_bytes(&rng, permanent.secret, sizeof permanent.secret);
        }
        shoal_rng_init_stream(&rng, s->seed, r->first + i);
        r->drawn[i] = find_value(r->upto, s->counts->n, shoal_rng_below(&rng, s->counts->total));
        r->err[part] = shoal_record_randomize(r->records + i * size, &s->recipe->recipe, &s->counts->items[r->drawn[i]],
                                              1, is_permanent ? &permanent : NULL, &rng);
    }
}

static uint32_t batch_records(const agg_simulation *s)
{
    size_t fit = BATCH_BYTES / s->recipe->recipe.record_size;
    return fit < BATCH_RECORDS ? (uint32_t)fit : BATCH_RECORDS;
}

static shoal_err run_round(uint64_t *drawn, agg_error *error, device_round *r, uint8_t *batch, uint64_t number,
                           agg_batch_sink sink, void *sink_context)
{
    const agg_simulation *s = r->simulation;
    uint8_t id[16];
    size_t len = shoal_batch_size(&s->recipe->recipe, r->count);
    memset(r->err, 0, sizeof r->err);
    agg_parallel(s->n_threads, run_devices, r);
    for (unsigned t = 0; t < AGG_THREADS_MAX; t++)
        if (r->err[t] != SHOAL_OK) return agg_fail_core(error, r->err[t], AGG_EXIT_RUNTIME);
    for (uint32_t i = 0; i < r->count; i++) drawn[r->drawn[i]]++;
    batch_id(id, s, number);
    shoal_err err = shoal_batch_seal(batch, len, &s->recipe->recipe, r->count, id);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    return sink(sink_context, error, batch, len, r->count);
}

static shoal_err run_rounds(uint64_t *drawn, agg_error *error, device_round *r, uint8_t *batch, agg_batch_sink sink,
                            void *sink_context)
{
    const agg_simulation *s = r->simulation;
    uint32_t most = batch_records(s);
    for (uint64_t number = 0; r->first < s->n_devices; number++, r->first += r->count) {
        uint64_t left = s->n_devices - r->first;
        r->count = left < most ? (uint32_t)left : most;
        shoal_err err = run_round(drawn, error, r, batch, number, sink, sink_context);
        if (err != SHOAL_OK) return err;
        if (s->progress != NULL) s->progress(s->progress_context, r->first + r->count);
    }
    return SHOAL_OK;
}

shoal_err agg_simulation_run(uint64_t *drawn, agg_error *error, const agg_simulation *simulation, agg_batch_sink sink,
                             void *sink_context)
{
    const agg_simulation *s = simulation;
    uint32_t most = batch_records(s);
    if (s->recipe->recipe.n_parts != 1)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE, "only recipes of one variable can be simulated");
    uint64_t *upto = agg_alloc(error, s->counts->n, sizeof *upto);
    uint8_t *batch = agg_alloc(error, shoal_batch_size(&s->recipe->recipe, most), 1);
    uint32_t *index = agg_alloc(error, most, sizeof *index);
    shoal_err err = upto == NULL || batch == NULL || index == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        uint64_t sum = 0;
        for (size_t i = 0; i < s->counts->n; i++) {
            sum += s->counts->counts[i];
            upto[i] = sum;
            drawn[i] = 0;
        }
        device_round r = {s, upto, 0, 0, batch + SHOAL_BATCH_HEADER, index, {SHOAL_OK}};
        err = run_rounds(drawn, error, &r, batch, sink, sink_context);
    }
    free(upto);
    free(batch);
    free(index);
    return err;
}
