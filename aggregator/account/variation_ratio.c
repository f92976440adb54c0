// SPDX-License-Identifier: Apache-2.0
// Sums over the totals of two counts; see variation_ratio.h.
#include "variation_ratio.h"

#include <math.h>

#include "amplification_search.h"

#define BLOCK 1024.0  // totals whose tails follow from their neighbours
#define ROUNDING 1e-7 // relative: more than all roundings of a sum together, even at 10^12 reports
#define WIDTH 1e-6    // relative width of a bracket of epsilon

// The window of the number of clones C.
typedef struct window {
    agg_three_classes classes;
    agg_binomial clones;
    double rest, first, last;
    double outside; // at least the probability outside the window
} window;

// What moves along the totals m of both counts, all of M = m - 1 fair coins.
typedef struct place {
    double coins, k;
    double at;           // P(Bin(M, 1/2) = k - 1)
    double tail;         // P(Bin(M, 1/2) >= k)
    double before, here; // P(C = m - 1), P(C = m)
} place;

agg_three_classes agg_variation_classes(double local_epsilon, double variation)
{
    double beta = fmin(variation, tanh(local_epsilon / 2)), miss = beta / expm1(local_epsilon);
    return (agg_three_classes){fmin(miss * exp(local_epsilon), 1 - miss), miss, fmin(miss, 0.5)};
}

agg_three_classes agg_test_classes(const agg_pair_law *law)
{
    agg_three_classes classes = {0, 0, 0};
    for (size_t i = 0; i < law->n; i++) {
        const agg_pair_class *c = &law->classes[i];
        if (!(c->own > c->other)) continue;
        classes.hit += c->own;
        classes.miss += c->other;
        classes.clone += c->third;
    }
    classes.clone = fmin(classes.clone, 0.5);
    return classes;
}

static window window_of(const agg_three_classes *classes, double n, double tiny)
{
    window w = {.classes = *classes,
                .clones = {n - 1, 2 * classes->clone, 1 - 2 * classes->clone},
                .rest = fmax(0, 1 - classes->hit - classes->miss)};
    w.first = agg_window_start(&w.clones, tiny);
    w.last = agg_window_end(&w.clones, tiny);
    w.outside = (w.first > 0 ? agg_binomial_lower(w.first - 1, &w.clones) : 0) +
                agg_binomial_upper(w.last + 1, &w.clones);
    return w;
}

// Returns: the first count of x's class at which P exceeds e^epsilon Q, given the total m; m + 1 if
// none does.
static double first_count(const window *w, double m, double epsilon)
{
    const agg_three_classes *c = &w->classes;
    double gain = expm1(epsilon), e = gain + 1,
           others = w->clones.q > 0 ? w->clones.n - m + 1 : 0; // devices that are no clones
    double bar = m * (e * c->hit - c->miss);
    if (others > 0) bar += w->rest * gain * others * (c->clone / w->clones.q);
    return fmin(floor(bar / ((c->hit - c->miss) * (1 + e))), m) + 1;
}

static double probability(double x, const agg_binomial *law)
{
    return exp(agg_binomial_log(x, law));
}

static place place_at(const window *w, double m, double k)
{
    const agg_binomial fair = {m - 1, 0.5, 0.5};
    place p = {.coins = m - 1, .k = k};
    p.at = k <= m ? probability(k - 1, &fair) : 0;
    if (k < m) p.tail = p.at * (m - k) * agg_binomial_fair_ratio(k, m - 1);
    p.before = m - 1 >= w->first ? probability(m - 1, &w->clones) : 0;
    p.here = m <= w->last ? probability(m, &w->clones) : 0;
    return p;
}

// Moves to the next total, and k to the given count. The place is of a k at most its total.
static void move(place *p, const window *w, double k)
{
    double coins = p->coins + 1, odds = w->clones.p / w->clones.q, m = coins + 1;
    p->tail += p->at / 2;
    p->at *= coins / (2 * (coins + 1 - p->k));
    p->coins = coins;
    for (; p->k < k; p->k++) {
        double next = p->k <= coins ? p->at * (coins - p->k + 1) / p->k : 0; // P(= k)
        p->tail = fmax(0, p->tail - next);
        p->at = next;
    }
    for (; p->k > k; p->k--) {
        p->tail += p->at;
        p->at *= (p->k - 1) / (coins - p->k + 2);
    }
    p->before = p->here;
    p->here = m <= w->last ? p->here * (w->clones.n - m + 1) / m * odds : 0;
}

// Returns: what P exceeds e^epsilon Q by at one total. gain is e^epsilon - 1.
static double excess_at(const window *w, const place *p, double gain)
{
    const agg_three_classes *c = &w->classes;
    double own = c->hit - c->miss - gain * c->miss, both = c->hit + c->miss;
    return p->at * (p->before * own - p->here * w->rest * gain / 2) -
           p->tail * gain * (p->before * both + p->here * w->rest);
}

static agg_central delta_of(const void *law, double epsilon)
{
    const window *w = law;
    double gain = expm1(epsilon), sum = 0;
    if (w->classes.hit <= w->classes.miss * (1 + gain)) return (agg_central){0, 0};
    double first = fmax(1, w->first), last = w->last + 1;
    for (double start = first; start <= last; start += BLOCK) {
        place p = place_at(w, start, first_count(w, start, epsilon));
        sum += fmax(0, excess_at(w, &p, gain));
        for (double m = start + 1; m < start + BLOCK && m <= last; m++) {
            double k = first_count(w, m, epsilon);
            if (p.k < m)
                move(&p, w, k);
            else
                p = place_at(w, m, k);
            sum += fmax(0, excess_at(w, &p, gain));
        }
    }
    return (agg_central){sum * (1 - ROUNDING), sum * (1 + ROUNDING) + w->outside};
}

agg_central agg_three_classes_delta(const agg_three_classes *classes, double n, double epsilon,
                                    double tiny)
{
    const window w = window_of(classes, n, tiny);
    return delta_of(&w, epsilon);
}

agg_central agg_three_classes_epsilon(const agg_three_classes *classes, const agg_crowd *crowd)
{
    const window w =
        window_of(classes, crowd->n, AGG_AMPLIFICATION_OUTSIDE * agg_window_delta(crowd));
    // The difference of the two counts has a variance of 2 clone n, and one report moves it.
    double gap = 2 * (classes->hit - classes->miss) / sqrt(2 * classes->clone * crowd->n);
    const agg_delta_curve curve = {delta_of, &w, gap * sqrt(-2 * log(crowd->delta)), WIDTH};
    return agg_curve_epsilon(&curve, crowd);
}
