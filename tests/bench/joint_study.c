// SPDX-License-Identifier: Apache-2.0
// shoal_joint_study: joint distributions and the test of independence on the populations of
// fanti-2016; prints the tables of docs/joint-study.md.
//
//     shoal_joint_study tables [SEEDS]          Tables 1 and 2: estimates, errors, coverage, with
//     and without "Other" shoal_joint_study mechanisms [SEEDS]      the same population through
//     other mechanisms shoal_joint_study small [SEEDS]           an Other that is one string of 5 %
//     shoal_joint_study boundary [SEEDS]        coverage where cells are empty
//     shoal_joint_study wald [PAIRS [SVG]]      type I errors, Kolmogorov and Smirnov's p, both
//     forms; the Q-Q plot as SVG shoal_joint_study power [PAIRS]           Figure 15
//
// One core; minutes each. Everything follows from fixed seeds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "joint_covariance.h"
#include "joint_draws.h"
#include "joint_wald.h"

#define BASIC                                                                                      \
    "onehot-symmetric" // what Basic RAPPOR is with f = 0 and q = 1 - p, without the cost of its
                       // permanent coins
#define CELLS_MAX 100u

// Table 1, in percent.
static const double table1[36] = {3.567, 2.937, 2.468, 1.952, 1.639, 6.436, 2.984, 2.432, 1.967,
                                  1.581, 1.289, 5.362, 2.473, 1.991, 1.609, 1.223, 1.025, 4.343,
                                  1.881, 1.569, 1.293, 1.069, 0.874, 3.499, 1.625, 1.292, 1.080,
                                  0.892, 0.662, 2.836, 6.380, 5.292, 4.311, 3.495, 2.809, 11.863};

static void check(agg_err err, const agg_error *error)
{
    if (err == SHOAL_OK) return;
    fprintf(stderr, "shoal_joint_study: %s\n", error->text);
    exit(1);
}

// Table 1 with its Other divided over the values 6 to `size` by Zipf's law.
static void spread_table(double *table, uint32_t size)
{
    double rest = 0;
    for (uint32_t i = 5; i < size; i++) rest += 1.0 / (i + 1);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            table[i * size + j] = table1[(i < 5 ? i : 5) * 6 + (j < 5 ? j : 5)] *
                                  (i < 5 ? 1 : 1.0 / (i + 1) / rest) *
                                  (j < 5 ? 1 : 1.0 / (j + 1) / rest);
}

// What one figure did over the seeds.
typedef struct score {
    double truth, sum, squares, stderrs;
    uint32_t covered;
} score;

static void add_score(score *s, const agg_joint_share *share, double truth)
{
    s->truth = truth;
    s->sum += share->p;
    s->squares += (share->p - truth) * (share->p - truth);
    s->stderrs += share->stderr_;
    s->covered += share->low <= truth && truth <= share->high;
}

// One population and how it is seen.
typedef struct scene {
    joint_world world;
    double *table; // of all values
    uint32_t named[2];
    int has_other;
    uint64_t n;
    uint32_t m, k; // categories of the two variables
    double truth[CELLS_MAX];
    score cells[CELLS_MAX], marginals[CELLS_MAX], rates[CELLS_MAX]; // marginals of both variables
    double tuples, iterations;
} scene;

static void add_to(score *scores, const agg_joint_share *shares, const double *truths, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) add_score(&scores[i], &shares[i], truths[i]);
}

static void run_seed(scene *s, uint64_t seed)
{
    double p[CELLS_MAX], rows[CELLS_MAX] = {0}, columns[CELLS_MAX] = {0}, rates[CELLS_MAX];
    uint32_t n = s->m * s->k;
    agg_joint_share shares[CELLS_MAX];
    agg_joint_data data;
    agg_joint_covariance c;
    agg_joint_em_result result;
    agg_joint_em_options options = agg_joint_em_defaults();
    agg_error error;
    check(
        joint_draws_data(&data, &error, &s->world, s->table, s->n, seed, s->named, s->has_other, 1),
        &error);
    check(agg_joint_em(p, &result, &error, &data, &options), &error);
    check(agg_joint_covariance_make(&c, &error, &data, p, 1), &error);
    for (uint32_t i = 0; i < n; i++) {
        rows[i / s->k] += s->truth[i];
        columns[i % s->k] += s->truth[i];
    }
    for (uint32_t i = 0; i < n; i++) rates[i] = s->truth[i] / rows[i / s->k];
    agg_joint_cells(shares, &c, 0.95);
    add_to(s->cells, shares, s->truth, n);
    check(agg_joint_marginal(shares, &error, &c, 0, 0.95), &error);
    add_to(s->marginals, shares, rows, s->m);
    check(agg_joint_marginal(shares, &error, &c, 1, 0.95), &error);
    add_to(s->marginals + s->m, shares, columns, s->k);
    check(agg_joint_rates(shares, &error, &c, 0, 1, 0.95), &error);
    add_to(s->rates, shares, rates, n);
    s->tuples += (double)data.n_tuples;
    s->iterations += result.iterations;
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
}

