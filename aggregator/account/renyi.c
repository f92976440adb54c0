// SPDX-License-Identifier: Apache-2.0
// Computes divergences of sums of randomized bits; renyi.h has the method and its bounds.
#include "renyi.h"

#include <math.h>
#include <stdbool.h>

#include "binomial.h"

#define PER_SIGMA 3.0 // points of the grid in a standard deviation
#define REACH 10.0    // standard deviations that a sum covers on each side
#define CELLS 128
#define ROUNDING 1e-9 // absolute, in the exponent (order - 1) rho

// The sum of the other devices' bits, as a part with few terms and one with many.
typedef struct crowd_sum {
    agg_binomial few, many;
    double variance, share; // variance of the sum; the share of it in `few`
    double sigma;           // standard deviation of few's hits given the sum
    double stride;          // stride in few's hits
} crowd_sum;

// One point of the sum's law f: ln f(s) and f(s - 1)/f(s) - 1.
typedef struct point {
    double log_f, ratio_less_1;
} point;

static crowd_sum sum_of(double bit_epsilon, double ones, double zeros)
{
    double lie = 1 / (exp(bit_epsilon) + 1), truth = 1 - lie;
    agg_binomial one = {ones, truth, lie}, zero = {zeros, lie, truth};
    crowd_sum sum = {ones < zeros ? one : zero,
                     ones < zeros ? zero : one,
                     (ones + zeros) * truth * lie,
                     0,
                     0,
                     1};
    if (ones + zeros > 0) sum.share = sum.few.n / (ones + zeros);
    sum.sigma = sqrt(sum.variance * sum.share * (1 - sum.share));
    sum.stride = fmax(1, floor(sum.sigma / PER_SIGMA));
    return sum;
}

// f(s) = sum over j of few(j) many(s - j). Since many(y - 1)/many(y) - 1 = (y - (N + 1) p)/((N + 1
// - y) p), the ratio of neighbours is a mean and loses nothing to cancellation.
static point point_at(const crowd_sum *sum, double s)
{
    const agg_binomial *few = &sum->few, *many = &sum->many;
    double gap = s - few->n * few->p - many->n * many->p, top = -INFINITY, weight = 0, less = 0;
    double centre = few->n * few->p + gap * sum->share;
    double reach = REACH * sum->sigma + fabs(gap) * fmin(1, fabs(gap) / (sum->variance + 1)) + 20;
    double first = fmax(fmax(0, s - many->n), floor(centre - reach)),
           last = fmin(fmin(few->n, s), centre + reach);
    for (double j = first; j <= last; j += sum->stride) {
        double y = s - j, term = agg_binomial_log(j, few) + agg_binomial_log(y, many);
        double here = (y - (many->n + 1) * many->p) / ((many->n + 1 - y) * many->p);
        if (term == -INFINITY) continue;
        if (term > top) {
            weight *= exp(top - term);
            less *= exp(top - term);
            top = term;
        }
        weight += exp(term - top);
        less += exp(term - top) * here;
    }
    // f(s - 1) has one more term, at the end of many's range, where s - 1 - N is among few's hits.
    double end = s - 1 - many->n;
    if (end >= 0 && end <= few->n)
        less +=
            exp(agg_binomial_log(end, few) + agg_binomial_log(many->n, many) - top) / sum->stride;
    return (point){top + log(weight * sum->stride), less / weight};
}

// Adds e^x to a sum that is kept as its largest exponent (top) and the rest relative to it.
static void add_log(double *top, double *rest, double x)
{
    if (x == -INFINITY) return;
    if (x > *top) {
        *rest = *rest * exp(*top - x) + 1;
        *top = x;
    } else {
        *rest += exp(x - *top);
    }
}

// Q is the law of the sum when the device's own bit is zero. The likelihood ratio R = P/Q is (a r +
// 1)/(r + a) with r = f(s - 1)/f(s).
static void ratio_at(double *log_q, double *log_ratio, const crowd_sum *sum, double bit_epsilon,
                     double s)
{
    double a = exp(bit_epsilon), lie = 1 / (a + 1), all = sum->few.n + sum->many.n;
    if (s > all) {
        *log_q = log(lie) + agg_binomial_log(sum->few.n, &sum->few) +
                 agg_binomial_log(sum->many.n, &sum->many);
        *log_ratio = bit_epsilon;
        return;
    }
    point f = point_at(sum, s);
    *log_q = f.log_f + log1p(lie * f.ratio_less_1);
    *log_ratio = log1p((a - 1) * f.ratio_less_1 / (f.ratio_less_1 + 1 + a));
}

