// SPDX-License-Identifier: Apache-2.0
// Simulated devices of two variables, for studies and tests of joint distributions: pairs drawn
// from a table, randomized by the core, kept in an accumulator. Everything follows from one seed.
#ifndef JOINT_DRAWS_H
#define JOINT_DRAWS_H

#include "accumulator.h"
#include "joint_data.h"
#include "joint_em.h"
#include "recipe_json.h"

#define JOINT_DRAWS_SIZE_MAX 128u

typedef struct joint_world {
    agg_recipe recipe;
    uint32_t sizes[2]; // values of each variable
    uint64_t items[2][JOINT_DRAWS_SIZE_MAX];
} joint_world;

// Makes a recipe of two variables of `sizes` values each.
//   mechanism: "rappor": Basic, a bit a value, q = 1 - p, f = 0, epsilon just below the stated one;
//   "bloom": RAPPOR over strings, 32 bits, 2 hashes, 8
//     cohorts, p = 1 - q, "bloom-1024": 1,024 cohorts; "cms", "hcms" (1024 x 1024), "olh" (65,536
//     rows, g = 16), "olh-64" (64 rows) over strings; or a mechanism of a list with "epsilon" and
//     "size"
//   epsilon: of each variable
agg_err joint_world_make(joint_world *world, agg_error *error, const char *mechanism,
                         const uint32_t sizes[2], double epsilon);
void joint_world_release(joint_world *world);

// Uniform in [0, 1), of 53 bits.
double joint_draws_uniform(shoal_rng *rng);

// Makes an accumulator of n devices' records.
//   table: sizes[0] * sizes[1] weights, the second variable running fastest
//   seed: the whole of it
agg_err joint_draws_records(agg_accumulator *acc, agg_error *error, const joint_world *world,
                            const double *table, uint64_t n, uint64_t seed);

// The same, analysed: the likelihood data of the first `n_named` values of each variable, with
// "Other" for the rest if has_other.
agg_err joint_draws_data(agg_joint_data *data, agg_error *error, const joint_world *world,
                         const double *table, uint64_t n, uint64_t seed, const uint32_t n_named[2],
                         int has_other, unsigned n_threads);

// Kolmogorov and Smirnov's test of numbers in [0, 1] against the uniform law: Kolmogorov's limit at
// the distance times sqrt(n) + 0.12 + 0.11 / sqrt(n) (Stephens 1970), to 1e-3 from n = 20 on.
//   x: n numbers, sorted here
//   Returns: the p-value
double joint_draws_uniformity(double *x, size_t n);

#endif
