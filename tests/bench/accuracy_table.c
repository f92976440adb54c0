// SPDX-License-Identifier: Apache-2.0
// shoal_accuracy: what every mechanism's estimates are worth, measured beside their formula and the
// optimum.
//
//     shoal_accuracy [SEEDS [BASE [MECHANISM]]]
//
// 100,000 devices hold one of 1,000 values, Zipf(1.2). Each mechanism proposes its own settings
// (account.h); the one with the smallest record among those of about the least variance is
// simulated over all seeds and every value's error is squared: MEASURED is the root of the mean,
// FORMULA that of the account's variance over the same values, BIAS the mean error in standard
// errors of the mean, HIGH the mean error of the ten commonest values (clipping and normalizing
// would show there). The optimum of one report is 4 e^eps/(e^eps - 1)^2 n. A mean is one number, so
// its collections are many and small. Exit code 1 when a ratio leaves its bounds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "accumulator.h"
#include "agg_size.h"
#include "batch.h"
#include "estimator.h"
#include "part_recipe.h"
#include "recipe.h"
#include "simulation.h"

#define DEVICES 100000u
#define VALUES 1000u
#define CELLS (1u << 23) // a sketch of 32 MiB
#define MEAN_DEVICES 2000u
#define MEAN_RUNS 100u // collections of a mean for one of a count

static void die(const char *what)
{
    fprintf(stderr, "shoal_accuracy: %s\n", what);
    exit(1);
}

static void check(agg_err err, const char *what)
{
    if (err != SHOAL_OK) die(what);
}

// Every collection has hash keys of its own: the formulas are about them too.
static void make_recipe(agg_recipe *recipe, const shoal_part *part, const char *name)
{
    uint8_t seed[32];
    char seed_hex[65];
    agg_simulation_seed(seed, name);
    agg_hex(seed_hex, seed, sizeof seed);
    int is_number = part->domain == SHOAL_DOMAIN_NUMBER;
    const agg_recipe_frame frame = {.id = "accuracy",
                                    .analysis = "bench",
                                    .stream = "s",
                                    .value = is_number ? "number" : "item",
                                    .seed_hex = seed_hex,
                                    .low = "0",
                                    .high = "1000",
                                    .expires = "2099-12-31",
                                    .per_day = 1};
    char *text = NULL;
    size_t len = 0;
    agg_error error;
    FILE *stream = open_memstream(&text, &len);
    if (stream == NULL) die("no memory");
    agg_part_recipe_print(stream, part, &frame);
    fclose(stream);
    if (agg_recipe_from_bytes(recipe, &error, "recipe", text, len) != SHOAL_OK) die(error.text);
    free(text);
}

// value<TAB>count lines of a Zipf law. Numbers lie close together: a mean's formula leaves out what
// their spread takes off its variance.
static void make_counts(agg_dictionary *counts, const agg_recipe *recipe)
{
    char text[VALUES * 24];
    size_t len = 0;
    int is_number = recipe->recipe->value == SHOAL_VALUE_NUMBER;
    agg_error error;
    for (uint32_t i = 0; i < VALUES; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%.10g\t%.0f\n",
                                is_number ? 300 + 0.1 * i : i, 1e9 / pow(i + 1, 1.2));
    if (agg_dictionary_parse(counts, &error, recipe, "counts", text, len, true, NULL, NULL) !=
        SHOAL_OK)
        die(error.text);
}

static agg_err fold(void *context, agg_error *error, const uint8_t *batch, size_t len,
                    uint32_t count)
{
    (void)len;
    return agg_accumulator_add(context, error, batch + SHOAL_BATCH_HEADER, count, 2);
}

typedef struct sums {
    double squares, expected;    // errors and variances of all values
    double total, total_squares; // a collection's sum of errors
    double high;                 // the ten commonest values' errors, in standard errors
    uint64_t n;                  // values
    uint64_t runs;
} sums;

