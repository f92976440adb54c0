// SPDX-License-Identifier: Apache-2.0
// Binomial numbers; see binomial_draw.h.
#include "binomial_draw.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agg_size.h"

#define TAIL 1e-22        // outcomes lighter than this part of the mode's weight are omitted
#define INVERT_BELOW 10.0 // n p from which on the rejection sampler is used

// ---- the table ----

typedef struct range {
    uint32_t first, last;
} range;

// Finds the outcomes that weigh more than TAIL times the mode.
static range find_range(uint32_t n, double odds, uint32_t mode)
{
    range r = {mode, mode};
    for (double w = 1; r.first > 0; r.first--) {
        w *= r.first / (odds * ((double)n - r.first + 1));
        if (w < TAIL) break;
    }
    for (double w = 1; r.last < n; r.last++) {
        w *= odds * ((double)n - r.last) / ((double)r.last + 1);
        if (w < TAIL) break;
    }
    return r;
}

// Writes the weights of the range, scaled to a mean of 1.
static void fill_weights(double *weights, const range *r, uint32_t n, double odds, uint32_t mode)
{
    uint32_t size = r->last - r->first + 1;
    double sum = 1;
    weights[mode - r->first] = 1;
    for (uint32_t k = mode; k > r->first; k--)
        sum += weights[k - 1 - r->first] =
            weights[k - r->first] * (k / (odds * ((double)n - k + 1)));
    for (uint32_t k = mode; k < r->last; k++)
        sum += weights[k + 1 - r->first] =
            weights[k - r->first] * (odds * ((double)n - k) / ((double)k + 1));
    for (uint32_t i = 0; i < size; i++) weights[i] *= size / sum;
}

static uint64_t threshold_of(double share)
{
    return share >= 1 ? UINT64_MAX : (uint64_t)(share * 18446744073709551616.0);
}

// Gives the rest of a light outcome's slot to a heavy one, until every slot is full.
static void fill_slots(binomial_table *table, double *weights, uint32_t *order)
{
    uint32_t size = table->n_slots, n_light = 0, n_heavy = 0;
    for (uint32_t i = 0; i < size; i++) {
        if (weights[i] < 1)
            order[n_light++] = i;
        else
            order[size - ++n_heavy] = i;
    }
    while (n_light > 0 && n_heavy > 0) {
        uint32_t light = order[--n_light], heavy = order[size - n_heavy];
        table->slots[light] = (binomial_slot){threshold_of(weights[light]), heavy};
        weights[heavy] -= 1 - weights[light];
        if (weights[heavy] >= 1) continue;
        n_heavy--;
        order[n_light++] = heavy;
    }
    while (n_heavy > 0) { // these slots are full up to rounding
        uint32_t i = order[size - n_heavy--];
        table->slots[i] = (binomial_slot){UINT64_MAX, i};
    }
    while (n_light > 0) {
        uint32_t i = order[--n_light];
        table->slots[i] = (binomial_slot){UINT64_MAX, i};
    }
}

static agg_err fill_table(binomial_table *table, agg_error *error, const range *r, uint32_t n,
                          double odds, uint32_t mode)
{
    double *weights = agg_alloc(error, table->n_slots, sizeof *weights);
    uint32_t *order = agg_alloc(error, table->n_slots, sizeof *order);
    agg_err err = weights == NULL || order == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        fill_weights(weights, r, n, odds, mode);
        fill_slots(table, weights, order);
    }
    free(weights);
    free(order);
    return err;
}

agg_err binomial_table_init(binomial_table *table, agg_error *error, uint32_t n, double p)
{
    bool is_sure = !(p > 0 && p < 1);
    double odds = is_sure ? 1 : p / (1 - p);
    uint32_t mode = is_sure ? (p > 0 ? n : 0) : (uint32_t)(((double)n + 1) * p);
    if (mode > n) mode = n;
    range r = is_sure ? (range){mode, mode} : find_range(n, odds, mode);
    *table = (binomial_table){r.first, r.last - r.first + 1, NULL};
    table->slots = agg_alloc(error, table->n_slots, sizeof *table->slots);
    if (table->slots == NULL) return AGG_ERR_MEMORY;
    agg_err err = fill_table(table, error, &r, n, odds, mode);
    if (err != SHOAL_OK) free(table->slots);
    return err;
}

void binomial_table_release(binomial_table *table)
{
    free(table->slots);
    table->slots = NULL;
}

// ---- the sampler ----

// Returns: a uniform number in (0, 1) of 53 bits.
static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 11) + 0.5) / 9007199254740992.0;
}

// Draws by inversion. With p at most 1/2 and n p below INVERT_BELOW, q^n is above 1e-7.
static uint32_t invert(shoal_rng *rng, uint32_t n, double p)
{
    double q = 1 - p, odds = p / q;
    for (;;) {
        double w = exp(n * log1p(-p)), u = uniform(rng);
        for (uint32_t k = 0; k <= n && w > 0; k++) {
            if (u < w) return k;
            u -= w;
            w *= odds * ((double)n - k) / ((double)k + 1);
        }
    }
}

// Returns: ln k! without Stirling's leading terms at k + 1.
static double stirling_rest(double k)
{
    static const double small[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                   0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                   0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                   0.00833056343336287};
    double square = (k + 1) * (k + 1);
    if (k < 10) return small[(int)k];
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Draws by rejection (BTRS) for p at most 1/2 and n p at least INVERT_BELOW. The constants are
// Hoermann's.
static uint32_t reject(shoal_rng *rng, uint32_t n, double p)
{
    double q = 1 - p, spread = sqrt(n * p * q), odds = p / q;
    double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5,
           quick = 0.92 - 4.2 / b;
    double alpha = (2.83 + 5.1 / b) * spread, mode = floor(((double)n + 1) * p),
           rest = (double)n - mode;
    for (;;) {
        double u = uniform(rng) - 0.5, v = uniform(rng), us = 0.5 - fabs(u),
               k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= quick) return (uint32_t)k;
        if (k < 0 || k > n) continue;
        v = log(v * alpha / (a / (us * us) + b));
        double other = (double)n - k;
        double bound = (mode + 0.5) * log((mode + 1) / (odds * (rest + 1))) +
                       ((double)n + 1) * log((rest + 1) / (other + 1)) +
                       (k + 0.5) * log(odds * (other + 1) / (k + 1)) + stirling_rest(mode) +
                       stirling_rest(rest) - stirling_rest(k) - stirling_rest(other);
        if (v <= bound) return (uint32_t)k;
    }
}

uint32_t binomial_draw(shoal_rng *rng, uint32_t n, double p)
{
    if (n == 0 || !(p > 0)) return 0;
    if (p >= 1) return n;
    if (p > 0.5) return n - binomial_draw(rng, n, 1 - p);
    return n * p < INVERT_BELOW ? invert(rng, n, p) : reject(rng, n, p);
}
