// SPDX-License-Identifier: Apache-2.0
// shoal_joint_figures: how far joint estimates are from the truth, and how often independent
// variables are called dependent, for the figures 3, 14 and 16 of fanti-2016. Reads settings from
// standard input, a line each, and answers with a line of JSON:
//
//     distance EPSILON N ROWS COLUMNS SEEDS     Hellinger distance of the estimated table from the
//     true one, over SEEDS random tables errors EPSILON N ROWS COLUMNS PAIRS       share of PAIRS
//     of independent variables that the test at 5 % calls dependent
//
// Variables are Basic RAPPOR with f = 0 and q = 1 - p (onehot-symmetric, which draws the same
// bits), of EPSILON each. Tables, or the two marginals, are drawn uniformly from the simplex. One
// core; everything follows from fixed seeds. joint_figures.mjs runs it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "joint_draws.h"
#include "joint_wald.h"

#define CELLS_MAX (JOINT_DRAWS_SIZE_MAX * JOINT_DRAWS_SIZE_MAX)

static void check(agg_err err, const agg_error *error)
{
    if (err == SHOAL_OK) return;
    fprintf(stderr, "shoal_joint_figures: %s\n", error->text);
    exit(1);
}

typedef struct setting {
    double epsilon;
    unsigned long n;
    unsigned rows, columns, runs;
} setting;

// A point of the simplex, uniformly: exponential variables over their sum.
static void draw_simplex(double *p, uint32_t n, shoal_rng *rng)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += p[i] = -log(1 - joint_draws_uniform(rng));
    for (uint32_t i = 0; i < n; i++) p[i] /= sum;
}

static void start(shoal_rng *rng, uint64_t run)
{
    static const uint8_t seed[32] = {'f', 'i', 'g', 'u', 'r', 'e', 's'};
    shoal_rng_init_stream(rng, seed, run);
}

static double hellinger(const double *p, const double *q, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += (sqrt(p[i]) - sqrt(q[i])) * (sqrt(p[i]) - sqrt(q[i]));
    return sqrt(sum / 2);
}

static void make_data(agg_joint_data *data, const joint_world *world, const double *table,
                      const setting *s, uint64_t run)
{
    agg_error error;
    check(joint_draws_data(data, &error, world, table, s->n, 1000 + run, world->sizes, 0, 1),
          &error);
}

static double run_distance(const joint_world *world, const setting *s, uint64_t run)
{
    static double table[CELLS_MAX], p[CELLS_MAX];
    const agg_joint_em_options options = agg_joint_em_defaults();
    agg_joint_em_result em;
    agg_joint_data data;
    agg_error error;
    shoal_rng rng;
    start(&rng, run);
    draw_simplex(table, s->rows * s->columns, &rng);
    make_data(&data, world, table, s, run);
    check(agg_joint_em(p, &em, &error, &data, &options), &error);
    agg_joint_data_release(&data);
    return hellinger(p, table, s->rows * s->columns);
}

static int run_test(const joint_world *world, const setting *s, uint64_t run)
{
    static double table[CELLS_MAX], p[CELLS_MAX];
    double x[JOINT_DRAWS_SIZE_MAX], y[JOINT_DRAWS_SIZE_MAX];
    const agg_joint_em_options options = agg_joint_em_defaults();
    agg_joint_em_result em;
    agg_joint_wald wald;
    agg_joint_data data;
    agg_error error;
    shoal_rng rng;
    start(&rng, run);
    draw_simplex(x, s->rows, &rng);
    draw_simplex(y, s->columns, &rng);
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint32_t j = 0; j < s->columns; j++) table[i * s->columns + j] = x[i] * y[j];
    make_data(&data, world, table, s, run);
    check(agg_joint_em(p, &em, &error, &data, &options), &error);
    check(agg_joint_wald_linear(&wald, &error, &data, p, 0, 1), &error);
    agg_joint_data_release(&data);
    return wald.p_value < 0.05;
}

static void run_setting(const char *what, const setting *s)
{
    joint_world world;
    agg_error error;
    double sum = 0, squares = 0;
    const uint32_t sizes[2] = {s->rows, s->columns};
    check(joint_world_make(&world, &error, "onehot-symmetric", sizes, s->epsilon), &error);
    for (unsigned i = 0; i < s->runs; i++) {
        double x = what[0] == 'd' ? run_distance(&world, s, i) : run_test(&world, s, i);
        sum += x;
        squares += x * x;
    }
    joint_world_release(&world);
    double mean = sum / s->runs,
           variance = s->runs > 1 ? (squares - mean * sum) / (s->runs - 1) : 0;
    printf("{\"epsilon\":%g,\"n\":%lu,\"rows\":%u,\"columns\":%u,\"runs\":%u,\"mean\":%.6f,\"sd\":%"
           ".6f}\n",
           s->epsilon, s->n, s->rows, s->columns, s->runs, mean, sqrt(fmax(variance, 0)));
    fflush(stdout);
}

int main(void)
{
    char line[160], what[16];
    setting s;
    while (fgets(line, sizeof line, stdin) != NULL) {
        int n = sscanf(line, "%15s %lf %lu %u %u %u", what, &s.epsilon, &s.n, &s.rows, &s.columns,
                       &s.runs);
        int is_known = n == 6 && (what[0] == 'd' || what[0] == 'e') && s.runs > 0;
        if (!is_known || s.rows < 2 || s.columns < 2 || s.rows > JOINT_DRAWS_SIZE_MAX ||
            s.columns > JOINT_DRAWS_SIZE_MAX) {
            fprintf(stderr, "shoal_joint_figures: no such setting: %s", line);
            return 2;
        }
        run_setting(what, &s);
    }
    return 0;
}
