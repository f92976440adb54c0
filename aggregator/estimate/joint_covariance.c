// SPDX-License-Identifier: Apache-2.0
// The observed information of a joint table, its inverse, and the intervals; see
// joint_covariance.h.
//
// A report's likelihoods are a product of the first variable's row a and the vector b of all other
// variables. Tuples with one row a lie together. So their sum of b b' / s^2 is computed first,
// which takes R^2 / 2 multiply-adds a tuple for R cells of the other variables, and enters J once,
// as (a a') x the sum. Both factors are symmetric, so that only pairs of categories i >= j are
// stored: a quarter of J.
#include "joint_covariance.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "dense.h"
#include "normal_law.h"

#define PIECES_MAX 16u                  // pieces of the tuples; each has its own sum
#define PIECES_BYTES ((size_t)64 << 20) // for all their sums

typedef struct information {
    const agg_joint_data *data;
    const double *p;
    size_t n_first, n_rest;         // categories of the first variable, cells of the others
    size_t first_pairs, rest_pairs; // pairs i >= j of each
    size_t stride;                  // numbers of a piece: the sum, then scratch
    unsigned n_pieces;
    double *pieces;
    bool *is_impossible; // by piece: it has a report that is impossible under p
} information;

static size_t pairs(size_t n)
{
    return n * (n + 1) / 2;
}

// Computes the likelihoods of a tuple under the cells of all variables but the first.
static void weigh_rest(double *b, const agg_joint_data *data, size_t tuple)
{
    size_t n = 1;
    b[0] = 1;
    for (uint32_t v = 1; v < data->n_variables; v++) {
        const double *row = agg_joint_data_row(data, tuple, v);
        size_t width = data->variables[v].n;
        for (size_t i = n; i-- > 0;)
            for (size_t j = width; j-- > 0;) b[i * width + j] = b[i] * row[j];
        n *= width;
    }
}

// Adds (a a') x `block` to a piece's sum.
static void spread(double *sum, const double *a, const double *block, size_t n_first,
                   size_t rest_pairs)
{
    for (size_t i = 0; i < n_first; i++)
        for (size_t j = 0; j <= i; j++, sum += rest_pairs) {
            double share = a[i] * a[j];
            for (size_t k = 0; k < rest_pairs; k++) sum[k] += share * block[k];
        }
}

// Adds the tuples [start, stop) to `sum`.
//   scratch: rest_pairs + 2 n_rest
// Returns: whether every report is possible under p.
static bool add_tuples(const information *in, double *sum, double *scratch, size_t start,
                       size_t stop)
{
    const agg_joint_data *data = in->data;
    double *block = scratch, *weights = block + in->rest_pairs, *b = weights + in->n_rest;
    for (size_t t = start; t < stop;) {
        uint32_t first = data->tuples[t * data->n_variables];
        const double *a = agg_joint_data_row(data, t, 0);
        memset(scratch, 0, (in->rest_pairs + in->n_rest) * sizeof *scratch);
        for (size_t i = 0; i < in->n_first; i++)
            for (size_t r = 0; r < in->n_rest; r++) weights[r] += a[i] * in->p[i * in->n_rest + r];
        for (; t < stop && data->tuples[t * data->n_variables] == first; t++) {
            double chance = 0, *to = block;
            weigh_rest(b, data, t);
            for (size_t r = 0; r < in->n_rest; r++) chance += weights[r] * b[r];
            if (!(chance > 0)) return false;
            double scale = data->counts[t] / (chance * chance);
            for (size_t i = 0; i < in->n_rest; to += ++i) {
                double share = scale * b[i];
                for (size_t j = 0; j <= i; j++) to[j] += share * b[j];
            }
        }
        spread(sum, a, block, in->n_first, in->rest_pairs);
    }
    return true;
}

static void add_pieces(void *context, unsigned part, unsigned n_parts)
{
    const information *in = context;
    for (unsigned i = part; i < in->n_pieces; i += n_parts) {
        double *sum = in->pieces + i * in->stride;
        in->is_impossible[i] = !add_tuples(in, sum, sum + in->first_pairs * in->rest_pairs,
                                           in->data->n_tuples * i / in->n_pieces,
                                           in->data->n_tuples * (i + 1) / in->n_pieces);
    }
}

// Unfolds the stored quarter to the whole matrix.
static void unfold(double *matrix, const double *sum, const information *in)
{
    size_t n = in->n_first * in->n_rest;
    for (size_t i = 0; i < in->n_first; i++)
        for (size_t j = 0; j <= i; j++)
            for (size_t r = 0; r < in->n_rest; r++)
                for (size_t c = 0; c <= r; c++, sum++) {
                    size_t ir = i * in->n_rest + r, ic = i * in->n_rest + c,
                           jr = j * in->n_rest + r, jc = j * in->n_rest + c;
                    matrix[ir * n + jc] = matrix[jc * n + ir] = matrix[ic * n + jr] =
                        matrix[jr * n + ic] = *sum;
                }
}

