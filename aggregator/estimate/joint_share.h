// SPDX-License-Identifier: Apache-2.0
// A share of the reports with its uncertainty.
#ifndef JOINT_SHARE_H
#define JOINT_SHARE_H

// If the data do not determine the share, the error is infinite and the interval is [0, 1].
typedef struct agg_joint_share {
    double p; // at least 0; the shares of one distribution sum to 1
    double stderr_, low, high;
} agg_joint_share;

// Returns: a share with its normal interval, cut to [0, 1].
//   unknown: the part of the share's square along directions that the data do not determine
//   z: quantile of the interval
agg_joint_share agg_joint_share_of(double p, double variance, double unknown, double z);

// Returns: the rate a / b with the delta method's error and Fieller's interval, cut to [0, 1]; NaN
// with an infinite error if b is not above 0.
//   aa, ab, bb: the variances and the covariance of a and b
//   unknown, z: as of agg_joint_share_of, the larger one of a and b
agg_joint_share agg_joint_rate_of(double a, double b, double aa, double ab, double bb,
                                  double unknown, double z);

#endif
