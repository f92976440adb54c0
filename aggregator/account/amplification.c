// SPDX-License-Identifier: Apache-2.0
// The closed form and the exact sums over the number of clones. amplification.h says why
// they are bounds.
#include "amplification.h"

#include <math.h>
#include <stdlib.h>

#include "agg_size.h"
#include "amplification_search.h"
#include "blanket.h"

#define FINE_BLOCKS 4096
#define COARSE_BLOCKS 768
#define ROUNDING 1e-8 // relative: more than all roundings of a sum together, even at 10^12 reports

const char *const agg_bound_names[AGG_BOUNDS] = {"closed_form", "clones", "stronger", "blanket"};

// The law of C, cut into blocks of neighbours. The probability outside the blocks is at most
// `below` and `above`.
typedef struct clones {
    double local_epsilon, below, above, last;
    size_t n_blocks;
    double *first, *mass; // [n_blocks]: the block's smallest C, and its probability
    bool is_exact;        // every block is a single C
} clones;

static agg_binomial law_of_clones(const agg_crowd *crowd, agg_bound bound)
{
    double e0 = crowd->local_epsilon;
    agg_binomial law = {crowd->n - 1, exp(-e0), -expm1(-e0)};
    if (bound == AGG_BOUND_STRONGER) {
        law.p = 2 / (exp(e0) + 1);
        law.q = tanh(e0 / 2);
    }
    return law;
}

// Returns: P(first <= C < first + width), by the ratio of neighbours from the block's first.
static double block_mass(const agg_binomial *law, double first, double width)
{
    double term = exp(agg_binomial_log(first, law)), sum = term, odds = law->p / law->q;
    for (double c = first; c + 1 < first + width; c++) {
        term *= (law->n - c) / (c + 1) * odds;
        sum += term;
    }
    return sum;
}

static void release(clones *c)
{
    free(c->first);
    free(c->mass);
}

static agg_err make_clones(clones *c, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                           size_t blocks_max)
{
    const agg_binomial law = law_of_clones(crowd, bound);
    double tiny = AGG_AMPLIFICATION_OUTSIDE * agg_window_delta(crowd);
    double start = agg_window_start(&law, tiny),
           end = agg_window_end(&law, AGG_AMPLIFICATION_OUTSIDE);
    double width = ceil((end - start + 1) / (double)blocks_max),
           blocks = ceil((end - start + 1) / width);
    *c = (clones){.local_epsilon = crowd->local_epsilon, .last = end, .is_exact = width <= 1};
    c->first = agg_alloc(error, (size_t)blocks, sizeof *c->first);
    c->mass = c->first != NULL ? agg_alloc(error, (size_t)blocks, sizeof *c->mass) : NULL;
    if (c->mass == NULL) {
        release(c);
        return AGG_ERR_MEMORY;
    }
    c->n_blocks = (size_t)blocks;
    c->below = start > 0 ? agg_binomial_lower(start - 1, &law) : 0;
    c->above = agg_binomial_upper(end + 1, &law);
    for (size_t i = 0; i < c->n_blocks; i++) {
        c->first[i] = start + (double)i * width;
        c->mass[i] = block_mass(&law, c->first[i], fmin(width, end + 1 - c->first[i]));
    }
    return SHOAL_OK;
}

// Returns: delta(epsilon) given C. P exceeds e^epsilon Q from k on, where k is the first whole
// number above (C + 1)(1 + tanh(eps/2)/tanh(eps0/2))/2. With T = P(Bin(C, 1/2) >= k) and b =
// P(Bin(C, 1/2) = k - 1),
//   P(>= k) - e^eps Q(>= k) = (e^eps0 - e^eps)/(e^eps0 + 1) b - (e^eps - 1) T.
// T is b (C - k + 1) times an integral, so b is a common factor and no other factor is small.
static double delta_given(double c, double e0, double epsilon)
{
    const agg_binomial fair = {c, 0.5, 0.5};
    double all = c + 1, k = floor(all / 2 + all / 2 * (tanh(epsilon / 2) / tanh(e0 / 2))) + 1;
    double gain = exp(epsilon - e0) * expm1(e0 - epsilon) / (1 + exp(-e0));
    if (epsilon >= e0) return 0;
    if (k > all) k = all;
    double tail = k <= c ? expm1(epsilon) * (all - k) * agg_binomial_fair_ratio(k, c) : 0;
    return gain > tail ? exp(agg_binomial_log(k - 1, &fair)) * (gain - tail) : 0;
}