static agg_err allocate_pieces(information *in, agg_error *error)
{
    size_t quarter, all;
    if (!agg_size_multiply(&quarter, in->first_pairs, in->rest_pairs) ||
        !agg_size_multiply(&all, quarter + in->rest_pairs + 2 * in->n_rest, PIECES_MAX))
        return agg_fail_core(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME);
    in->stride = quarter + in->rest_pairs + 2 * in->n_rest;
    size_t fit = PIECES_BYTES / sizeof *in->pieces / in->stride;
    in->n_pieces = fit < 1 ? 1 : fit > PIECES_MAX ? PIECES_MAX : (unsigned)fit;
    in->pieces = agg_alloc(error, in->n_pieces * in->stride, sizeof *in->pieces);
    in->is_impossible = agg_alloc(error, in->n_pieces, sizeof *in->is_impossible);
    return in->pieces != NULL && in->is_impossible != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err add_all(double *matrix, agg_error *error, information *in, unsigned n_threads)
{
    agg_parallel(n_threads < 1            ? 1
                 : n_threads > PIECES_MAX ? PIECES_MAX
                                          : n_threads,
                 add_pieces, in);
    for (unsigned i = 0; i < in->n_pieces; i++) {
        if (in->is_impossible[i])
            return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                            "a report is impossible under the joint table");
        for (size_t k = 0; i > 0 && k < in->first_pairs * in->rest_pairs; k++)
            in->pieces[k] += in->pieces[i * in->stride + k];
    }
    unfold(matrix, in->pieces, in);
    return SHOAL_OK;
}

agg_err agg_joint_information(double *matrix, agg_error *error, const agg_joint_data *data,
                              const double *p, unsigned n_threads)
{
    information in = {.data = data, .p = p, .n_first = data->variables[0].n};
    in.n_rest = data->n_cells / in.n_first;
    in.first_pairs = pairs(in.n_first);
    in.rest_pairs = pairs(in.n_rest);
    agg_err err = allocate_pieces(&in, error);
    if (err == SHOAL_OK) err = add_all(matrix, error, &in, n_threads);
    free(in.pieces);
    free(in.is_impossible);
    return err;
}

// The reflection I - u u' with u = (w, t, t, ... t) and u' u = 2, which maps the vector of ones to
// the first axis.
typedef struct reflection {
    double first, others;
} reflection;

static reflection reflection_of(size_t n)
{
    double root = sqrt((double)n), others = 1 / sqrt((double)n + root);
    return (reflection){(1 + root) * others, others};
}

static double along(const reflection *h, const double *x, size_t n, size_t step)
{
    double sum = h->first * x[0];
    for (size_t i = 1; i < n; i++) sum += h->others * x[i * step];
    return sum;
}

// Reflects each row of `a` (n_rows x n).
static void reflect_rows(double *a, const reflection *h, size_t n_rows, size_t n)
{
    for (size_t i = 0; i < n_rows; i++) {
        double *row = a + i * n, part = along(h, row, n, 1);
        row[0] -= part * h->first;
        for (size_t j = 1; j < n; j++) row[j] -= part * h->others;
    }
}

// Replaces a symmetric n x n matrix by H a H.
//   scratch: n
static void reflect_both(double *a, double *scratch, const reflection *h, size_t n)
{
    reflect_rows(a, h, n, n);
    for (size_t j = 0; j < n; j++) scratch[j] = h->first * a[j];
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < n; j++) scratch[j] += h->others * a[i * n + j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i * n + j] -= (i == 0 ? h->first : h->others) * scratch[j];
}

// Copies the last n - 1 rows and columns of `wide` (n x n) to `narrow`. widen_to copies rows back,
// with a zero in the first column.
static void narrow_to(double *narrow, const double *wide, size_t n)
{
    for (size_t i = 1; i < n; i++)
        memcpy(narrow + (i - 1) * (n - 1), wide + i * n + 1, (n - 1) * sizeof *wide);
}

static void widen_to(double *wide, const double *narrow, size_t n_rows, size_t n)
{
    for (size_t i = 0; i < n_rows; i++) {
        wide[i * n] = 0;
        memcpy(wide + i * n + 1, narrow + i * (n - 1), (n - 1) * sizeof *wide);
    }
}

