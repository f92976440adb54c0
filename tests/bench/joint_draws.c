// SPDX-License-Identifier: Apache-2.0
// Simulated devices of two variables; see joint_draws.h.
#include "joint_draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "record.h"

#define SEED_X "00112233445566778899aabbccddeeff00112233445566778899aabbccddee01"
#define SEED_Y "00112233445566778899aabbccddeeff00112233445566778899aabbccddee02"

shoal_err joint_draws_recipe(agg_recipe *recipe, agg_error *error, const char *mechanism, const uint32_t sizes[2],
                             double epsilon)
{
    char text[2048], parameters[2][256];
    double p = ceil(1e6 / (1 + exp(epsilon / 2))) / 1e6;
    int is_rappor = strcmp(mechanism, "rappor") == 0;
    for (int v = 0; v < 2; v++) {
        if (is_rappor)
            snprintf(parameters[v], sizeof parameters[v], "{\"size\":%u,\"p\":%.6f,\"q\":%.6f,\"f\":0},\"seed\":\"%s\"",
                     sizes[v], p, 1 - p, v == 0 ? SEED_X : SEED_Y);
        else
            snprintf(parameters[v], sizeof parameters[v], "{\"size\":%u,\"epsilon\":%g}", sizes[v], epsilon);
    }
    snprintf(text, sizeof text,
             "{\"recipe\":\"study\",\"analysis\":\"a\",\"stream\":\"s\",\"variables\":["
             "{\"name\":\"x\",\"value\":\"item\",\"mechanism\":\"%s\",\"parameters\":%s},"
             "{\"name\":\"y\",\"value\":\"item\",\"mechanism\":\"%s\",\"parameters\":%s}],"
             "\"limit\":{\"per_day\":1},\"records\":{\"keep_days\":30},\"expires\":\"2030-01-01\"}",
             mechanism, parameters[0], mechanism, parameters[1]);
    return agg_recipe_from_bytes(recipe, error, "study", text, strlen(text));
}

double joint_draws_uniform(shoal_rng *rng)
{
    return (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
}

// Returns: the first index with cumulative[i] > u.
static size_t find(const double *cumulative, size_t n, double u)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cumulative[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Adds up to one buffer of records.
static shoal_err add_some(agg_accumulator *acc, agg_error *error, const shoal_recipe *recipe, const double *cumulative,
                          uint8_t *records, uint32_t count, shoal_rng *rng)
{
    static const shoal_permanent permanent = {{1}}; // f is 0: no permanent coin is ever thrown
    size_t width = recipe->parts[1].size, n_cells = recipe->parts[0].size * width;
    for (uint32_t i = 0; i < count; i++) {
        size_t cell = find(cumulative, n_cells, joint_draws_uniform(rng) * cumulative[n_cells - 1]);
        const uint64_t items[2] = {cell / width, cell % width};
        shoal_err err = shoal_record_randomize(records + i * recipe->record_size, recipe, items, 2, &permanent, rng);
        if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    }
    return agg_accumulator_add(acc, error, records, count, 1);
}

static shoal_err add_all(agg_accumulator *acc, agg_error *error, const shoal_recipe *recipe, const double *table,
                         uint64_t n, uint64_t seed)
{
    enum { BUFFER = 1 << 17 };
    size_t n_cells = (size_t)recipe->parts[0].size * recipe->parts[1].size;
    double *cumulative = agg_alloc(error, n_cells, sizeof *cumulative);
    uint8_t *records = agg_alloc(error, n < BUFFER ? (size_t)n : BUFFER, recipe->record_size);
    shoal_err err = cumulative != NULL && records != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    if (err == SHOAL_OK) {
        uint8_t bytes[32] = "joint draws";
        shoal_rng rng;
        shoal_rng_init_stream(&rng, bytes, seed);
        cumulative[0] = table[0];
        for (size_t i = 1; i < n_cells; i++) cumulative[i] = cumulative[i - 1] + table[i];
        while (n > 0 && err == SHOAL_OK) {
            uint32_t count = n < BUFFER ? (uint32_t)n : BUFFER;
            err = add_some(acc, error, recipe, cumulative, records, count, &rng);
            n -= count;
        }
    }
    free(cumulative);
    free(records);
    return err;
}

shoal_err joint_draws_records(agg_accumulator *acc, agg_error *error, const agg_recipe *recipe, const double *table,
                              uint64_t n, uint64_t seed)
{
    shoal_err err = agg_accumulator_init(acc, error, &recipe->recipe);
    if (err != SHOAL_OK) return err;
    err = add_all(acc, error, &recipe->recipe, table, n, seed);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    return err;
}

shoal_err joint_draws_data(agg_joint_data *data, agg_error *error, const agg_recipe *recipe, const double *table,
                           uint64_t n, uint64_t seed, const uint32_t n_named[2], int has_other, unsigned n_threads)
{
    uint64_t items[JOINT_DRAWS_SIZE_MAX];
    agg_joint_categories categories[2];
    agg_accumulator acc;
    for (uint32_t i = 0; i < JOINT_DRAWS_SIZE_MAX; i++) items[i] = i;
    for (uint32_t v = 0; v < 2; v++) categories[v] = (agg_joint_categories){v, n_named[v], items, NULL, has_other};
    shoal_err err = joint_draws_records(&acc, error, recipe, table, n, seed);
    if (err != SHOAL_OK) return err;
    err = agg_joint_data_make(data, error, recipe->recipe.parts, &acc, categories, 2, n_threads);
    agg_accumulator_release(&acc);
    return err;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double joint_draws_uniformity(double *x, size_t n)
{
    double distance = 0, sum = 0, root = sqrt((double)n);
    qsort(x, n, sizeof *x, ascending);
    for (size_t i = 0; i < n; i++)
        distance = fmax(distance, fmax((double)(i + 1) / (double)n - x[i], x[i] - (double)i / (double)n));
    double lambda = (root + 0.12 + 0.11 / root) * distance;
    if (lambda < 0.2) return 1; // the series' own value to 12 digits
    for (int k = 1; k <= 100; k++) sum += (k % 2 == 1 ? 2 : -2) * exp(-2.0 * k * k * lambda * lambda);
    return fmin(fmax(sum, 0), 1);
}