static agg_central delta_of(const void *law, double epsilon)
{
    const clones *c = law;
    agg_central sum = {0, 0};
    double e0 = c->local_epsilon, next = delta_given(c->last, e0, epsilon);
    sum.upper = c->above * next;
    for (size_t i = c->n_blocks; i-- > 0;) {
        double here = delta_given(c->first[i], e0, epsilon);
        sum.upper += c->mass[i] * here;
        sum.lower += c->mass[i] * (c->is_exact ? here : next);
        next = here;
    }
    sum.upper += c->below * delta_given(0, e0, epsilon);
    sum.upper *= 1 + ROUNDING;
    sum.lower *= 1 - ROUNDING;
    return sum;
}

// Returns: Theorem 3.1's epsilon; INFINITY if its condition fails.
static double closed_form(double e0, double n, double delta)
{
    double odds = n / (8 * log(2 / delta)) - 1;
    if (!(odds > 0 && e0 <= log(odds))) return INFINITY;
    return log1p(expm1(e0) * (4 * sqrt(2 * log(4 / delta) / ((exp(e0) + 1) * n)) + 4 / n));
}

// Returns: the closed form for a group of reports. It searches for the largest delta of one report
// at which the group keeps the requested delta. The condition fails sooner for a smaller delta, so
// a failure calls for a larger one.
static double closed_form_group(const agg_crowd *crowd)
{
    double b = crowd->contributions, low = log(crowd->delta) - 500, high = log(crowd->delta),
           best = INFINITY;
    if (b <= 1) return closed_form(crowd->local_epsilon, crowd->n, crowd->delta);
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2,
               epsilon = closed_form(crowd->local_epsilon, crowd->n, exp(middle));
        bool is_kept = !isinf(epsilon) && middle + agg_group_log(epsilon, b) <= log(crowd->delta);
        if (is_kept) best = b * epsilon;
        if (is_kept || isinf(epsilon))
            low = middle;
        else
            high = middle;
    }
    return best;
}

agg_err agg_crowd_epsilon(agg_central *central, agg_error *error, const agg_crowd *crowd,
                          agg_bound bound, bool is_fine)
{
    clones c;
    if (bound == AGG_BOUND_CLOSED_FORM) {
        double epsilon = closed_form_group(crowd);
        if (!(epsilon < crowd->contributions * crowd->local_epsilon)) epsilon = NAN;
        *central = (agg_central){epsilon, epsilon};
        return SHOAL_OK;
    }
    if (bound == AGG_BOUND_BLANKET) return agg_blanket_epsilon(central, error, crowd);
    agg_err err = make_clones(&c, error, crowd, bound, is_fine ? FINE_BLOCKS : COARSE_BLOCKS);
    if (err != SHOAL_OK) return err;
    const agg_delta_curve curve = {delta_of, &c, 0, 0};
    *central = agg_curve_epsilon(&curve, crowd);
    release(&c);
    return SHOAL_OK;
}

agg_err agg_crowd_delta(agg_central *delta, agg_error *error, const agg_crowd *crowd,
                        agg_bound bound, double epsilon)
{
    clones c;
    agg_err err = make_clones(&c, error, crowd, bound, FINE_BLOCKS);
    if (err != SHOAL_OK) return err;
    *delta = delta_of(&c, epsilon);
    release(&c);
    return SHOAL_OK;
}

