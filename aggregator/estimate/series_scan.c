// SPDX-License-Identifier: Apache-2.0
// Splits of a series; the formulas are in series_scan.h.
#include "series_scan.h"

#include <math.h>

#include "chi_square.h"
#include "split_tail.h"
#include "support_score.h"

// A run of periods with one weight of their counts in a difference.
typedef struct run {
    size_t first, end;
    double weight;
} run;

static double clamp(double x, double low, double high)
{
    if (x < low) return low;
    return x > high ? high : x;
}

static double reports_of(const agg_periods *p, size_t first, size_t end)
{
    return p->reports[end] - p->reports[first];
}

// Returns: the variance of the sum of counts of periods whose share is s, without collisions.
static double variance_of(const agg_series *series, size_t first, size_t end, double s)
{
    const agg_periods *p = series->periods;
    double n = reports_of(p, first, end), drawn = p->design * s * (1 - s) * n;
    if (series->variances != NULL) return series->variances[end] - series->variances[first] + drawn;
    double coins = p->coins[end] - p->coins[first] + p->slope * s * n +
                   p->curve * s * s * (p->squares[end] - p->squares[first]);
    return fmax(0, coins) + drawn;
}

// Returns: K times the sum of X_tu over a rectangle of periods.
static double collisions(const agg_periods *p, const run *a, const run *b)
{
    size_t row = p->n + 1;
    const double *c = p->collision;
    return c[a->end * row + b->end] - c[a->first * row + b->end] - c[a->end * row + b->first] +
           c[a->first * row + b->first];
}

// Returns: the covariance that collisions add to two weighted sums of counts.
static double shared(const agg_periods *p, const run *a, size_t n_a, const run *b, size_t n_b)
{
    double sum = 0;
    for (size_t i = 0; p->collision != NULL && i < n_a; i++)
        for (size_t j = 0; j < n_b; j++)
            sum += a[i].weight * b[j].weight * collisions(p, &a[i], &b[j]);
    return sum;
}

// Sets the runs of a split: before it, and from it on.
static void set_split(run runs[2], const agg_periods *p, size_t first, size_t at, size_t end)
{
    runs[0] = (run){first, at, -1 / reports_of(p, first, at)};
    runs[1] = (run){at, end, 1 / reports_of(p, at, end)};
}

double agg_series_share(const agg_series *series, size_t first, size_t end)
{
    double n = reports_of(series->periods, first, end);
    return clamp((series->counts[end] - series->counts[first]) / n, 0, 1);
}

// Returns: the deviation of a side's share from `same`, in standard deviations. An excess is cut
// down to the binomial law's.
static double deviation(const agg_series *series, const run *side, double same, double sd)
{
    const agg_periods *p = series->periods;
    double n = reports_of(p, side->first, side->end),
           count = series->counts[side->end] - series->counts[side->first];
    double z = sd > 0 ? (count / n - same) / sd : 0;
    if (z <= 0 || !p->has_support) return z;
    double support = count / p->scale + n * p->expected,
           mean = n * same / p->scale + n * p->expected;
    return clamp(agg_support_score(support, n, mean, sd * n / p->scale), 0, z);
}

// Returns: the score of a split; 0 if it is surely not above `least` in size.
static double score_of(const agg_series *series, size_t first, size_t at, size_t end, double same,
                       double least)
{
    run runs[2];
    set_split(runs, series->periods, first, at, end);
    const run *b = &runs[0], *a = &runs[1];
    double difference = (series->counts[end] - series->counts[at]) * a->weight +
                        (series->counts[at] - series->counts[first]) * b->weight;
    double of_b = variance_of(series, first, at, same) * b->weight * b->weight,
           of_a = variance_of(series, at, end, same) * a->weight * a->weight;
    double all = of_a + of_b + fmax(0, shared(series->periods, runs, 2, runs, 2));
    if (!(all > 0)) return 0;
    double z = difference / sqrt(all);
    if (fabs(z) <= least) return 0;
    of_a = sqrt(of_a);
    of_b = sqrt(of_b);
    double score =
        (deviation(series, a, same, of_a) * of_a - deviation(series, b, same, of_b) * of_b) /
        sqrt(all);
    return score * z > 0 ? copysign(fmin(fabs(score), fabs(z)), z) : 0;
}

agg_split_best agg_series_scan(const agg_series *series, size_t first, size_t end)
{
    agg_split_best best = {0, 0};
    double same = agg_series_share(series, first, end);
    for (size_t at = first + 1; at < end; at++) {
        double score = score_of(series, first, at, end, same, fabs(best.score));
        if (fabs(score) > fabs(best.score) || best.at == 0) best = (agg_split_best){at, score};
    }
    return best;
}