// One collection: adds every value's error.
static void collect(sums *s, const agg_recipe *recipe, const agg_dictionary *counts,
                    uint64_t devices, const char *name)
{
    const shoal_part *part = &recipe->recipe->parts[0];
    const agg_account *account = agg_account_of(part->mechanism);
    agg_simulation simulation = {
        .recipe = recipe, .counts = counts, .n_devices = devices, .n_threads = 2};
    agg_accumulator acc;
    agg_error error;
    static uint64_t drawn[VALUES];
    agg_drawn out = {.counts = drawn};
    static agg_count estimated[VALUES];
    agg_simulation_seed(simulation.seed, name);
    check(agg_accumulator_init(&acc, &error, recipe->recipe), "no memory");
    check(agg_simulation_run(&out, &error, &simulation, fold, &acc), "the simulation failed");
    int is_mean = part->domain == SHOAL_DOMAIN_NUMBER;
    size_t rows = is_mean ? 1 : VALUES;
    check(
        agg_estimator_counts(estimated, &error, part, &acc.parts[0], acc.n, counts->items, rows, 2),
        "the estimate failed");
    double squares = 0, total = 0, mean = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        squares += (double)drawn[i] * (double)drawn[i];
        mean += (double)drawn[i] * (double)counts->items[i] / 0x1p32 / (double)devices;
    }
    for (size_t i = 0; i < rows; i++) {
        double truth = is_mean ? mean : (double)drawn[i], off = estimated[i].count - truth;
        double variance = account->variance(part, (double)devices,
                                            is_mean ? truth * (double)devices : truth, squares);
        s->squares += off * off;
        s->expected += variance;
        total += off;
        if (i < 10) s->high += off / sqrt(variance);
        s->n++;
    }
    s->total += total;
    s->total_squares += total * total;
    s->runs++;
    agg_accumulator_release(&acc);
}

static void run_one(sums *s, const shoal_part *part, const char *name)
{
    agg_recipe recipe;
    agg_dictionary counts;
    make_recipe(&recipe, part, name);
    make_counts(&counts, &recipe);
    collect(s, &recipe, &counts, part->domain == SHOAL_DOMAIN_NUMBER ? MEAN_DEVICES : DEVICES,
            name);
    agg_dictionary_release(&counts);
    agg_recipe_release(&recipe);
}

static sums run(const shoal_part *part, int seeds, const char *base)
{
    sums s = {0};
    int runs = seeds * (part->domain == SHOAL_DOMAIN_NUMBER ? (int)MEAN_RUNS : 1);
    for (int i = 0; i < runs; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s %d", base, i);
        run_one(&s, part, name);
    }
    return s;
}

// The mean of the collections' summed errors, in its own standard errors.
static double bias_of(const sums *s)
{
    double runs = (double)s->runs, mean = s->total / runs,
           square = s->total_squares / runs - mean * mean;
    return square > 0 ? mean / sqrt(square / runs) : 0;
}

#define CLOSE 1.03 // as good as the best: then the smaller record is the better one

// The index-th proposal of an account, prepared, and the variance of a value that nobody holds;
// HUGE_VAL where it is too big. Returns: 0 when there is no index-th.
static int proposal(shoal_part *part, double *variance, const agg_account *account,
                    const agg_wish *wish, uint32_t index)
{
    const char *field = NULL;
    *variance = HUGE_VAL;
    if (!account->propose(part, wish, index)) return 0;
    memset(part->seed, 0x5a, sizeof part->seed);
    if (shoal_part_prepare(part, &field) == SHOAL_OK && (double)part->k * part->m <= wish->cells)
        *variance = account->variance(part, wish->n, 0, wish->squares);
    return 1;
}

// The smallest record among an account's proposals of about the least variance. Returns: 0 when it
// has none.
static int best(shoal_part *part, const agg_account *account, const agg_wish *wish)
{
    double least = HUGE_VAL, variance;
    shoal_part one;
    int is_found = 0;
    for (uint32_t i = 0; proposal(&one, &variance, account, wish, i); i++)
        if (variance < least) least = variance;
    for (uint32_t i = 0; least < HUGE_VAL && proposal(&one, &variance, account, wish, i); i++) {
        if (variance > CLOSE * least || (is_found && one.record_size >= part->record_size))
            continue;
        *part = one;
        is_found = 1;
    }
    return is_found;
}

static void print_setting(const shoal_part *part)
{
    char text[64];
    const shoal_takes *own =
        shoal_mechanism_takes(shoal_mechanism_by_id(part->mechanism), part->domain);
    int len = snprintf(text, sizeof text, "%s", shoal_mechanism_by_id(part->mechanism)->name);
    if (own->needs & SHOAL_TAKES_K)
        snprintf(text + len, sizeof text - (size_t)len, " k=%u %s=%u", part->k,
                 own->needs & SHOAL_TAKES_G ? "g" : "m", part->m);
    printf("%-28s", text);
}

