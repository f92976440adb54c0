// SPDX-License-Identifier: Apache-2.0
// The tail of a scan over splits; see split_tail.h.
#include "split_tail.h"

#include <math.h>

#define N_PANELS 4
#define N_NODES 4 // of one sign
#define TWO_PI 6.283185307179586

// Nodes and weights of Gauss and Legendre for 8 points.
static const double nodes[N_NODES] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                      0.9602898564975363},
                    weights[N_NODES] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                        0.1012285362903763};

double agg_normal_tail(double h)
{
    return 0.5 * erfc(h * 0.70710678118654752);
}

static double integrand(double h, double x)
{
    return exp(-0.5 * h * h * x * x) / (1 + x * x);
}

double agg_owens_t(double h, double a)
{
    // Beyond 7/h the integrand is below 1e-10 of its value at 0.
    double end = h * a > 7 ? 7 / h : a, half = end / (2 * N_PANELS), sum = 0;
    for (int panel = 0; panel < N_PANELS; panel++) {
        double middle = (2 * panel + 1) * half;
        for (int i = 0; i < N_NODES; i++)
            sum += weights[i] * (integrand(h, middle - half * nodes[i]) +
                                 integrand(h, middle + half * nodes[i]));
    }
    return exp(-0.5 * h * h) * half * sum / TWO_PI;
}

double agg_split_tail_step(double h, double correlation)
{
    double r = fmin(1, fabs(correlation));
    return 4 * agg_owens_t(h, sqrt((1 - r) / (1 + r)));
}
