// SPDX-License-Identifier: Apache-2.0
// Likelihoods of places and of bucket counts; see density_sources.h.
//
// Places: y comes with probability mu_y = sum_j theta_j P(y | j), and P(y | j) is d + q for places
// in the window of j and q for all others. So the log likelihood is sum_y c_y log mu_y, its
// gradient P' (c/mu), and the expected information P' diag(n/mu) P. All three are sums over
// windows, which running sums give in one pass:
//
//     information_jk = q^2 S + q d (S_j + S_k) + d^2 S_jk
//
// with S the sum of n/mu over all places, S_j over the window of j, and S_jk over what the windows
// of j and k share.
//
// Buckets: counts f_b = n s_b + error, s_b = sum_(j in b) theta_j, with the variance v_b of the
// coins and of the drawing of devices, f_b. Given their sum n, independent counts of variance f_b
// are multinomial.
//
// n is the number of reports where each is of a bucket. The counts do not add up to it, because of
// their errors, and must not be scaled until they do: where the variances are alike and the shares
// are not, that makes an error which the model does not know. Where a report may be of no bucket n
// is unknown. Then the likelihood is that of its best value T for these shares,
//
//     T = (sum_b f_b s_b / v_b) / (sum_b s_b^2 / v_b)
//
// with the gradient T (f_b - T s_b)/v_b, and the information T^2 (1/v_b [b = c] - w_b w_c / W) of
// two buckets b and c, w = s/v and W = sum_b s_b^2/v_b.
#include "density_sources.h"

#include <math.h>

#define CELLS_WANTED 256u // into which buckets are divided
#define LEAST 1e-300      // of a probability whose logarithm is taken

// ---- places ----

static void mix(double *mu, const agg_place_law *law, const double *shares)
{
    double within = 0, step = law->inside - law->outside;
    for (uint32_t y = 0; y < law->places; y++) {
        if (y <= law->steps) within += shares[y];
        if (y >= law->width) within -= shares[y - law->width];
        mu[y] = fmax(law->outside + step * within, LEAST);
    }
}

static double places_likelihood(const agg_density_data *data, const double *shares)
{
    const agg_density_observed *o = data->observed;
    double mu[AGG_DENSITY_PLACES_MAX], sum = 0;
    mix(mu, &o->law, shares);
    for (uint32_t y = 0; y < o->law.places; y++)
        if (o->counts[y] > 0) sum += o->counts[y] * log(mu[y]);
    return sum;
}

static void places_curvature(double *gradient, double *information, const agg_density_data *data,
                             const double *shares)
{
    const agg_density_observed *o = data->observed;
    const agg_place_law *law = &o->law;
    size_t n = data->n_cells, w = law->width;
    double mu[AGG_DENSITY_PLACES_MAX], seen[AGG_DENSITY_PLACES_MAX + 1],
        expected[AGG_DENSITY_PLACES_MAX + 1], d = law->inside - law->outside, q = law->outside;
    mix(mu, law, shares);
    seen[0] = expected[0] = 0; // running sums of c/mu and n/mu
    for (uint32_t y = 0; y < law->places; y++) {
        seen[y + 1] = seen[y] + o->counts[y] / mu[y];
        expected[y + 1] = expected[y] + o->n / mu[y];
    }
    double all = q * q * expected[law->places];
    for (size_t j = 0; j < n; j++) {
        double own = expected[j + w] - expected[j];
        gradient[j] = q * seen[law->places] + d * (seen[j + w] - seen[j]);
        for (size_t k = 0; k <= j; k++) {
            double other = expected[k + w] - expected[k],
                   both = k + w > j ? expected[k + w] - expected[j] : 0;
            information[j * n + k] += all + q * d * (own + other) + d * d * both;
        }
    }
}