// Figures of a group of scores: mean coverage, the lowest of one, root mean squared error over mean
// stated error, and the largest bias in standard errors of its own mean.
static void print_scores(const char *name, const score *scores, uint32_t n, uint32_t n_seeds)
{
    double covered = 0, lowest = 1, ratio = 0, bias = 0, sum_bias = 0;
    for (uint32_t i = 0; i < n; i++) {
        const score *s = &scores[i];
        double share = (double)s->covered / n_seeds, spread = sqrt(s->squares / n_seeds);
        double z = (s->sum / n_seeds - s->truth) / (spread / sqrt((double)n_seeds));
        covered += share / n;
        lowest = fmin(lowest, share);
        ratio += spread / (s->stderrs / n_seeds) / n;
        sum_bias += z * z / n;
        if (fabs(z) > fabs(bias)) bias = z;
    }
    printf("| %s | %u | %.1f %% | %.1f %% | %.3f | %.2f | %.1f |\n", name, n, 100 * covered,
           100 * lowest, ratio, sqrt(sum_bias), bias);
}

static void print_head(void)
{
    printf("|  | figures | 95 %% intervals that hold the truth | the worst figure | rms error / "
           "stated | bias / its "
           "error, rms | largest |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
}

static void open_scene(scene *s, const char *mechanism, uint32_t size, double epsilon, uint64_t n,
                       int has_other)
{
    const uint32_t sizes[2] = {size, size};
    double all = 0;
    agg_error error;
    memset(s, 0, sizeof *s);
    check(joint_world_make(&s->world, &error, mechanism, sizes, epsilon), &error);
    s->table = calloc((size_t)size * size, sizeof *s->table);
    if (s->table == NULL) abort();
    s->named[0] = s->named[1] = 5;
    s->has_other = has_other;
    s->m = s->k = 5 + (has_other != 0);
    s->n = n;
    spread_table(s->table, size);
    for (uint32_t i = 0; i < s->m * s->k; i++) all += table1[i / s->k * 6 + i % s->k];
    for (uint32_t i = 0; i < s->m * s->k; i++) s->truth[i] = table1[i / s->k * 6 + i % s->k] / all;
}

static void close_scene(scene *s)
{
    joint_world_release(&s->world);
    free(s->table);
}

static void print_table(const char *title, const scene *s, uint32_t n_seeds, int what)
{
    printf("\n%s\n\n|  | 1 | 2 | 3 | 4 | 5 | %s\n| --- |", title, s->has_other ? "Other |" : "");
    for (uint32_t j = 0; j < s->k; j++) printf(" --- |");
    printf("\n");
    for (uint32_t i = 0; i < s->m; i++) {
        if (i == 5)
            printf("| Other |");
        else
            printf("| %u |", i + 1);
        for (uint32_t j = 0; j < s->k; j++) {
            const score *c = &s->cells[i * s->k + j];
            double mean = 100 * c->sum / n_seeds;
            if (what == 0)
                printf(" %.3f |", 100 * c->truth);
            else if (what == 1)
                printf(" %.3f |", mean);
            else
                printf(" %.3f / %.3f |", 100 * sqrt(c->squares / n_seeds),
                       100 * c->stderrs / n_seeds);
        }
        printf("\n");
    }
}

static void tables(uint32_t n_seeds)
{
    static scene s;
    open_scene(&s, "rappor", 100, 3, 100000, 1);
    for (uint64_t seed = 1; seed <= n_seeds; seed++) run_seed(&s, seed);
    print_table("Table 1 (percent)", &s, n_seeds, 0);
    print_table("Mean estimate", &s, n_seeds, 1);
    print_table("Root mean squared error / mean stated standard error", &s, n_seeds, 2);
    printf("\n%u collections, on average %.0f tuples, %.0f evaluations of EM's map.\n\n", n_seeds,
           s.tuples / n_seeds, s.iterations / n_seeds);
    print_head();
    print_scores("cells", s.cells, 36, n_seeds);
    print_scores("marginals", s.marginals, 12, n_seeds);
    print_scores("rates P(y given x)", s.rates, 36, n_seeds);
    close_scene(&s);

    open_scene(&s, "rappor", 100, 3, 100000, 0);
    uint32_t few = n_seeds < 10 ? n_seeds : 10;
    for (uint64_t seed = 1; seed <= few; seed++) run_seed(&s, seed);
    print_table("Without Other: the truth among the 25", &s, few, 0);
    print_table("Without Other: mean estimate", &s, few, 1);
    printf("\n%u collections.\n\n", few);
    print_head();
    print_scores("cells", s.cells, 25, few);
    print_scores("rates P(y given x)", s.rates, 25, few);
    close_scene(&s);
}

static void mechanisms(uint32_t n_seeds)
{
    static const char *const names[] = {BASIC,        "grr", "subset", "hadamard", "bloom",
                                        "bloom-1024", "cms", "hcms",   "olh",      "olh-64"};
    static scene s;
    print_head();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char what[96];
        double mean = 0;
        open_scene(&s, names[i], 100, 3, 100000, 1);
        for (uint64_t seed = 1; seed <= n_seeds; seed++) run_seed(&s, seed);
        for (uint32_t c = 0; c < 36; c++) mean += 100 * s.cells[c].stderrs / n_seeds / 36;
        snprintf(what, sizeof what, "%s: mean stated error %.3f %%, %.0f tuples", names[i], mean,
                 s.tuples / n_seeds);
        print_scores(what, s.cells, 36, n_seeds);
        fflush(stdout);
        close_scene(&s);
    }
}