void agg_renyi_bit(double *out, const double *orders, size_t n_orders, double bit_epsilon,
                   double ones, double zeros)
{
    double top[AGG_RENYI_ORDERS], rest[AGG_RENYI_ORDERS], most = 0;
    crowd_sum sum = sum_of(bit_epsilon, ones, zeros);
    double sigma = sqrt(sum.variance), mean = sum.few.n * sum.few.p + sum.many.n * sum.many.p;
    double stride = fmax(1, floor(sigma / PER_SIGMA));
    if (n_orders > AGG_RENYI_ORDERS) n_orders = AGG_RENYI_ORDERS;
    for (size_t i = 0; i < n_orders; i++) {
        most = fmax(most, orders[i]);
        top[i] = -INFINITY;
        rest[i] = 0;
    }
    // R^order moves the weight up by at most order tanh(c/2).
    double first = fmax(0, floor(mean - REACH * sigma - 30));
    double last =
        fmin(ones + zeros + 1, ceil(mean + REACH * sigma + 30 + most * tanh(bit_epsilon / 2)));
    for (double s = first; s <= last; s += stride) {
        double log_q = 0, log_ratio = 0;
        ratio_at(&log_q, &log_ratio, &sum, bit_epsilon, s);
        for (size_t i = 0; i < n_orders; i++)
            add_log(&top[i], &rest[i], log_q + orders[i] * log_ratio);
    }
    for (size_t i = 0; i < n_orders; i++)
        out[i] = fmax(0, (top[i] + log(rest[i] * stride) + ROUNDING) / (orders[i] - 1));
}

void agg_renyi_orders(agg_renyi_curve *curve, double bit_epsilon, double n)
{
    double e = exp(bit_epsilon), variance = (n - 1) * e / ((e + 1) * (e + 1)) + 0.25;
    double step = tanh(bit_epsilon / 2) /
                  sqrt(variance); // the two laws are about this many standard deviations apart
    for (int i = 0; i < AGG_RENYI_ORDERS; i++)
        curve->order[i] = 1 + 0.05 * pow(600, (double)i / (AGG_RENYI_ORDERS - 1)) / step;
}

static double epsilon_at(const agg_renyi_curve *curve, double log_delta)
{
    double least = INFINITY;
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) {
        double a = curve->order[i],
               epsilon = curve->rho[i] + log1p(-1 / a) - (log_delta + log(a)) / (a - 1);
        least = fmin(least, fmax(epsilon, 0));
    }
    return least;
}

static double cells_of(double n)
{
    return fmin(CELLS, n);
}

// Computes the bound of one cell alone.
static void one_cell(agg_renyi_curve *curve, double bit_epsilon, double n, double cell)
{
    double w1 = floor(cell * n / cells_of(n)), w2 = floor((cell + 1) * n / cells_of(n)) - 1;
    agg_renyi_bit(curve->rho, curve->order, AGG_RENYI_ORDERS, bit_epsilon, w1, n - 1 - w2);
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) curve->rho[i] *= 2;
}

// Returns: the cell with the largest epsilon at that delta.
static double all_cells(agg_renyi_curve *curve, double bit_epsilon, double n, double log_delta)
{
    agg_renyi_curve one = *curve;
    double worst = 0, most = -1;
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) curve->rho[i] = 0;
    for (double cell = 0; cell < cells_of(n); cell++) {
        one_cell(&one, bit_epsilon, n, cell);
        for (int i = 0; i < AGG_RENYI_ORDERS; i++) curve->rho[i] = fmax(curve->rho[i], one.rho[i]);
        double epsilon = epsilon_at(&one, log_delta);
        if (epsilon > most) worst = cell;
        most = fmax(most, epsilon);
    }
    return worst;
}

void agg_renyi_one_hot(agg_renyi_curve *curve, double bit_epsilon, double n)
{
    (void)all_cells(curve, bit_epsilon, n, log(1e-9));
}

double agg_renyi_epsilon(const agg_renyi_curve *curve, double delta)
{
    return epsilon_at(curve, log(delta));
}