// Turns c->matrix from the information into the covariance.
//   narrow, inverse, scratch: (n - 1)^2, (n - 1)^2 and n numbers
static agg_err invert_in_plane(agg_joint_covariance *c, agg_error *error, double *narrow,
                               double *inverse, double *scratch)
{
    size_t n = c->n_cells, m = n - 1;
    reflection h = reflection_of(n);
    reflect_both(c->matrix, scratch, &h, n);
    narrow_to(narrow, c->matrix, n);
    // `matrix` is unused until it is written, so its first m * m numbers take the null space.
    agg_err err = agg_dense_pseudo_inverse(inverse, c->matrix, &c->rank, error, narrow, m);
    if (err != SHOAL_OK) return err;
    if (c->rank < m) {
        c->unknown = agg_alloc(error, (m - c->rank) * n, sizeof *c->unknown);
        if (c->unknown == NULL) return AGG_ERR_MEMORY;
        widen_to(c->unknown, c->matrix, m - c->rank, n);
        reflect_rows(c->unknown, &h, m - c->rank, n);
    }
    memset(c->matrix, 0, n * sizeof *c->matrix);
    widen_to(c->matrix + n, inverse, m, n);
    reflect_both(c->matrix, scratch, &h, n);
    return SHOAL_OK;
}

static agg_err fill(agg_joint_covariance *c, agg_error *error, unsigned n_threads)
{
    size_t n = c->n_cells, square;
    if (!agg_size_multiply(&square, n, n))
        return agg_fail_core(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME);
    c->matrix = agg_alloc(error, square, sizeof *c->matrix);
    if (c->matrix == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_joint_information(c->matrix, error, c->data, c->p, n_threads);
    if (err != SHOAL_OK) return err;
    double *narrow = agg_alloc(error, square, sizeof *narrow),
           *inverse = agg_alloc(error, square, sizeof *inverse),
           *scratch = agg_alloc(error, n, sizeof *scratch);
    err = narrow != NULL && inverse != NULL && scratch != NULL
              ? invert_in_plane(c, error, narrow, inverse, scratch)
              : AGG_ERR_MEMORY;
    free(narrow);
    free(inverse);
    free(scratch);
    return err;
}

agg_err agg_joint_covariance_make(agg_joint_covariance *covariance, agg_error *error,
                                  const agg_joint_data *data, const double *p, unsigned n_threads)
{
    memset(covariance, 0, sizeof *covariance);
    if (data->n == 0 || data->n_cells == 0)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "a joint table without reports has no covariance");
    covariance->data = data;
    covariance->p = p;
    covariance->n_cells = data->n_cells;
    covariance->n_free = data->n_cells - 1;
    agg_err err = fill(covariance, error, n_threads);
    if (err != SHOAL_OK) agg_joint_covariance_release(covariance);
    return err;
}

void agg_joint_covariance_release(agg_joint_covariance *covariance)
{
    free(covariance->matrix);
    free(covariance->unknown);
    memset(covariance, 0, sizeof *covariance);
}

#define NO_TARGET UINT32_MAX

// The table summed over all variables but one or two, with the parts of its covariance that
// marginals and rates need.
typedef struct collapsed {
    size_t n_given, n_target; // n_target is 1 if there is no target
    double *p;                // n_given * n_target
    double *blocks;  // n_given blocks of n_target * n_target: covariances of the sums within a
                     // category of `given`
    double *unknown; // n_given * n_target: the sums' squares along unknown directions
    double *unknown_given; // n_given: the same for the sum over the target
} collapsed;

typedef struct cell_map {
    size_t given_stride, n_given, target_stride, n_target;
} cell_map;

static cell_map map_of(const agg_joint_data *data, uint32_t given, uint32_t target)
{
    cell_map map = {agg_joint_stride(data, given), data->variables[given].n, 1, 1};
    if (target != NO_TARGET) {
        map.target_stride = agg_joint_stride(data, target);
        map.n_target = data->variables[target].n;
    }
    return map;
}

static void sum_shares(collapsed *to, const agg_joint_covariance *from, const cell_map *map)
{
    for (size_t c = 0; c < from->n_cells; c++) {
        size_t g = c / map->given_stride % map->n_given, t = c / map->target_stride % map->n_target;
        const double *row = from->matrix + c * from->n_cells;
        double *block_row = to->blocks + (g * map->n_target + t) * map->n_target;
        to->p[g * map->n_target + t] += from->p[c];
        for (size_t d = 0; d < from->n_cells; d++)
            if (d / map->given_stride % map->n_given == g)
                block_row[d / map->target_stride % map->n_target] += row[d];
    }
}