static int print_row(const shoal_part *part, double eps, const sums *s)
{
    double n = (double)s->n, ratio = s->squares / s->expected;
    double optimum = 4 * exp(eps) / pow(exp(eps) - 1, 2) * DEVICES;
    int is_mean = part->domain == SHOAL_DOMAIN_NUMBER, is_off = fabs(ratio - 1) > 0.1;
    print_setting(part);
    if (is_mean)
        printf(" %5g %9.5f %9.5f %6.3f %8s %7.2f %7s %6u\n", eps, sqrt(s->squares / n),
               sqrt(s->expected / n), ratio, "-", bias_of(s), "-", part->record_size);
    else
        printf(" %5g %9.1f %9.1f %6.3f %8.3f %7.2f %7.2f %6u\n", eps, sqrt(s->squares / n),
               sqrt(s->expected / n), ratio, s->squares / n / optimum, bias_of(s),
               s->high / sqrt(10 * n / VALUES), part->record_size);
    fflush(stdout);
    return is_off;
}

// Settings that are named elsewhere, beside those that the accounts propose: PEERS' sketches, and
// local hashing with so many rows that its collisions no longer show.
static int named_setting(uint32_t index, shoal_part *part, uint32_t eps_micro)
{
    const uint32_t ids[] = {shoal_cms_id, shoal_hcms_id, shoal_olh_id};
    uint32_t g = 2;
    const char *field = NULL;
    if (index >= 3) return 0;
    while (1.5 * g < exp(eps_micro / 1e6) + 1) g *= 2;
    *part = (shoal_part){.mechanism = ids[index],
                         .domain = SHOAL_DOMAIN_CLOSED,
                         .hash = SHOAL_HASH_AFFINE1,
                         .eps_micro = eps_micro,
                         .k = ids[index] == shoal_olh_id ? (1u << 23) / g : 2048,
                         .m = ids[index] == shoal_olh_id ? g : 1024,
                         .size = VALUES,
                         .seed = {7}};
    check(shoal_part_prepare(part, &field), "a setting is refused");
    return 1;
}

static int measure(const shoal_part *part, double eps, int seeds, const char *base,
                   const char *only)
{
    if (only != NULL && strcmp(shoal_mechanism_by_id(part->mechanism)->name, only) != 0) return 0;
    sums s = run(part, seeds, base);
    return print_row(part, eps, &s);
}

int main(int argc, char **argv)
{
    int seeds = argc > 1 ? atoi(argv[1]) : 20, n_off = 0;
    const char *base = argc > 2 ? argv[2] : "accuracy", *only = argc > 3 ? argv[3] : NULL;
    const double epsilons[] = {1, 2, 4};
    double weight = 0, squares = 0;
    if (seeds < 1) die("SEEDS is a number of collections");
    for (uint32_t i = 0; i < VALUES; i++) weight += pow(i + 1, -1.2);
    for (uint32_t i = 0; i < VALUES; i++) squares += pow(DEVICES * pow(i + 1, -1.2) / weight, 2);
    printf("%u devices, Zipf(1.2) over %u values, %d seeds; standard error of a count (of a mean: "
           "%u devices, fraction)\n",
           DEVICES, VALUES, seeds, MEAN_DEVICES);
    printf("%-28s %5s %9s %9s %6s %8s %7s %7s %6s\n", "mechanism", "eps", "measured", "formula",
           "ratio", "optimum", "bias sd", "high sd", "bytes");
    for (size_t e = 0; e < 3; e++) {
        shoal_part part;
        uint32_t eps_micro = (uint32_t)(epsilons[e] * 1e6);
        agg_wish wish = {eps_micro, VALUES, 0, DEVICES, squares, CELLS};
        for (uint32_t i = 0; agg_account_at(i) != NULL; i++) {
            wish.is_number = shoal_mechanism_by_id(agg_account_at(i)->id)->number.needs != 0;
            if (!best(&part, agg_account_at(i), &wish)) continue;
            n_off += measure(&part, epsilons[e], seeds, base, only);
        }
        for (uint32_t i = 0; named_setting(i, &part, eps_micro); i++)
            n_off += measure(&part, epsilons[e], seeds, base, only);
    }
    printf(n_off > 0 ? "%d rows are more than 10 %% off their formula\n"
                     : "every variance lies within 10 %% of its formula\n",
           n_off);
    return n_off > 0;
}