// Sets *kept to whether the bound promises `epsilon` for all contributions together.
static agg_err is_kept(bool *kept, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                       double epsilon, bool is_fine)
{
    clones c;
    double one = epsilon / crowd->contributions;
    *kept = true;
    if (one >= crowd->local_epsilon) return SHOAL_OK;
    if (bound == AGG_BOUND_CLOSED_FORM) {
        *kept = closed_form_group(crowd) <= epsilon;
        return SHOAL_OK;
    }
    if (bound == AGG_BOUND_BLANKET) return agg_blanket_keeps(kept, error, crowd, one);
    agg_err err = make_clones(&c, error, crowd, bound, is_fine ? FINE_BLOCKS : COARSE_BLOCKS);
    if (err != SHOAL_OK) return err;
    const agg_delta_curve curve = {delta_of, &c, 0, 0};
    *kept = agg_curve_keeps(&curve, crowd, one);
    release(&c);
    return SHOAL_OK;
}

// Narrows the bracket (low, high] of whole numbers. The bound holds at high throughout.
static agg_err narrow_reports(double low, double *high, agg_error *error, agg_crowd *crowd,
                              agg_bound bound, double epsilon, bool is_fine)
{
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && *high - low > 1) {
        bool kept = false;
        crowd->n =
            low > 0 && *high > 4 * low ? floor(sqrt(low * *high)) : low + floor((*high - low) / 2);
        err = is_kept(&kept, error, crowd, bound, epsilon, is_fine);
        if (kept)
            *high = crowd->n;
        else
            low = crowd->n;
    }
    return err;
}

agg_err agg_crowd_find_reports(double *n, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                               double epsilon)
{
    agg_crowd tried = *crowd;
    double high = AGG_CROWD_REPORTS_MAX, low = 0;
    bool kept = false;
    tried.n = high;
    agg_err err = is_kept(&kept, error, &tried, bound, epsilon, false);
    if (err != SHOAL_OK || !kept) {
        *n = NAN;
        return err;
    }
    err = narrow_reports(0, &high, error, &tried, bound, epsilon, false);
    // A fine sum promises no less than a coarse one, and little more.
    low = floor(high * 0.998);
    tried.n = low;
    if (err == SHOAL_OK && low > 0) err = is_kept(&kept, error, &tried, bound, epsilon, true);
    if (err == SHOAL_OK && bound != AGG_BOUND_CLOSED_FORM && low > 0 && !kept)
        err = narrow_reports(low, &high, error, &tried, bound, epsilon, true);
    *n = high;
    return err;
}

agg_err agg_crowd_find_local_epsilon(double *local_epsilon, agg_error *error,
                                     const agg_crowd *crowd, agg_bound bound, double epsilon)
{
    agg_crowd tried = *crowd;
    double low = fmin(epsilon / crowd->contributions, AGG_CROWD_EPSILON_MAX),
           high = AGG_CROWD_EPSILON_MAX;
    agg_err err = SHOAL_OK;
    for (int i = 0; i < 60 && err == SHOAL_OK && high - low > 1e-7 * high; i++) {
        bool kept = false;
        tried.local_epsilon = low + (high - low) / 2;
        err = is_kept(&kept, error, &tried, bound, epsilon, i >= 12);
        if (kept)
            low = tried.local_epsilon;
        else if (i >= 12 || bound == AGG_BOUND_CLOSED_FORM)
            high = tried.local_epsilon;
        else // a coarse sum may refuse slightly too much
            high = tried.local_epsilon * (1 + 1e-3);
    }
    *local_epsilon = low;
    return err;
}

agg_err agg_crowd_keeps(bool *kept, agg_error *error, const agg_crowd *crowd, agg_bound bound,
                        double epsilon)
{
    return is_kept(kept, error, crowd, bound, epsilon, true);
}
