// SPDX-License-Identifier: Apache-2.0
// The tables of docs/distributions.md: the distribution of a number by square waves beside the best
// equal bins, chosen with hindsight, and the coverage of the intervals of quantiles.
//
//     shoal_distribution_study errors|coverage|buckets|plan [SEEDS [DEVICES [FIRST_SEED]]]
//
// Square waves, and the mechanisms of `buckets`, are the real ones: records, accumulator, estimate.
// The rival of `errors` is drawn from the law of subset selection, the best mechanism for lists, as
// normal counts with its mean and variance, and then norm-sub. `plan` has the errors that shoal
// plan
// --distribution expects beside measured ones, about the crowd, for its supposed crowds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "distribution.h"
#include "distribution_plan.h"
#include "post.h"
#include "recipe.h"
#include "record.h"

#define N_SHAPES 6
#define N_QUANTILES 5
#define GRID 4096      // points of the range at which distribution functions are compared
#define TRUTH 4000000u // draws from which true quantiles are read

static const double quantiles[N_QUANTILES] = {0.25, 0.5, 0.75, 0.9, 0.99};

static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53;
}

static double normal(shoal_rng *rng)
{
    double radius = sqrt(-2 * log(uniform(rng)));
    return radius * cos(2 * 3.14159265358979323846 * uniform(rng));
}

static double exponential(shoal_rng *rng)
{
    return -log(uniform(rng));
}