// Three named strings by two of three, and 5 % of the reports about one string more, all of them
// with the second of the two.
static void small_other(uint32_t n_seeds)
{
    static const double table[12] = {30, 10, 0, 10, 30, 0, 6, 9, 0, 0, 5, 0};
    static const uint32_t sizes[2] = {4, 3};
    static const char *const names[] = {"bloom", "bloom-1024", "cms", "olh"};
    static scene s;
    printf("| mechanism | share of (Other, 2), stated error | rms error | 95 %% intervals that "
           "hold 5 %% | all cells "
           "above 0 |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double covered = 0;
        uint32_t n = 0;
        agg_error error;
        memset(&s, 0, sizeof s);
        check(joint_world_make(&s.world, &error, names[i], sizes, 4), &error);
        s.table = malloc(sizeof table);
        if (s.table == NULL) abort();
        memcpy(s.table, table, sizeof table);
        for (int c = 0; c < 12; c++) s.truth[c] = table[c] / 100;
        s.named[0] = 3;
        s.named[1] = 2;
        s.has_other = 1;
        s.m = 4;
        s.k = 3;
        s.n = 100000;
        for (uint64_t seed = 1; seed <= n_seeds; seed++) run_seed(&s, seed);
        for (int c = 0; c < 12; c++) {
            if (s.truth[c] > 0) covered += (double)s.cells[c].covered / n_seeds;
            n += s.truth[c] > 0;
        }
        const score *other = &s.cells[10];
        printf("| %s | %.2f %% +- %.2f | %.2f | %.0f %% | %.1f %% |\n", names[i],
               100 * other->sum / n_seeds, 100 * other->stderrs / n_seeds,
               100 * sqrt(other->squares / n_seeds), 100.0 * other->covered / n_seeds,
               100 * covered / n);
        fflush(stdout);
        close_scene(&s);
    }
}

// 4 x 4 cells, most of them empty, at two epsilons.
static void boundary(uint32_t n_seeds)
{
    static const double table[16] = {0.4, 0, 0,   0, 0.002, 0.25, 0, 0.001,
                                     0,   0, 0.3, 0, 0.005, 0,    0, 0.042};
    static const uint32_t sizes[2] = {4, 4};
    static scene s;
    print_head();
    for (int e = 0; e < 2; e++) {
        char what[64];
        agg_error error;
        memset(&s, 0, sizeof s);
        check(joint_world_make(&s.world, &error, BASIC, sizes, e == 0 ? 1 : 3), &error);
        s.table = malloc(sizeof table);
        if (s.table == NULL) abort();
        memcpy(s.table, table, sizeof table);
        memcpy(s.truth, table, sizeof table);
        s.named[0] = s.named[1] = s.m = s.k = 4;
        s.n = 10000;
        for (uint64_t seed = 1; seed <= n_seeds; seed++) run_seed(&s, seed);
        for (int part = 0; part < 3; part++) {
            const char *const parts[3] = {"cells", "marginals", "rates P(y given x)"};
            const score *const scores[3] = {s.cells, s.marginals, s.rates};
            const uint32_t counts[3] = {16, 8, 16};
            snprintf(what, sizeof what, "epsilon %d, %s", e == 0 ? 1 : 3, parts[part]);
            print_scores(what, scores[part], counts[part], n_seeds);
        }
        close_scene(&s);
    }
}

