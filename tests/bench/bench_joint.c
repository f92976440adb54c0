// SPDX-License-Identifier: Apache-2.0
// Joint distributions: 100,000 reports of two strings, each a 32-bit RAPPOR with two hashes
// (fanti-2016 section 3), five categories and Other each. From records to likelihood rows; EM to
// where google/rappor's C++ stops, then until a step gains 1e-10 of log-likelihood a report. With
// this p and q plain EM takes 84 steps to where google/rappor's stops, whose own data took it 93.
// One core.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "bench.h"
#include "joint_em.h"
#include "record.h"

#define REPORTS 100000u
#define VALUES 20u // of a variable, by Zipf's law
#define NAMED 5u
#define CATEGORIES (NAMED + 1)
#define CELLS (CATEGORIES * CATEGORIES)
#define GOOGLE_CHANGE 1e-6
#define GAIN 1e-10

typedef struct joint {
    agg_recipe recipe;
    agg_accumulator acc;
    uint64_t items[2][VALUES];
    agg_joint_categories categories[2];
    agg_joint_data data;
    double p[CELLS], next[CELLS];
} joint;

static void make_recipe(joint *j)
{
    static const char json[] =
        "{\"recipe\":\"bench\",\"analysis\":\"bench\",\"stream\":\"pages\",\"variables\":["
        "{\"name\":\"x\",\"value\":\"item\",\"mechanism\":\"rappor\",\"parameters\":{\"bits\":"
        "32,\"hashes\":2,\"cohorts\":8,"
        "\"p\":0.15,\"q\":0.85,\"f\":0},\"hash\":\"poly1\","
        "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"},"
        "{\"name\":\"y\",\"value\":\"item\",\"mechanism\":\"rappor\",\"parameters\":{\"bits\":"
        "32,\"hashes\":2,\"cohorts\":8,"
        "\"p\":0.15,\"q\":0.85,\"f\":0},\"hash\":\"poly1\","
        "\"seed\":\"ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100\"}],"
        "\"limit\":{\"per_day\":1},\"expires\":\"2099-12-31\"}";
    agg_error error;
    bench_check(agg_recipe_from_bytes(&j->recipe, &error, "recipe", json, strlen(json)),
                "the recipe is refused");
    for (uint32_t v = 0; v < 2; v++) {
        for (uint32_t i = 0; i < VALUES; i++) {
            uint8_t text[2] = {(uint8_t)('a' + v), (uint8_t)('a' + i)};
            j->items[v][i] =
                shoal_part_item(shoal_recipe_part(j->recipe.recipe, v), text, sizeof text);
        }
        j->categories[v] = (agg_joint_categories){v, NAMED, j->items[v], NULL, 1};
    }
}

