// SPDX-License-Identifier: Apache-2.0
// A share of the reports with its uncertainty: what joint_covariance finds and joint_print shows.
#ifndef JOINT_SHARE_H
#define JOINT_SHARE_H

// Where the data do not say it, the error is infinite and the interval the widest there is.
typedef struct agg_joint_share {
    double p; // of a distribution: at least 0, all of one sum to 1
    double stderr_, low, high;
} agg_joint_share;

#endif