// -- Independence
// -----------------------------------------------------------------------------------------------------------------------

// Figure 15's tables: marginals uniform over their simplexes, their product, and `diagonal` more,
// spread alike over the diagonal.
static void random_table(double *table, const uint32_t sizes[2], double diagonal, uint64_t seed)
{
    static const uint8_t bytes[32] = "wald tables";
    double shares[2][JOINT_DRAWS_SIZE_MAX];
    uint32_t least = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
    shoal_rng rng;
    shoal_rng_init_stream(&rng, bytes, seed);
    for (int v = 0; v < 2; v++) {
        double sum = 0;
        for (uint32_t i = 0; i < sizes[v]; i++)
            sum += shares[v][i] = -log1p(-joint_draws_uniform(&rng));
        for (uint32_t i = 0; i < sizes[v]; i++) shares[v][i] /= sum;
    }
    for (uint32_t i = 0; i < sizes[0] * sizes[1]; i++)
        table[i] = shares[0][i / sizes[1]] * shares[1][i % sizes[1]] +
                   (i / sizes[1] == i % sizes[1] ? diagonal / least : 0);
}

typedef struct trial {
    double linear, em; // p-values
} trial;

static trial try_pair(const joint_world *world, uint64_t n, double diagonal, uint64_t seed)
{
    double table[CELLS_MAX], p[CELLS_MAX];
    agg_joint_data data;
    agg_joint_wald linear, em;
    agg_joint_covariance c;
    agg_joint_em_result result;
    agg_joint_em_options options = agg_joint_em_defaults();
    agg_error error;
    random_table(table, world->sizes, diagonal, seed);
    check(joint_draws_data(&data, &error, world, table, n, seed, world->sizes, 0, 1), &error);
    check(agg_joint_em(p, &result, &error, &data, &options), &error);
    check(agg_joint_wald_linear(&linear, &error, &data, p, 0, 1), &error);
    check(agg_joint_covariance_make(&c, &error, &data, p, 1), &error);
    check(agg_joint_wald_em(&em, &error, &c, 0, 1), &error);
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
    return (trial){linear.p_value, em.p_value};
}

static const double epsilons[3] = {1.5, 3, 6};

