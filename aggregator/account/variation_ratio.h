// SPDX-License-Identifier: Apache-2.0
// What a test of three classes sees of a crowd, summed exactly: lower bounds of the central
// epsilon, and the figure of the variation-ratio decomposition.
//
// Every record is put into one of three classes: those that x answers with more often than x', the
// mirror image, and all others. If each of the n - 1 other reports is in either of the first two
// with probability `clone`, then C ~ Bin(n - 1, 2 clone) of them are, A ~ Bin(C, 1/2) in the first,
// and the counts of both classes follow
//   P: (A + 1, C - A) with probability hit, (A, C - A + 1) with miss, else (A, C - A)
// or its mirror image Q. Given the total m of both counts, P exceeds e^eps Q from some count k(m)
// on, and what it exceeds it by has a closed form in one binomial tail. The sum over m covers a
// window; within blocks of m the tails follow from their neighbours.
//
// Lower bounds: with other devices that all have some third value this is what an observer sees who
// sorts the reports into three classes, so no true bound can be below it.
//
// Variation ratio: S. Wang, Y. Peng, J. Li, Z. Wen, Z. Li, S. Yu, D. Wang, W. Yang, "Privacy
// amplification via shuffling: unified, simplified, and tightened" (VLDB 2024). With E = e^eps0 and
// beta the total variation distance, it takes hit = E beta/(E - 1), miss = clone = beta/(E - 1). At
// beta = (E - 1)/(E + 1) nothing is left for the third class, and it is `stronger` of
// amplification.h. Below that it is a figure and not a promise: a report in the third class looks
// like those of other devices there only if these have the same law. docs/central.md has two
// devices and three answers whose true delta is above it. The promise is the blanket's (blanket.h),
// which is within 0.3 % of it. Pure; doubles.
#ifndef VARIATION_RATIO_H
#define VARIATION_RATIO_H

#include "amplification.h"

// Three classes of records: x's, its mirror image's, and all others.
typedef struct agg_three_classes {
    double hit;   // probability of x's class under x; of the mirror class under x'
    double miss;  // probability of x's class under x', at most `hit`; hit + miss is at most 1
    double clone; // probability of each of the two classes for any other report; at most 1/2
} agg_three_classes;

// Returns: the classes of the variation-ratio decomposition.
//   variation: total variation, above 0 and at most (e^eps0 - 1)/(e^eps0 + 1); more is cut to that
agg_three_classes agg_variation_classes(double local_epsilon, double variation);

// Returns: the classes of a test, for lower bounds: the others all have the law's third value.
agg_three_classes agg_test_classes(const agg_pair_law *law);

// Brackets the delta of one of n reports at a central epsilon.
//   tiny: the most probability that may be left out of each side of a window
agg_central agg_three_classes_delta(const agg_three_classes *classes, double n, double epsilon,
                                    double tiny);

// Brackets the central epsilon for all contributions of a crowd; both NAN where it is no better
// than contributions times local_epsilon in the first six digits.
//   crowd: its pair is not read
// Cost: 0.05 s at 10^9 reports, 1 s at 10^12.
agg_central agg_three_classes_epsilon(const agg_three_classes *classes, const agg_crowd *crowd);

#endif