static double into_range(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

// ---- shapes ----

// The fifth of six uniform numbers by size.
static double draw_beta(shoal_rng *rng)
{
    double first = 0, second = 0;
    for (int i = 0; i < 6; i++) {
        double u = uniform(rng);
        if (u > first) {
            second = first;
            first = u;
        } else if (u > second) {
            second = u;
        }
    }
    return second;
}

static double draw_log_normal(shoal_rng *rng)
{
    return into_range(exp(1.5 * normal(rng)) / 60);
}

static double draw_bimodal(shoal_rng *rng)
{
    bool is_first = uniform(rng) < 0.6;
    return into_range(is_first ? 0.25 + 0.05 * normal(rng) : 0.7 + 0.08 * normal(rng));
}

// Three in ten leave at once; the others stay for a tenth of the range on average.
static double draw_bounce(shoal_rng *rng)
{
    return uniform(rng) < 0.3 ? 0 : into_range(0.1 * exponential(rng));
}

// Two plateaus with sharp edges and nothing between.
static double draw_plateaus(shoal_rng *rng)
{
    return uniform(rng) < 0.4 ? 0.2 + 0.1 * uniform(rng) : 0.55 + 0.4 * uniform(rng);
}

// Three generations that overlap.
static double draw_ages(shoal_rng *rng)
{
    double u = uniform(rng), x = normal(rng);
    return into_range(u < 0.35 ? 0.3 + 0.06 * x : u < 0.8 ? 0.45 + 0.15 * x : 0.75 + 0.07 * x);
}

typedef struct shape {
    const char *name;
    double (*draw)(shoal_rng *rng);
} shape;

static const shape shapes[N_SHAPES] = {{"beta(5,2)", draw_beta},    {"log-normal", draw_log_normal},
                                       {"bimodal", draw_bimodal},   {"bounce", draw_bounce},
                                       {"plateaus", draw_plateaus}, {"generations", draw_ages}};

static void start(shoal_rng *rng, unsigned seed, size_t which, unsigned purpose)
{
    uint8_t bytes[32] = {(uint8_t)seed, (uint8_t)(seed >> 8), (uint8_t)which, (uint8_t)purpose};
    shoal_rng_init(rng, bytes);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sample(shoal_rng *rng, const shape *s, size_t n)
{
    double *numbers = malloc(n * sizeof *numbers);
    if (numbers == NULL) exit(1);
    for (size_t i = 0; i < n; i++) numbers[i] = s->draw(rng);
    return numbers;
}

// ---- square waves and buckets through the program ----

static void fail(const agg_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

static void make_recipe(agg_recipe *recipe, const char *mechanism, double epsilon, int size)
{
    char text[512], list[32] = "";
    agg_error error;
    if (size > 0) snprintf(list, sizeof list, ",\"size\":%d", size);
    snprintf(text, sizeof text,
             "{\"recipe\":\"study\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\","
             "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":%g,\"low\":0,\"high\":1%s},"
             "\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
             mechanism, epsilon, list);
    if (agg_recipe_from_bytes(recipe, &error, "study", text, strlen(text)) != SHOAL_OK)
        fail(&error);
}

static void fold(agg_accumulator *acc, const agg_recipe *recipe, const double *numbers, size_t n,
                 shoal_rng *rng)
{
    agg_error error;
    size_t size = recipe->recipe->record_size;
    uint8_t *records = malloc(n * size);
    if (records == NULL) exit(1);
    for (size_t i = 0; i < n; i++) {
        uint64_t item = shoal_recipe_number_item(recipe->recipe, llround(numbers[i] * 1e6));
        if (shoal_record_randomize(records + i * size, recipe->recipe, &item, 1, NULL, rng) !=
            SHOAL_OK)
            exit(1);
    }
    if (agg_accumulator_init(acc, &error, recipe->recipe) != SHOAL_OK ||
        agg_accumulator_add(acc, &error, records, (uint32_t)n, 1) != SHOAL_OK)
        fail(&error);
    free(records);
}

static void estimate(agg_distribution *d, const char *mechanism, double epsilon, int size,
                     const double *numbers, size_t n, shoal_rng *rng)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    agg_distribution_options options = {.n_quantiles = N_QUANTILES, .n_bins = 32};
    memcpy(options.quantiles, quantiles, sizeof quantiles);
    make_recipe(&recipe, mechanism, epsilon, size);
    fold(&acc, &recipe, numbers, n, rng);
    if (agg_distribution_run(d, &error, &recipe, &acc, &options) != SHOAL_OK) fail(&error);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// ---- distances ----

// Returns: the mean distance of a distribution function, linear between n + 1 points, from that of
// the sorted numbers: the Wasserstein distance in shares of the range.
static double distance(const double *at, const double *below, size_t n_points, const double *sorted,
                       size_t n)
{
    double sum = 0;
    size_t held = 0, i = 0;
    for (size_t g = 0; g < GRID; g++) {
        double x = ((double)g + 0.5) / GRID;
        while (held < n && sorted[held] <= x) held++;
        while (i + 2 < n_points && at[i + 1] < x) i++;
        double part = (x - at[i]) / (at[i + 1] - at[i]);
        sum += fabs(below[i] + part * (below[i + 1] - below[i]) - (double)held / (double)n);
    }
    return sum / GRID;
}

static double distance_of(const agg_distribution *d, const double *sorted, size_t n)
{
    double at[600] = {0}, below[600] = {0};
    for (size_t i = 0; i < d->n_steps; i++) {
        at[i + 1] = d->steps[i].to;
        below[i + 1] = d->steps[i].share;
    }
    return distance(at, below, d->n_steps + 1, sorted, n);
}

// Returns: the distance of `size` equal bins; subset selection's law, then norm-sub.
static double distance_of_bins(double epsilon, size_t size, const double *sorted, size_t n,
                               shoal_rng *rng)
{
    double s = (double)size + 1, e = exp(epsilon), d = ceil(s / (e + 1));
    double p = d * e / (d * e + s - d), q = (d - p) / (s - 1);
    double counts[256] = {0}, errors[256] = {0}, at[257], below[257] = {0};
    bool is_detected[256] = {false};
    agg_error error;
    const agg_post post = {AGG_POST_NORM_SUB, (double)n};
    for (size_t i = 0; i < n; i++) {
        size_t b = (size_t)(sorted[i] * (double)size);
        counts[b < size ? b : size - 1]++;
    }
    for (size_t b = 0; b < size; b++) {
        double f = counts[b], sd = sqrt(f * p * (1 - p) + ((double)n - f) * q * (1 - q)) / (p - q);
        counts[b] = f + sd * normal(rng);
    }
    if (agg_post_apply(counts, &error, &post, errors, is_detected, size) != SHOAL_OK) fail(&error);
    for (size_t b = 0; b <= size; b++) at[b] = (double)b / (double)size;
    for (size_t b = 0; b < size; b++) below[b + 1] = below[b] + counts[b] / (double)n;
    return distance(at, below, size + 1, sorted, n);
}

// ---- tables ----

static const double epsilons[] = {1, 2, 4};

typedef struct plan {
    unsigned seeds, first;
    size_t devices;
} plan;

static void errors_of(const plan *p, size_t which, double epsilon)
{
    static const size_t sizes[] = {16, 32, 64, 256};
    double wave = 0, bins[4] = {0};
    size_t best = 0;
    for (unsigned seed = p->first; seed < p->first + p->seeds; seed++) {
        shoal_rng rng;
        agg_distribution d;
        start(&rng, seed, which, (unsigned)epsilon);
        double *numbers = sample(&rng, &shapes[which], p->devices);
        estimate(&d, "square-wave", epsilon, 0, numbers, p->devices, &rng);
        qsort(numbers, p->devices, sizeof *numbers, by_size);
        wave += distance_of(&d, numbers, p->devices) / p->seeds;
        for (size_t b = 0; b < 4; b++)
            bins[b] += distance_of_bins(epsilon, sizes[b], numbers, p->devices, &rng) / p->seeds;
        agg_distribution_release(&d);
        free(numbers);
    }
    for (size_t b = 1; b < 4; b++)
        if (bins[b] < bins[best]) best = b;
    printf("| %s | %g | %.3f | %.3f (%zu) | %.2f |\n", shapes[which].name, epsilon, 100 * wave,
           100 * bins[best], sizes[best], wave / bins[best]);
    fflush(stdout);
}

static void true_quantiles(double truth[N_QUANTILES], size_t which)
{
    shoal_rng rng;
    start(&rng, 0, which, 99);
    double *numbers = sample(&rng, &shapes[which], TRUTH);
    qsort(numbers, TRUTH, sizeof *numbers, by_size);
    for (int i = 0; i < N_QUANTILES; i++) truth[i] = numbers[(size_t)(quantiles[i] * TRUTH)];
    free(numbers);
}

// Prints a row: for each quantile the mean error, the mean width of the interval and its coverage.
// Returns: how many intervals covered.
static unsigned coverage_of(const plan *p, size_t which, const char *mechanism, int size,
                            double epsilon, const double truth[N_QUANTILES])
{
    double off[N_QUANTILES] = {0}, width[N_QUANTILES] = {0};
    unsigned covered[N_QUANTILES] = {0}, all = 0;
    for (unsigned seed = p->first; seed < p->first + p->seeds; seed++) {
        shoal_rng rng;
        agg_distribution d;
        start(&rng, seed, which, 100 + (unsigned)epsilon);
        double *numbers = sample(&rng, &shapes[which], p->devices);
        estimate(&d, mechanism, epsilon, size, numbers, p->devices, &rng);
        for (int i = 0; i < N_QUANTILES; i++) {
            const agg_quantile *q = &d.quantiles[i];
            off[i] += fabs(q->value - truth[i]) / p->seeds;
            width[i] += (q->high - q->low) / p->seeds;
            covered[i] += q->low <= truth[i] && truth[i] <= q->high;
        }
        agg_distribution_release(&d);
        free(numbers);
    }
    printf("| %s | %g |", shapes[which].name, epsilon);
    for (int i = 0; i < N_QUANTILES; i++) {
        printf(" %.2f, %.2f, %u |", 100 * off[i], 100 * width[i],
               (100 * covered[i] + p->seeds / 2) / p->seeds);
        all += covered[i];
    }
    printf("\n");
    fflush(stdout);
    return all;
}

static void coverage(const plan *p, const char *mechanism, int size)
{
    unsigned long all = 0, of = 0;
    printf("| shape | epsilon | p25 | median | p75 | p90 | p99 |\n|---|---|---|---|---|---|---|\n");
    for (size_t which = 0; which < N_SHAPES; which++) {
        double truth[N_QUANTILES];
        true_quantiles(truth, which);
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
            all += coverage_of(p, which, mechanism, size, epsilons[e], truth);
            of += (unsigned long)N_QUANTILES * p->seeds;
        }
    }
    printf("\n%s: %.1f %% of %lu intervals cover\n", mechanism, 100.0 * (double)all / (double)of,
           of);
}

// ---- planned errors ----

typedef struct planned {
    double distance, median, p90;
} planned;

// Returns: the distance of the estimate from the crowd itself.
static double distance_of_crowd(const agg_distribution *d, const agg_forecast_crowd *crowd)
{
    double sum = 0, from = 0, before = 0;
    for (size_t i = 0; i < d->n_steps; i++) {
        double off = fabs(d->steps[i].share - agg_forecast_below(crowd, d->steps[i].to));
        sum += (d->steps[i].to - from) * (before + off) / 2;
        from = d->steps[i].to;
        before = off;
    }
    return sum;
}

static double *sample_crowd(shoal_rng *rng, const agg_forecast_crowd *crowd, size_t n)
{
    static double sums[AGG_FORECAST_CELLS];
    double *numbers = malloc(n * sizeof *numbers), sum = 0;
    if (numbers == NULL) exit(1);
    for (size_t i = 0; i < AGG_FORECAST_CELLS; i++) sums[i] = sum += crowd->shares[i];
    for (size_t i = 0; i < n; i++) {
        double u = uniform(rng);
        size_t low = 0, high = AGG_FORECAST_CELLS - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (u < sums[middle])
                high = middle;
            else
                low = middle + 1;
        }
        numbers[i] = ((double)low + uniform(rng)) / AGG_FORECAST_CELLS;
    }
    return numbers;
}

static planned measure_plan(const plan *p, const agg_distribution_wish *wish,
                            const agg_distribution_candidate *c)
{
    planned mean = {0, 0, 0};
    double epsilon = wish->eps_micro / 1e6;
    for (unsigned seed = p->first; seed < p->first + p->seeds; seed++) {
        shoal_rng rng;
        agg_distribution d;
        start(&rng, seed, c->part.size, 200 + (unsigned)(10 * epsilon));
        double *numbers = sample_crowd(&rng, &wish->crowd, p->devices);
        estimate(&d, c->mechanism->name, epsilon, (int)c->part.size, numbers, p->devices, &rng);
        mean.distance += distance_of_crowd(&d, &wish->crowd) / p->seeds;
        mean.median += fabs(d.quantiles[1].value - c->forecast.quantiles[0]) / p->seeds;
        mean.p90 += fabs(d.quantiles[3].value - c->forecast.quantiles[1]) / p->seeds;
        agg_distribution_release(&d);
        free(numbers);
    }
    return mean;
}

// Of each crowd and epsilon the best candidate and the best of the other kind.
static void plan_errors(const plan *p)
{
    printf("| crowd | epsilon | by | W1 planned | measured | ratio | median planned | measured | "
           "ratio | p90 planned | measured | ratio |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t which = 0; which < AGG_DISTRIBUTION_SHAPES; which++)
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++) {
            static agg_distribution_wish wish;
            agg_distribution_plan plan_of;
            agg_error error;
            wish = (agg_distribution_wish){.n = (double)p->devices,
                                           .eps_micro = (uint32_t)(1e6 * epsilons[e]),
                                           .quantiles = {0.5, 0.9},
                                           .n_quantiles = 2};
            wish.crowd_name = agg_distribution_shape(&wish.crowd, which);
            if (agg_distribution_plan_run(&plan_of, &error, &wish, 2) != SHOAL_OK) fail(&error);
            bool has_wave = false, has_list = false;
            for (size_t i = 0; i < plan_of.n_candidates; i++) {
                const agg_distribution_candidate *c = &plan_of.candidates[i];
                const agg_forecast *f = &c->forecast;
                bool *has_own = c->part.size > 0 ? &has_list : &has_wave;
                if (*has_own) continue;
                *has_own = true;
                planned m = measure_plan(p, &wish, c);
                printf("| %s | %g | %s, %u | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f | %.3f | %.3f "
                       "| %.2f |\n",
                       wish.crowd_name, epsilons[e], c->mechanism->name, c->part.size,
                       100 * f->distance, 100 * m.distance, f->distance / m.distance,
                       100 * f->errors[0], 100 * m.median, f->errors[0] / m.median,
                       100 * f->errors[1], 100 * m.p90, f->errors[1] / m.p90);
                fflush(stdout);
            }
        }
}

int main(int argc, char **argv)
{
    const char *table = argc > 1 ? argv[1] : "errors";
    plan p = {.seeds = argc > 2 ? (unsigned)atoi(argv[2]) : 20,
              .devices = argc > 3 ? (size_t)atol(argv[3]) : 100000,
              .first = argc > 4 ? (unsigned)atoi(argv[4]) : 1};
    if (p.seeds == 0 || p.devices == 0) return 2;
    if (strcmp(table, "errors") == 0) {
        printf("| shape | epsilon | square wave | best bins | ratio |\n|---|---|---|---|---|\n");
        for (size_t which = 0; which < N_SHAPES; which++)
            for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
                errors_of(&p, which, epsilons[e]);
    } else if (strcmp(table, "coverage") == 0) {
        coverage(&p, "square-wave", 0);
    } else if (strcmp(table, "buckets") == 0) {
        coverage(&p, "grr", 10);
        coverage(&p, "subset", 32);
        coverage(&p, "hadamard", 64);
    } else if (strcmp(table, "plan") == 0) {
        plan_errors(&p);
    } else {
        return 2;
    }
    return 0;
}
