// SPDX-License-Identifier: Apache-2.0
// The score by which a count is detected: how far the support of an item stands out from the noise
// of an item that nobody holds. Pure.
#ifndef SUPPORT_SCORE_H
#define SUPPORT_SCORE_H

// Computes the score of one item: the normal law's, or the binomial law's if that is less. With few
// reports, three or four supports by accident already look unlikely to the normal law.
//   support: the number of reports that support the item
//   n: the number of reports
//   mean: the expected support of an item that nobody holds
//   spread: the standard deviation of that support
// Returns: the score in standard errors, no more than standard normal if nobody holds the item. The
// binomial law's upper tail is approximated by the signed root of the likelihood ratio, taken half
// a report below the support. The approximation is not above the true quantile where it matters.
// Items that share rows of a sketch have a larger spread than the binomial law; the root is then
// divided by the ratio of the two.
double agg_support_score(double support, double n, double mean, double spread);

#endif