void agg_density_of_places(agg_density_observed *observed, const agg_place_law *law,
                           const uint32_t *cells)
{
    observed->law = *law;
    observed->n = 0;
    for (uint32_t y = 0; y < law->places; y++) observed->n += observed->counts[y] = cells[y];
    observed->edges[0] = 0;
    for (uint32_t j = 0; j < law->steps; j++) observed->edges[j + 1] = (j + 0.5) / law->steps;
    observed->edges[law->steps + 1] = 1;
    observed->data = (agg_density_data){.n_cells = law->steps + 1,
                                        .edges = observed->edges,
                                        .log_likelihood = places_likelihood,
                                        .curvature = places_curvature,
                                        .observed = observed};
}

// ---- buckets ----

static double bucket_share(const agg_density_observed *o, const double *shares, size_t b)
{
    double sum = 0;
    for (size_t i = 0; i < o->cells_each; i++) sum += shares[b * o->cells_each + i];
    return sum;
}

// Sets the shares of the buckets.
// Returns: n.
static double total_of(double *shares_of, double *weight, const agg_density_observed *o,
                       const double *shares)
{
    double known = 0, seen = 0;
    for (size_t b = 0; b < o->n_buckets; b++) {
        double s = shares_of[b] = bucket_share(o, shares, b);
        known += s * s / o->variances[b];
        seen += s * o->counts[b] / o->variances[b];
    }
    *weight = known;
    return o->has_total || known <= 0 ? o->n : seen / known;
}

static double buckets_likelihood(const agg_density_data *data, const double *shares)
{
    const agg_density_observed *o = data->observed;
    double sum = 0, weight, s[AGG_DENSITY_BUCKETS_MAX], n = total_of(s, &weight, o, shares);
    for (size_t b = 0; b < o->n_buckets; b++) {
        double off = o->counts[b] - n * s[b];
        sum -= off * off / o->variances[b] / 2;
    }
    return sum;
}

static void buckets_curvature(double *gradient, double *information, const agg_density_data *data,
                              const double *shares)
{
    const agg_density_observed *o = data->observed;
    const size_t each = o->cells_each, cells = data->n_cells;
    double weight, s[AGG_DENSITY_BUCKETS_MAX], n = total_of(s, &weight, o, shares);
    for (size_t j = 0; j < cells; j++) {
        size_t b = j / each;
        gradient[j] = n * (o->counts[b] - n * s[b]) / o->variances[b];
        for (size_t k = b * each; k <= j; k++)
            information[j * cells + k] += n * n / o->variances[b];
        if (o->has_total || weight <= 0) continue;
        double own = n * n * s[b] / o->variances[b] / weight;
        for (size_t k = 0; k <= j; k++)
            information[j * cells + k] -= own * s[k / each] / o->variances[k / each];
    }
}

bool agg_density_of_buckets(agg_density_observed *observed, double total, const double *counts,
                            const double *stderrs, size_t n_buckets)
{
    agg_density_observed *o = observed;
    size_t together = (n_buckets + AGG_DENSITY_BUCKETS_MAX - 1) / AGG_DENSITY_BUCKETS_MAX, each;
    double sum = 0;
    o->n_buckets = (n_buckets + together - 1) / together;
    o->cells_each = each = o->n_buckets < CELLS_WANTED ? CELLS_WANTED / o->n_buckets : 1;
    for (size_t b = 0; b < o->n_buckets; b++) o->counts[b] = o->variances[b] = 0;
    for (size_t i = 0; i < n_buckets; i++) {
        size_t b = i / together;
        o->counts[b] += counts[i];
        o->variances[b] += stderrs[i] * stderrs[i];
        sum += counts[i];
    }
    for (size_t b = 0; b < o->n_buckets; b++) {
        double low = (double)(b * together), high = fmin(low + (double)together, (double)n_buckets);
        o->variances[b] += fmax(o->counts[b], 1);
        for (size_t i = 0; i < each; i++)
            o->edges[b * each + i] =
                (low + (high - low) * (double)i / (double)each) / (double)n_buckets;
    }
    o->edges[o->n_buckets * each] = 1;
    o->has_total = total > 0;
    o->n = o->has_total ? total : sum;
    o->data = (agg_density_data){.n_cells = o->n_buckets * each,
                                 .edges = o->edges,
                                 .log_likelihood = buckets_likelihood,
                                 .curvature = buckets_curvature,
                                 .observed = o};
    return sum > 0;
}