// Computes the sums' squares along unknown directions, relative to the square of each sum's vector.
//   scratch: n_given * n_target
static void sum_unknown(collapsed *to, double *scratch, const agg_joint_covariance *from,
                        const cell_map *map)
{
    size_t n_pairs = map->n_given * map->n_target;
    double cells = (double)(from->n_cells / n_pairs);
    for (size_t u = 0; u < from->n_free - from->rank; u++) {
        memset(scratch, 0, n_pairs * sizeof *scratch);
        for (size_t c = 0; c < from->n_cells; c++)
            scratch[c / map->given_stride % map->n_given * map->n_target +
                    c / map->target_stride % map->n_target] += from->unknown[u * from->n_cells + c];
        for (size_t g = 0; g < map->n_given; g++) {
            double whole = 0;
            for (size_t t = 0; t < map->n_target; t++) {
                double part = scratch[g * map->n_target + t];
                whole += part;
                to->unknown[g * map->n_target + t] += part * part / cells;
            }
            to->unknown_given[g] += whole * whole / (cells * (double)map->n_target);
        }
    }
}

static void collapsed_release(collapsed *c)
{
    free(c->p);
    free(c->blocks);
    free(c->unknown);
    free(c->unknown_given);
}

static agg_err collapse(collapsed *to, agg_error *error, const agg_joint_covariance *from,
                        uint32_t given, uint32_t target)
{
    cell_map map = map_of(from->data, given, target);
    size_t n_pairs = map.n_given * map.n_target; // at most n_cells
    *to = (collapsed){.n_given = map.n_given, .n_target = map.n_target};
    to->p = agg_alloc(error, n_pairs, sizeof *to->p);
    to->blocks = agg_alloc(error, n_pairs, map.n_target * sizeof *to->blocks);
    to->unknown = agg_alloc(error, n_pairs, sizeof *to->unknown);
    to->unknown_given = agg_alloc(error, map.n_given, sizeof *to->unknown_given);
    double *scratch = agg_alloc(error, n_pairs, sizeof *scratch);
    bool is_full =
        to->p != NULL && to->blocks != NULL && to->unknown != NULL && to->unknown_given != NULL;
    if (is_full && scratch != NULL) {
        sum_shares(to, from, &map);
        sum_unknown(to, scratch, from, &map);
    } else {
        collapsed_release(to);
    }
    free(scratch);
    return is_full && scratch != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

static double two_sided(double confidence)
{
    return -agg_normal_quantile((1 - confidence) / 2);
}

void agg_joint_cells(agg_joint_share *shares, const agg_joint_covariance *covariance,
                     double confidence)
{
    size_t n = covariance->n_cells;
    double z = two_sided(confidence);
    for (size_t c = 0; c < n; c++) {
        double unknown = 0;
        for (size_t u = 0; u < covariance->n_free - covariance->rank; u++)
            unknown += covariance->unknown[u * n + c] * covariance->unknown[u * n + c];
        shares[c] = agg_joint_share_of(covariance->p[c], covariance->matrix[c * n + c], unknown, z);
    }
}

agg_err agg_joint_marginal(agg_joint_share *shares, agg_error *error,
                           const agg_joint_covariance *covariance, uint32_t variable,
                           double confidence)
{
    collapsed c;
    double z = two_sided(confidence);
    agg_err err = collapse(&c, error, covariance, variable, NO_TARGET);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < c.n_given; i++)
        shares[i] = agg_joint_share_of(c.p[i], c.blocks[i], c.unknown[i], z);
    collapsed_release(&c);
    return SHOAL_OK;
}

agg_err agg_joint_rates(agg_joint_share *shares, agg_error *error,
                        const agg_joint_covariance *covariance, uint32_t given, uint32_t target,
                        double confidence)
{
    collapsed c;
    double z = two_sided(confidence);
    agg_err err = collapse(&c, error, covariance, given, target);
    if (err != SHOAL_OK) return err;
    for (size_t g = 0; g < c.n_given; g++) {
        const double *p = c.p + g * c.n_target, *block = c.blocks + g * c.n_target * c.n_target;
        double b = 0, bb = 0;
        for (size_t t = 0; t < c.n_target; t++) b += p[t];
        for (size_t i = 0; i < c.n_target * c.n_target; i++) bb += block[i];
        for (size_t t = 0; t < c.n_target; t++) {
            double ab = 0, unknown = fmax(c.unknown[g * c.n_target + t], c.unknown_given[g]);
            for (size_t i = 0; i < c.n_target; i++) ab += block[t * c.n_target + i];
            shares[g * c.n_target + t] =
                agg_joint_rate_of(p[t], b, block[t * c.n_target + t], ab, bb, unknown, z);
        }
    }
    collapsed_release(&c);
    return SHOAL_OK;
}
