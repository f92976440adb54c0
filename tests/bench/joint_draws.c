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

// Writes the members of one variable behind its name and value.
static void print_mechanism(char text[512], const char *name, uint32_t size, double epsilon,
                            const char *seed)
{
    const char *const keys = "\"hash\":\"poly1\",\"seed\":";
    int is_bloom = strncmp(name, "bloom", 5) == 0;
    double p = ceil(1e6 / (1 + exp(epsilon / (is_bloom ? 4 : 2)))) /
               1e6; // 2 bits, or 4, that two values differ in
    if (is_bloom)
        snprintf(text, 512,
                 "\"mechanism\":\"rappor\",\"parameters\":{\"bits\":32,\"hashes\":2,\"cohorts\":%d,"
                 "\"p\":%.6f,\"q\":%.6f,"
                 "\"f\":0},%s\"%s\"",
                 name[5] == '\0' ? 8 : 1024, p, 1 - p, keys, seed);
    else if (strcmp(name, "rappor") == 0)
        snprintf(text, 512,
                 "\"mechanism\":\"rappor\",\"parameters\":{\"size\":%u,\"p\":%.6f,\"q\":%.6f,\"f\":"
                 "0},\"seed\":\"%s\"",
                 size, p, 1 - p, seed);
    else if (strcmp(name, "cms") == 0 || strcmp(name, "hcms") == 0)
        snprintf(
            text, 512,
            "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":%g,\"k\":1024,\"m\":1024},%s\"%s\"",
            name, epsilon, keys, seed);
    else if (strncmp(name, "olh", 3) == 0)
        snprintf(text, 512,
                 "\"mechanism\":\"olh\",\"parameters\":{\"epsilon\":%g,\"k\":%d,\"g\":16},%s\"%s\"",
                 epsilon, name[3] == '\0' ? 65536 : 64, keys, seed);
    else
        snprintf(text, 512, "\"mechanism\":\"%s\",\"parameters\":{\"size\":%u,\"epsilon\":%g}",
                 name, size, epsilon);
}

static void name_items(joint_world *world)
{
    for (uint32_t v = 0; v < 2; v++) {
        const shoal_part *part = shoal_recipe_part(world->recipe.recipe, v);
        for (uint32_t i = 0; i < world->sizes[v]; i++) {
            char value[16];
            int len = snprintf(value, sizeof value, "value%u", i);
            world->items[v][i] = part->domain == SHOAL_DOMAIN_CLOSED
                                     ? i
                                     : shoal_part_item(part, (const uint8_t *)value, (size_t)len);
        }
    }
}

agg_err joint_world_make(joint_world *world, agg_error *error, const char *mechanism,
                         const uint32_t sizes[2], double epsilon)
{
    char text[2048], parts[2][512];
    for (int v = 0; v < 2; v++) {
        world->sizes[v] = sizes[v];
        print_mechanism(parts[v], mechanism, sizes[v], epsilon, v == 0 ? SEED_X : SEED_Y);
    }
    int is_open = strncmp(mechanism, "bloom", 5) == 0 || strncmp(mechanism, "olh", 3) == 0 ||
                  strstr(mechanism, "cms") != NULL;
    snprintf(text, sizeof text,
             "{\"recipe\":\"study\",\"analysis\":\"a\",\"stream\":\"s\",\"variables\":["
             "{\"name\":\"x\",\"value\":\"%s\",%s},{\"name\":\"y\",\"value\":\"%s\",%s}],"
             "\"limit\":{\"per_day\":1},\"records\":{\"keep_days\":30},\"expires\":\"2030-01-01\"}",
             is_open ? "word" : "item", parts[0], is_open ? "word" : "item", parts[1]);
    agg_err err = agg_recipe_from_bytes(&world->recipe, error, "study", text, strlen(text));
    if (err == SHOAL_OK) name_items(world);
    return err;
}