// A value of rank r with probability 1 / r, the second variable the first one's half of the time.
static uint32_t draw(shoal_rng *rng)
{
    double sum = 0, at;
    for (uint32_t r = 1; r <= VALUES; r++) sum += 1.0 / r;
    at = sum * (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
    for (uint32_t r = 1; r < VALUES; r++) {
        at -= 1.0 / r;
        if (at < 0) return r - 1;
    }
    return VALUES - 1;
}

static void collect(joint *j)
{
    static const uint8_t seed[32] = "joint reports";
    const shoal_recipe *recipe = j->recipe.recipe;
    uint8_t *records = bench_alloc(REPORTS, shoal_record_size(recipe));
    agg_error error;
    for (uint32_t i = 0; i < REPORTS; i++) {
        shoal_rng rng;
        shoal_permanent permanent;
        shoal_rng_init_stream(&rng, seed, i);
        for (int b = 0; b < 32; b++) permanent.secret[b] = (uint8_t)shoal_rng_u64(&rng);
        uint32_t x = draw(&rng), y = shoal_rng_u64(&rng) & 1 ? x : draw(&rng);
        const uint64_t items[2] = {j->items[0][x], j->items[1][y]};
        bench_check(shoal_record_randomize(records + (size_t)i * shoal_record_size(recipe), recipe,
                                           items, 2, &permanent, &rng),
                    "a record is refused");
    }
    bench_check(agg_accumulator_init(&j->acc, &error, recipe), "out of memory");
    bench_check(agg_accumulator_add(&j->acc, &error, records, REPORTS, 1),
                "the records are refused");
    free(records);
}

static void make_data(joint *j)
{
    agg_error error;
    bench_check(agg_joint_data_make(&j->data, &error, shoal_recipe_part(j->recipe.recipe, 0),
                                    &j->acc, j->categories, 2, 1),
                "the data are refused");
}

static void real_data(void *context)
{
    joint *j = context;
    agg_joint_data_release(&j->data);
    make_data(j);
    bench_keep(j->data.n_tuples);
}

// The whole law of each record under each named category, bit by bit; Other left out.
static void naive_data(void *context)
{
    joint *j = context;
    double sum = 0;
    for (uint64_t i = 0; i < j->acc.set.n_distinct; i++) {
        const uint8_t *record = agg_record_set_at(&j->acc.set, i);
        for (uint32_t v = 0; v < 2; v++) {
            const shoal_part *part = shoal_recipe_part(j->recipe.recipe, v);
            for (uint32_t c = 0; c < NAMED; c++)
                sum += agg_account_of(part->mechanism)->probability(part, record, j->items[v][c]);
            record += part->record_size;
        }
    }
    bench_keep((uint64_t)(sum * 1e9));
}

static void run_em(joint *j, double gain, double change)
{
    agg_joint_em_options options = agg_joint_em_defaults();
    agg_joint_em_result result;
    agg_error error;
    options.gain = gain;
    options.change = change;
    bench_check(agg_joint_em(j->p, &result, &error, &j->data, &options), "the estimate failed");
    if (!result.has_converged) bench_die("the estimate did not converge");
    bench_keep(result.iterations);
}

static void real_google(void *context)
{
    run_em(context, 0, GOOGLE_CHANGE);
}

static void real_gain(void *context)
{
    run_em(context, GAIN, 0);
}

// One step of EM by the book, tuple by tuple and cell by cell. Returns: the log-likelihood before
// it.
static double plain_step(joint *j)
{
    double log_likelihood = 0, part[CELLS];
    memset(j->next, 0, sizeof j->next);
    for (size_t k = 0; k < j->data.n_tuples; k++) {
        const double *x = agg_joint_data_row(&j->data, k, 0),
                     *y = agg_joint_data_row(&j->data, k, 1);
        double s = 0, count = j->data.counts[k];
        for (uint32_t c = 0; c < CELLS; c++)
            s += part[c] = j->p[c] * x[c / CATEGORIES] * y[c % CATEGORIES];
        for (uint32_t c = 0; c < CELLS; c++) j->next[c] += count * part[c] / s;
        log_likelihood += count * log(s);
    }
    for (uint32_t c = 0; c < CELLS; c++) j->next[c] /= REPORTS;
    return log_likelihood;
}

static void plain_em(joint *j, double gain, double change)
{
    double before = -HUGE_VAL;
    for (uint32_t c = 0; c < CELLS; c++) j->p[c] = 1.0 / CELLS;
    for (;;) {
        double here = plain_step(j), most = 0;
        for (uint32_t c = 0; c < CELLS; c++) most = fmax(most, fabs(j->next[c] - j->p[c]));
        memcpy(j->p, j->next, sizeof j->p);
        if (most < change || here - before < gain * REPORTS) break;
        before = here;
    }
    bench_keep((uint64_t)(j->p[0] * 1e9));
}

static void naive_google(void *context)
{
    plain_em(context, 0, GOOGLE_CHANGE);
}

static void naive_gain(void *context)
{
    plain_em(context, GAIN, 0);
}

static void read_data(void *context)
{
    joint *j = context;
    uint64_t sum = 0;
    for (uint32_t v = 0; v < 2; v++) {
        const agg_joint_variable *variable = &j->data.variables[v];
        sum += bench_read(variable->rows,
                          (size_t)variable->n_rows * variable->n * sizeof *variable->rows);
    }
    bench_keep(sum + bench_read(j->data.tuples, j->data.n_tuples * 2 * sizeof *j->data.tuples));
}

static void read_records(void *context)
{
    joint *j = context;
    bench_keep(
        bench_read(j->acc.set.records, (size_t)(j->acc.set.n_distinct * j->acc.set.record_size)));
}

void bench_joint(void)
{
    joint *j = bench_alloc(1, sizeof *j);
    make_recipe(j);
    collect(j);
    make_data(j);
    bench_run(&(bench_step){"joint likelihoods, two RAPPOR of 32 bits, 5 and Other",
                            "record",
                            "the whole law of 5 categories each, bit by bit",
                            0,
                            0,
                            {real_data, REPORTS},
                            {naive_data, REPORTS},
                            {read_records, REPORTS},
                            j});
    bench_run(&(bench_step){"joint EM 6x6, n=10^5, to max change 1e-6",
                            "table",
                            "plain EM, cell by cell, scalar",
                            1e8,
                            0,
                            {real_google, 1},
                            {naive_google, 1},
                            {read_data, 1},
                            j});
    bench_run(&(bench_step){"joint EM 6x6, n=10^5, to a gain of 1e-10",
                            "table",
                            "plain EM, cell by cell, scalar",
                            0,
                            0,
                            {real_gain, 1},
                            {naive_gain, 1},
                            {read_data, 1},
                            j});
    agg_joint_data_release(&j->data);
    agg_accumulator_release(&j->acc);
    agg_recipe_release(&j->recipe);
    free(j);
}
