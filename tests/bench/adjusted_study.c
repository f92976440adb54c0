// SPDX-License-Identifier: Apache-2.0
// shoal_adjusted_study: what figures of picked rows are worth, raw, by false-coverage-rate
// intervals and adjusted, over the mechanisms, popularities, epsilons and numbers of devices.
//
//     shoal_adjusted_study [SEEDS [BASE [MECHANISM [POPULARITY [DEVICES]]]]]
//
// Popularities: zipf-0.8, zipf-1, zipf-1.2 and zipf-1.5 are Zipf laws of 1,000 values; "sites" has
// 10,000 values of a log-normal law; "broken" has 3,000 whose slope changes at the 100th, as word
// lists have. DEVICES is the most. Each collection is read as shoal estimate reads it. Devices are
// simulated; where a list's entries have sums of their own (grr, subset, onehot, rappor), the sums
// are drawn by their law, as real devices need minutes there. Correlations of two sums are then
// left out. Picked are the detected rows (bonferroni), and the first 20 and 50 by count. Of each
// pick a line: mechanism, popularity, epsilon, devices, pick, collections, collections with
// adjusted figures, mean number of picked rows, mean error in standard errors and coverage of 95 %:
// of raw counts in all collections, FCR coverage, and raw and adjusted in those that have adjusted
// figures. Separated by tabs. adjusted_study.mjs makes the table of docs/selection.md of them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "accumulator.h"
#include "agg_size.h"
#include "batch.h"
#include "binomial_draw.h"
#include "estimate.h"
#include "estimator.h"
#include "part_recipe.h"
#include "recipe.h"
#include "simulation.h"

#define VALUES_MAX 10000u
#define CELLS (1u << 22)
#define PICKS 3u

static void die(const char *what)
{
    fprintf(stderr, "shoal_adjusted_study: %s\n", what);
    exit(1);
}

static void check(agg_err err, const char *what)
{
    if (err != SHOAL_OK) die(what);
}

typedef struct popularity {
    const char *name;
    uint32_t n_values;
    double exponent; // of Zipf; 0: another law
} popularity;

static const popularity popularities[] = {{"zipf-0.8", 1000, 0.8}, {"zipf-1", 1000, 1},
                                          {"zipf-1.2", 1000, 1.2}, {"zipf-1.5", 1000, 1.5},
                                          {"sites", 10000, 0},     {"broken", 3000, 0}};
static const char *const mechanisms[] = {"grr",  "olh",    "subset",   "cms",
                                         "hcms", "rappor", "hadamard", "onehot-symmetric"};

// Returns: a quantile of the logistic law, near enough to the normal one for a popularity.
static double share_of(const popularity *p, uint32_t i)
{
    double rank = i + 1;
    if (p->exponent > 0) return pow(rank, -p->exponent);
    if (p->n_values == 10000) return exp(1.8 * log((p->n_values + 0.5 - i) / rank) / 1.7);
    return rank <= 100 ? pow(rank, -0.7) : pow(100, -0.7) * pow(rank / 100, -1.6);
}

static void make_recipe(agg_recipe *recipe, const shoal_part *part, const char *name)
{
    uint8_t seed[32];
    char seed_hex[65], *text = NULL;
    size_t len = 0;
    agg_error error;
    agg_simulation_seed(seed, name);
    agg_hex(seed_hex, seed, sizeof seed);
    const agg_recipe_frame frame = {.id = "study",
                                    .analysis = "bench",
                                    .stream = "s",
                                    .value = "item",
                                    .seed_hex = seed_hex,
                                    .expires = "2099-12-31",
                                    .per_day = 1};
    FILE *stream = open_memstream(&text, &len);
    if (stream == NULL) die("no memory");
    agg_part_recipe_print(stream, part, &frame);
    fclose(stream);
    if (agg_recipe_from_bytes(recipe, &error, "recipe", text, len) != SHOAL_OK) die(error.text);
    free(text);
}