void joint_world_release(joint_world *world)
{
    agg_recipe_release(&world->recipe);
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
static agg_err add_some(agg_accumulator *acc, agg_error *error, const joint_world *world,
                        const double *cumulative, uint8_t *records, uint32_t count, shoal_rng *rng)
{
    const shoal_recipe *recipe = world->recipe.recipe;
    shoal_permanent permanent = {
        {1}}; // f is 0: of a list no permanent coin is ever thrown; of strings it is the cohort
    int is_cohorts = shoal_recipe_part(recipe, 0)->k > 1 &&
                     shoal_recipe_part(recipe, 0)->mechanism == shoal_rappor_id;
    size_t width = world->sizes[1], n_cells = world->sizes[0] * width;
    for (uint32_t i = 0; i < count; i++) {
        size_t cell = find(cumulative, n_cells, joint_draws_uniform(rng) * cumulative[n_cells - 1]);
        const uint64_t items[2] = {world->items[0][cell / width], world->items[1][cell % width]};
        if (is_cohorts) shoal_rng_bytes(rng, permanent.secret, sizeof permanent.secret);
        agg_err err = shoal_record_randomize(records + i * shoal_record_size(recipe), recipe, items,
                                             2, &permanent, rng);
        if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    }
    return agg_accumulator_add(acc, error, records, count, 1);
}

static agg_err add_all(agg_accumulator *acc, agg_error *error, const joint_world *world,
                       const double *table, uint64_t n, uint64_t seed)
{
    enum { BUFFER = 1 << 17 };
    size_t n_cells = (size_t)world->sizes[0] * world->sizes[1];
    double *cumulative = agg_alloc(error, n_cells, sizeof *cumulative);
    uint8_t *records =
        agg_alloc(error, n < BUFFER ? (size_t)n : BUFFER, shoal_record_size(world->recipe.recipe));
    agg_err err = cumulative != NULL && records != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    if (err == SHOAL_OK) {
        static const uint8_t bytes[32] = "joint draws";
        shoal_rng rng;
        shoal_rng_init_stream(&rng, bytes, seed);
        cumulative[0] = table[0];
        for (size_t i = 1; i < n_cells; i++) cumulative[i] = cumulative[i - 1] + table[i];
        while (n > 0 && err == SHOAL_OK) {
            uint32_t count = n < BUFFER ? (uint32_t)n : BUFFER;
            err = add_some(acc, error, world, cumulative, records, count, &rng);
            n -= count;
        }
    }
    free(cumulative);
    free(records);
    return err;
}

agg_err joint_draws_records(agg_accumulator *acc, agg_error *error, const joint_world *world,
                            const double *table, uint64_t n, uint64_t seed)
{
    agg_err err = agg_accumulator_init(acc, error, world->recipe.recipe);
    if (err != SHOAL_OK) return err;
    err = add_all(acc, error, world, table, n, seed);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    return err;
}

agg_err joint_draws_data(agg_joint_data *data, agg_error *error, const joint_world *world,
                         const double *table, uint64_t n, uint64_t seed, const uint32_t n_named[2],
                         int has_other, unsigned n_threads)
{
    agg_joint_categories categories[2];
    agg_accumulator acc;
    for (uint32_t v = 0; v < 2; v++)
        categories[v] = (agg_joint_categories){v, n_named[v], world->items[v], NULL, has_other};
    agg_err err = joint_draws_records(&acc, error, world, table, n, seed);
    if (err != SHOAL_OK) return err;
    err = agg_joint_data_make(data, error, shoal_recipe_part(world->recipe.recipe, 0), &acc,
                              categories, 2, n_threads);
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
        distance =
            fmax(distance, fmax((double)(i + 1) / (double)n - x[i], x[i] - (double)i / (double)n));
    double lambda = (root + 0.12 + 0.11 / root) * distance;
    if (lambda < 0.2) return 1; // the series' own value to 12 digits
    for (int k = 1; k <= 100; k++)
        sum += (k % 2 == 1 ? 2 : -2) * exp(-2.0 * k * k * lambda * lambda);
    return fmin(fmax(sum, 0), 1);
}