// Returns: the correlation of the differences of the splits at `at` and `at` + 1.
static double correlation(const agg_series *series, size_t first, size_t at, size_t end,
                          double same)
{
    const agg_periods *p = series->periods;
    run x[2], y[2];
    set_split(x, p, first, at, end);
    set_split(y, p, first, at + 1, end);
    double head = variance_of(series, first, at, same),
           middle = variance_of(series, at, at + 1, same),
           tail = variance_of(series, at + 1, end, same);
    double of_x = fmax(0, shared(p, x, 2, x, 2)), of_y = fmax(0, shared(p, y, 2, y, 2));
    double both = clamp(shared(p, x, 2, y, 2), -sqrt(of_x * of_y), sqrt(of_x * of_y));
    of_x += head * x[0].weight * x[0].weight + (middle + tail) * x[1].weight * x[1].weight;
    of_y += (head + middle) * y[0].weight * y[0].weight + tail * y[1].weight * y[1].weight;
    both += head * x[0].weight * y[0].weight + middle * x[1].weight * y[0].weight +
            tail * x[1].weight * y[1].weight;
    return of_x * of_y > 0 ? both / sqrt(of_x * of_y) : 0;
}

double agg_series_tail(const agg_series *series, size_t first, size_t end, double score,
                       double give_up)
{
    double h = fabs(score), one = 2 * agg_normal_tail(h), sum = one;
    if (end - first < 2) return 0;
    if (one >= give_up) return fmin(1, one * (double)(end - first - 1));
    double same = agg_series_share(series, first, end);
    for (size_t at = first + 1; at + 1 < end; at++)
        sum += agg_split_tail_step(h, correlation(series, first, at, end, same));
    return fmin(1, sum);
}

// Returns: whether the periods on neither side of a split show a change of their own.
static bool is_allowed(const agg_series *series, size_t at, double level)
{
    size_t n = series->periods->n;
    double head = agg_series_scan(series, 0, at).score, tail = agg_series_scan(series, at, n).score,
           most = fmax(fabs(head), fabs(tail));
    if (n == 2) return true; // there is one split, and nothing to test
    return agg_series_tail(series, 0, at, most, level) +
               agg_series_tail(series, at, n, most, level) >
           level;
}

agg_split_dates agg_series_dates(const agg_series *series, double level, double picked)
{
    agg_split_dates dates = {0, 0, 0};
    size_t n = series->periods->n;
    double same = agg_series_share(series, 0, n);
    for (size_t at = 1; at < n; at++) {
        double score = score_of(series, 0, at, n, same, 0);
        bool is_own = agg_series_tail(series, 0, n, score, level) <= picked;
        if (!is_allowed(series, at, is_own ? level : picked)) continue;
        if (dates.n++ == 0) dates.first = at;
        dates.last = at;
    }
    return dates;
}

static agg_level level_of(const agg_series *series, run side)
{
    const agg_periods *p = series->periods;
    double weight = fabs(side.weight);
    double share = (series->counts[side.end] - series->counts[side.first]) * weight;
    double s = clamp(share, 0, 1), lone = variance_of(series, side.first, side.end, s);
    side.weight = weight;
    double rows = fmax(0, shared(p, &side, 1, &side, 1));
    return (agg_level){share, lone * weight * weight + rows};
}

void agg_series_levels(agg_level *before, agg_level *after, agg_level *difference,
                       const agg_series *series, size_t at)
{
    const agg_periods *p = series->periods;
    run runs[2];
    set_split(runs, p, 0, at, p->n);
    *before = level_of(series, runs[0]);
    *after = level_of(series, runs[1]);
    double rows = fmax(0, shared(p, runs, 2, runs, 2)), lone = rows;
    for (int side = 0; side < 2; side++)
        lone += variance_of(series, runs[side].first, runs[side].end,
                            clamp(side == 0 ? before->share : after->share, 0, 1)) *
                runs[side].weight * runs[side].weight;
    *difference = (agg_level){after->share - before->share, lone};
}

// Returns: the variance that collisions leave in period t of a series less its mean.
static double own_rows(const agg_periods *p, size_t t)
{
    double n = reports_of(p, t, t + 1);
    const run runs[2] = {{t, t + 1, 1 / n}, {0, p->n, -1 / p->reports[p->n]}};
    return fmax(0, shared(p, runs, 2, runs, 2));
}

double agg_series_line_fit(const agg_series *series)
{
    const agg_periods *p = series->periods;
    double s = agg_series_share(series, 0, p->n), w_sum = 0, t_sum = 0, x_sum = 0;
    double tt = 0, tx = 0, xx = 0;
    if (p->n < 3) return 1;
    for (size_t t = 0; t < p->n; t++) {
        double n = reports_of(p, t, t + 1), x = (series->counts[t + 1] - series->counts[t]) / n;
        double variance = variance_of(series, t, t + 1, s) / (n * n) + own_rows(p, t);
        if (!(variance > 0)) return 1;
        double w = 1 / variance, at = (double)t;
        w_sum += w;
        t_sum += w * at;
        x_sum += w * x;
        tt += w * at * at;
        tx += w * at * x;
        xx += w * x * x;
    }
    tt -= t_sum * t_sum / w_sum;
    tx -= t_sum * x_sum / w_sum;
    xx -= x_sum * x_sum / w_sum;
    return agg_chi_square_tail(fmax(0, xx - tx * tx / tt), (double)p->n - 2);
}