// Writes the quantiles of six sets of sorted p-values against the uniform law's, one small square
// each.
static void write_svg(const char *path, double *const p_values[6], size_t n)
{
    static const char *const colours[6] = {"#1b6ca8", "#1b6ca8", "#1b6ca8",
                                           "#b3541e", "#b3541e", "#b3541e"};
    FILE *stream = fopen(path, "w");
    if (stream == NULL) {
        perror(path);
        exit(1);
    }
    fprintf(stream, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"460\" "
                    "viewBox=\"0 0 660 460\" "
                    "font-family=\"sans-serif\" font-size=\"12\">\n<title>Quantiles of the test's "
                    "p-values for independent "
                    "pairs against the uniform law</title>\n<rect width=\"660\" height=\"460\" "
                    "fill=\"#fff\"/>\n");
    for (int k = 0; k < 6; k++) {
        int x = 40 + k % 3 * 210, y = 30 + k / 3 * 220;
        fprintf(stream, "<text x=\"%d\" y=\"%d\">%d x %d, epsilon %g</text>\n", x, y - 8,
                k < 3 ? 3 : 6, k < 3 ? 3 : 6, epsilons[k % 3]);
        fprintf(stream,
                "<rect x=\"%d\" y=\"%d\" width=\"170\" height=\"170\" fill=\"none\" "
                "stroke=\"#999\"/>\n",
                x, y);
        fprintf(stream, "<path d=\"M%d %dL%d %d\" stroke=\"#999\" stroke-dasharray=\"4 3\"/>\n", x,
                y + 170, x + 170, y);
        fprintf(stream, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", colours[k]);
        for (size_t i = 0; i <= 100; i++) {
            size_t at = i * (n - 1) / 100;
            fprintf(stream, "%c%.1f %.1f", i == 0 ? 'M' : 'L',
                    x + 170 * ((double)at + 0.5) / (double)n, y + 170 * (1 - p_values[k][at]));
        }
        fprintf(stream,
                "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"#555\">0</text><text x=\"%d\" y=\"%d\" "
                "fill=\"#555\">1</text>\n",
                x, y + 184, x + 163, y + 184);
    }
    fprintf(stream,
            "<text x=\"230\" y=\"452\" fill=\"#555\">quantile of the uniform law; upright: of the "
            "p-values</text>\n</svg>\n");
    if (fclose(stream) != 0) {
        perror(path);
        exit(1);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void wald(size_t n_pairs, const char *svg)
{
    double *p_values[6], *em = calloc(n_pairs, sizeof *em);
    printf("| table | epsilon | type I error | KS p | the paper's form: type I error | KS p |\n| "
           "--- | --- | --- | --- "
           "| --- | --- |\n");
    for (int k = 0; k < 6; k++) {
        uint32_t m = k < 3 ? 3 : 6;
        const uint32_t sizes[2] = {m, m};
        size_t low = 0, low_em = 0;
        joint_world world;
        agg_error error;
        check(joint_world_make(&world, &error, BASIC, sizes, epsilons[k % 3]), &error);
        p_values[k] = calloc(n_pairs, sizeof *p_values[k]);
        if (p_values[k] == NULL || em == NULL) abort();
        for (size_t i = 0; i < n_pairs; i++) {
            trial t = try_pair(&world, 10000, 0, 1000000 * (uint64_t)(k + 1) + i);
            p_values[k][i] = t.linear;
            em[i] = t.em;
            low += t.linear <= 0.05;
            low_em += t.em <= 0.05;
        }
        printf("| %u x %u | %g | %.4f | %.3f |", m, m, epsilons[k % 3],
               (double)low / (double)n_pairs, joint_draws_uniformity(p_values[k], n_pairs));
        printf(" %.4f | %.2g |\n", (double)low_em / (double)n_pairs,
               joint_draws_uniformity(em, n_pairs));
        fflush(stdout);
        joint_world_release(&world);
    }
    for (int k = 0; k < 6; k++) qsort(p_values[k], n_pairs, sizeof(double), ascending);
    if (svg != NULL) write_svg(svg, p_values, n_pairs);
    for (int k = 0; k < 6; k++) free(p_values[k]);
    free(em);
}

static void power(size_t n_pairs)
{
    static const uint64_t reports[3] = {1000, 10000, 100000};
    static const uint32_t others[3] = {3, 6, 10};
    printf("| mass on the diagonal | table | reports | epsilon 1.5 | 3 | 6 |\n| --- | --- | --- | "
           "--- | --- | --- |\n");
    for (int d = 0; d < 2; d++)
        for (int o = 0; o < 3; o++)
            for (int r = 0; r < 3; r++) {
                const uint32_t sizes[2] = {6, others[o]};
                printf("| %g | 6 x %u | %llu |", d == 0 ? 0.05 : 0.1, others[o],
                       (unsigned long long)reports[r]);
                for (int e = 0; e < 3; e++) {
                    joint_world world;
                    agg_error error;
                    size_t low = 0;
                    check(joint_world_make(&world, &error, BASIC, sizes, epsilons[e]), &error);
                    for (size_t i = 0; i < n_pairs; i++)
                        low += try_pair(&world, reports[r], d == 0 ? 0.05 : 0.1, 50000000 + i)
                                   .linear <= 0.05;
                    printf(" %.2f |", (double)low / (double)n_pairs);
                    fflush(stdout);
                    joint_world_release(&world);
                }
                printf("\n");
            }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (strcmp(what, "tables") == 0)
        tables(n > 0 ? n : 200);
    else if (strcmp(what, "mechanisms") == 0)
        mechanisms(n > 0 ? n : 100);
    else if (strcmp(what, "boundary") == 0)
        boundary(n > 0 ? n : 500);
    else if (strcmp(what, "small") == 0)
        small_other(n > 0 ? n : 60);
    else if (strcmp(what, "wald") == 0)
        wald(n > 0 ? n : 2000, argc > 3 ? argv[3] : NULL);
    else if (strcmp(what, "power") == 0)
        power(n > 0 ? n : 200);
    else {
        fputs(
            "usage: shoal_joint_study tables|mechanisms|small|boundary|wald|power [COUNT [SVG]]\n",
            stderr);
        return 2;
    }
    return 0;
}
