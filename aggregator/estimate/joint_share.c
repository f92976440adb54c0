// SPDX-License-Identifier: Apache-2.0
// Errors and intervals of shares and rates; see joint_share.h.
#include "joint_share.h"

#include <math.h>

#define SAYS_NOTHING                                                                               \
    1e-8 // share of a functional's square along unknown directions above which it is unknown

static const agg_joint_share unsaid = {0, HUGE_VAL, 0, 1};

agg_joint_share agg_joint_share_of(double p, double variance, double unknown, double z)
{
    agg_joint_share share = unsaid;
    share.p = p;
    if (unknown > SAYS_NOTHING) return share;
    share.stderr_ = sqrt(fmax(variance, 0));
    share.low = fmax(p - z * share.stderr_, 0);
    share.high = fmin(p + z * share.stderr_, 1);
    return share;
}

// Computes Fieller's interval: the rates r with (a - r b)^2 <= z^2 Var(a - r b). This quadratic
// inequality gives an interval about a/b if b^2 > z^2 Var b.
static void fieller(agg_joint_share *rate, double a, double b, double aa, double ab, double bb,
                    double z)
{
    double square = b * b - z * z * bb, middle = a * b - z * z * ab, rest = a * a - z * z * aa;
    double root = sqrt(fmax(middle * middle - square * rest, 0));
    if (!(square > 0)) return;
    rate->low = fmin(fmax((middle - root) / square, 0), 1);
    rate->high = fmax(fmin((middle + root) / square, 1), 0);
}

agg_joint_share agg_joint_rate_of(double a, double b, double aa, double ab, double bb,
                                  double unknown, double z)
{
    agg_joint_share rate = unsaid;
    rate.p = b > 0 ? a / b : NAN;
    if (!(b > 0) || unknown > SAYS_NOTHING) return rate;
    rate.stderr_ = sqrt(fmax(aa - 2 * rate.p * ab + rate.p * rate.p * bb, 0)) / b;
    fieller(&rate, a, b, aa, ab, bb, z);
    return rate;
}