static void make_counts(agg_dictionary *counts, const agg_recipe *recipe, const popularity *p)
{
    static char text[VALUES_MAX * 32];
    size_t len = 0;
    agg_error error;
    for (uint32_t i = 0; i < p->n_values; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%u\t%.0f\n", i,
                                ceil(1e8 * share_of(p, i)));
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

// Draws the counts of all values, and the sum of each by its law.
static void draw_sums(uint64_t *drawn, agg_accumulator *acc, const shoal_part *part,
                      const popularity *p, uint64_t devices, const char *name)
{
    shoal_rng rng;
    uint8_t seed[32];
    agg_error error;
    agg_support_law law;
    uint64_t left = devices, first = 0;
    double shares = 0;
    agg_count unused;
    agg_simulation_seed(seed, name);
    shoal_rng_init(&rng, seed);
    acc->n = devices;
    check(agg_estimator_counts_with_law(&unused, &law, &error, part, &acc->parts[0], devices,
                                        &first, 1, 1),
          "the law is unknown");
    for (uint32_t i = 0; i < p->n_values; i++) shares += share_of(p, i);
    for (uint32_t i = 0; i < p->n_values; i++) {
        double share = share_of(p, i);
        drawn[i] = binomial_draw(&rng, (uint32_t)left, fmin(share / shares, 1));
        shares -= share;
        left -= drawn[i];
        acc->parts[0].cells.ones[i] = binomial_draw(&rng, (uint32_t)drawn[i], law.p) +
                                      binomial_draw(&rng, (uint32_t)(devices - drawn[i]), law.q);
    }
}

static bool has_sums(const shoal_part *part)
{
    const char *name = shoal_mechanism_by_id(part->mechanism)->name;
    return part->mechanism == shoal_grr_id || part->mechanism == shoal_subset_id ||
           part->mechanism == shoal_rappor_id || strncmp(name, "onehot", 6) == 0;
}

typedef struct tally {
    double rows, error, covered, fcr; // of all collections
    double own_rows, own_error, own_covered, adjusted_error, adjusted_covered;
    unsigned n_collections, n_adjusted;
} tally;

static void count_row(tally *t, const agg_estimate_row *row, double f, bool is_adjusted)
{
    double off = (row->raw - f) / row->stderr_;
    bool is_covered = row->low <= f && f <= row->high;
    t->rows++;
    t->error += off;
    t->covered += is_covered;
    t->fcr += row->fcr_low <= f && f <= row->fcr_high;
    if (!is_adjusted) return;
    t->own_rows++;
    t->own_error += off;
    t->own_covered += is_covered;
    t->adjusted_error += (row->adjusted.mean - f) / row->stderr_;
    t->adjusted_covered += row->adjusted.low <= f && f <= row->adjusted.high;
}

static void collect(tally t[PICKS], const shoal_part *part, const popularity *p, uint64_t devices,
                    const char *name)
{
    static uint64_t drawn[VALUES_MAX];
    agg_recipe recipe;
    agg_dictionary counts;
    agg_accumulator acc;
    agg_estimate estimate;
    agg_error error;
    agg_drawn out = {.counts = drawn};
    const agg_estimate_options options = {.multiple = AGG_BONFERRONI, .n_threads = 2};
    make_recipe(&recipe, part, name);
    make_counts(&counts, &recipe, p);
    agg_simulation simulation = {
        .recipe = &recipe, .counts = &counts, .n_devices = devices, .n_threads = 2};
    agg_simulation_seed(simulation.seed, name);
    check(agg_accumulator_init(&acc, &error, recipe.recipe), "no memory");
    if (has_sums(part))
        draw_sums(drawn, &acc, part, p, devices, name);
    else
        check(agg_simulation_run(&out, &error, &simulation, fold, &acc), "the simulation failed");
    if (agg_estimate_run(&estimate, &error, &recipe, &acc, &counts, &options) != SHOAL_OK)
        die(error.text);
    bool is_adjusted = estimate.adjusting == AGG_ADJUST_FITTED;
    for (unsigned pick = 0; pick < PICKS; pick++) {
        t[pick].n_collections++;
        t[pick].n_adjusted += is_adjusted;
        for (size_t i = 0; i < estimate.n_rows; i++) {
            const agg_estimate_row *row = &estimate.rows[i];
            if (pick == 0 ? row->detected : i < (pick == 1 ? 20 : 50))
                count_row(&t[pick], row, (double)drawn[strtoul(row->value.bytes, NULL, 10)],
                          is_adjusted);
        }
    }
    agg_estimate_release(&estimate);
    agg_accumulator_release(&acc);
    agg_dictionary_release(&counts);
    agg_recipe_release(&recipe);
}

// Finds the mechanism's best setting that is small enough.
static bool find_part(shoal_part *part, const char *mechanism, double eps, const popularity *p,
                      double devices)
{
    uint32_t eps_micro = (uint32_t)(eps * 1e6);
    double least = HUGE_VAL;
    const char *field = NULL;
    shoal_part one;
    double shares = 0, squares = 0; // a sketch needs rows for its collisions
    for (uint32_t i = 0; i < p->n_values; i++) shares += share_of(p, i);
    for (uint32_t i = 0; i < p->n_values; i++) squares += pow(devices * share_of(p, i) / shares, 2);
    const agg_wish wish = {eps_micro, p->n_values, 0, devices, squares, CELLS};
    for (uint32_t a = 0; agg_account_at(a) != NULL; a++) {
        const agg_account *account = agg_account_at(a);
        if (strcmp(shoal_mechanism_by_id(account->id)->name, mechanism) != 0) continue;
        for (uint32_t i = 0; account->propose(&one, &wish, i); i++) {
            memset(one.seed, 0x5a, sizeof one.seed);
            if (shoal_part_prepare(&one, &field) != SHOAL_OK || (double)one.k * one.m > CELLS)
                continue;
            double variance = account->variance(&one, devices, 0, squares);
            if (variance >= 0.99 * least) continue;
            least = variance;
            *part = one;
        }
    }
    return least < HUGE_VAL;
}

static void print_setting(const tally t[PICKS], const char *mechanism, const char *popularity_,
                          double eps, uint64_t devices)
{
    static const char *const picks[PICKS] = {"detected", "top 20", "top 50"};
    for (unsigned i = 0; i < PICKS; i++) {
        const tally *s = &t[i];
        double rows = fmax(s->rows, 1), own = fmax(s->own_rows, 1);
        printf("%s\t%s\t%g\t%llu\t%s\t%u\t%u\t%.1f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n",
               mechanism, popularity_, eps, (unsigned long long)devices, picks[i], s->n_collections,
               s->n_adjusted, s->rows / s->n_collections, s->error / rows, s->covered / rows,
               s->fcr / rows, s->own_error / own, s->own_covered / own, s->adjusted_error / own,
               s->adjusted_covered / own);
    }
    fflush(stdout);
}

static void run_setting(const char *mechanism, const popularity *p, double eps, uint64_t devices,
                        unsigned seeds, const char *base)
{
    shoal_part part;
    tally t[PICKS] = {{0}};
    if (!find_part(&part, mechanism, eps, p, (double)devices)) return;
    for (unsigned seed = 0; seed < seeds; seed++) {
        char name[128];
        snprintf(name, sizeof name, "%s %s %s %g %llu %u", base, mechanism, p->name, eps,
                 (unsigned long long)devices, seed);
        collect(t, &part, p, devices, name);
    }
    print_setting(t, mechanism, p->name, eps, devices);
}

int main(int argc, char **argv)
{
    static const double epsilons[] = {1, 2, 4};
    static const uint64_t sizes[] = {10000, 100000, 1000000};
    int seeds = argc > 1 ? atoi(argv[1]) : 4;
    const char *base = argc > 2 ? argv[2] : "adjusted", *only = argc > 3 ? argv[3] : NULL,
               *law = argc > 4 ? argv[4] : "";
    double most = argc > 5 ? strtod(argv[5], NULL) : 1e6;
    if (seeds < 1) die("SEEDS is a number of collections");
    for (size_t m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++)
        for (size_t p = 0; p < sizeof popularities / sizeof *popularities; p++)
            for (size_t e = 0; e < 3; e++)
                for (size_t n = 0; n < 3; n++) {
                    if (only != NULL && strcmp(only, mechanisms[m]) != 0) continue;
                    if (*law != 0 && strcmp(law, popularities[p].name) != 0) continue;
                    if ((double)sizes[n] > most) continue;
                    run_setting(mechanisms[m], &popularities[p], epsilons[e], sizes[n],
                                (unsigned)seeds, base);
                }
    return 0;
}
