// SPDX-License-Identifier: Apache-2.0
// A share of the reports with its uncertainty.
#ifndef JOINT_SHARE_H
#define JOINT_SHARE_H

// If the data do not determine the share, the error is infinite and the interval is [0, 1].
typedef struct agg_joint_share {
    double p; // at least 0; the shares of one distribution sum to 1
    double stderr_, low, high;
} agg_joint_share;

#endif
