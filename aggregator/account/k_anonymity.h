// SPDX-License-Identifier: Apache-2.0
// Approximate k-anonymity of a trie's round (gboard-2024 Definition 3, Lemma 1). A prefix that
// fewer than k contributions hold is kept with probability at most 1 - alpha. Pure; doubles.
//
// An index that k of n contributions hold is in f(k) = Bin(k, p) + Bin(n - k, q) of their sets. The
// lemma compares f(k) with tau, the frequency of the max_prefixes-th most frequent index when
// nobody holds anything. It bounds tau from below by drawing subsets of size d - 2, which loses two
// of d votes. At the paper's own setting that is more than alpha = 0.95 allows: no k satisfies it,
// not even k = 0. The paper's k = 45 does not follow from the lemma as printed.
//
// The results are therefore named by their subset size: d - 2 (the lemma), d - 1 and d. tau is an
// order statistic of max_prefixes among s - 1 nearly independent binomial counts. It is taken at
// its quantile, since its own spread is less than a count at these sizes.
#ifndef K_ANONYMITY_H
#define K_ANONYMITY_H

#include <stdint.h>

#define AGG_ANONYMITY_NONE (-1.0) // no k: even an index that nobody holds is kept more often

typedef struct agg_anonymity {
    double n;    // contributions
    double s, d; // subset selection: the number of indices (gamma included), the size of a set
    double p, q; // probability that a set holds its own index, and another index
} agg_anonymity;

// Fills d, p and q from epsilon and s, as the paper's Algorithm 1 does.
void agg_anonymity_of(agg_anonymity *out, double n, double s, double epsilon);

// Returns: tau with subsets of d - less, which is the number of votes that max_prefixes of s - 1
// indices are expected to reach.
//   less: 0, 1 or 2; below d
double agg_anonymity_tau(const agg_anonymity *a, double max_prefixes, double less);

// Returns: P(f(k) >= tau).
double agg_anonymity_chance(const agg_anonymity *a, double k, double tau);

// Returns: the largest whole k, at most n, with P(f(k) >= tau) <= 1 - alpha; AGG_ANONYMITY_NONE if
// even k = 0 exceeds it.
double agg_anonymity_k(const agg_anonymity *a, double tau, double alpha);

#endif
