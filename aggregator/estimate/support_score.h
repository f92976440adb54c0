// SPDX-License-Identifier: Apache-2.0
// The score by which a count is detected: how far the support of an item stands out of the noise of
// an item that nobody holds. Pure.
#ifndef SUPPORT_SCORE_H
#define SUPPORT_SCORE_H

// Computes the score of one item: the normal law's, or the binomial law's if that is less. With few
// reports, three or four supports are soon more than the normal law would believe.
//   support: the number of reports that support the item
//   n: the number of reports
//   mean: the expected support of an item that nobody holds
//   spread: the standard deviation of that support
// Returns: the score in standard errors, no more than standard normal if nobody holds the item. The
// binomial law's upper tail is taken from its signed root of the likelihood ratio, half a report
// below the support, which is not above the true quantile where it matters. A spread beyond the
// binomial one, which items that share rows of a sketch have, divides that root.
double agg_support_score(double support, double n, double mean, double spread);

#endif