// ln((e^(B eps) - 1)/(e^eps - 1))
static double group_log(double epsilon, double b)
{
    return epsilon > 0 ? (b - 1) * epsilon + log(expm1(-b * epsilon) / expm1(-epsilon)) : log(b);
}

double agg_renyi_group_epsilon(const agg_renyi_curve *curve, double delta, double contributions)
{
    double asked = log(delta), low = asked - 1000, high = asked;
    if (contributions <= 1) return epsilon_at(curve, asked);
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (middle + group_log(epsilon_at(curve, middle), contributions) <= asked)
            low = middle;
        else
            high = middle;
    }
    double epsilon = epsilon_at(curve, low);
    return low + group_log(epsilon, contributions) <= asked ? contributions * epsilon : INFINITY;
}

// A search over n or over bit_epsilon, with the other one fixed. Its steps evaluate one cell, a
// hundredth of the work. A result must pass all cells; where one refuses it, the search goes on
// with that cell.
typedef struct hunt {
    const agg_renyi_question *question;
    double n, bit_epsilon;
    bool is_over_n;
    double place; // position of the cell, as a share of all
} hunt;

static void set(hunt *h, double x)
{
    if (h->is_over_n)
        h->n = x;
    else
        h->bit_epsilon = x;
}

static bool is_kept_alone(const hunt *h)
{
    return 2 * h->bit_epsilon * h->question->contributions <= h->question->epsilon;
}

static bool is_kept(const agg_renyi_curve *curve, const agg_renyi_question *q)
{
    return agg_renyi_group_epsilon(curve, q->delta, q->contributions) <= q->epsilon;
}

static bool passes_one_cell(hunt *h, double x)
{
    agg_renyi_curve curve;
    set(h, x);
    if (is_kept_alone(h)) return true;
    agg_renyi_orders(&curve, h->bit_epsilon, h->n);
    one_cell(&curve, h->bit_epsilon, h->n, floor(h->place * cells_of(h->n)));
    return is_kept(&curve, h->question);
}

static bool passes_all(hunt *h, double x)
{
    agg_renyi_curve curve;
    set(h, x);
    if (is_kept_alone(h)) return true;
    agg_renyi_orders(&curve, h->bit_epsilon, h->n);
    double worst = all_cells(&curve, h->bit_epsilon, h->n, log(h->question->delta));
    if (is_kept(&curve, h->question)) return true;
    h->place = (worst + 0.5) / cells_of(h->n);
    return false;
}

static double between(const hunt *h, double x, double y)
{
    double middle = sqrt(x) * sqrt(y);
    return h->is_over_n ? floor(middle) : middle;
}

static bool is_apart(const hunt *h, double x, double y)
{
    return h->is_over_n ? fabs(x - y) > 1 : fabs(x - y) > 1e-7 * fmin(x, y);
}

// Narrows the interval from bad, which some cell refuses, to good, which all cells pass. Both are
// above 0.
static double narrow(hunt *h, double bad, double good)
{
    for (int tries = 0; tries < 8 && is_apart(h, bad, good); tries++) {
        double low = bad, high = good; // ordered by whether the bound is kept
        while (is_apart(h, low, high)) {
            double middle = between(h, low, high);
            if (middle == low)
                middle++; // for whole numbers the geometric mean may be the smaller one
            if (passes_one_cell(h, middle))
                high = middle;
            else
                low = middle;
        }
        if (passes_all(h, high)) return high;
        bad = high;
    }
    while (is_apart(h, bad, good)) {
        double middle = between(h, bad, good);
        if (middle == bad) middle++;
        if (passes_all(h, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

double agg_renyi_find_reports(const agg_renyi_question *question, double bit_epsilon)
{
    hunt h = {question, 1, bit_epsilon, true, 0.5};
    double most = 1e12;
    if (!passes_all(&h, most)) return NAN;
    return passes_all(&h, 1) ? 1 : narrow(&h, 1, most);
}

double agg_renyi_find_bit_epsilon(const agg_renyi_question *question, double n, double most)
{
    hunt h = {question, n, 0, false, 0.5};
    double least = question->epsilon / (2 * question->contributions);
    if (least >= most || passes_all(&h, most)) return most;
    return narrow(&h, most, least);
}
