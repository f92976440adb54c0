// SPDX-License-Identifier: Apache-2.0
// Approximate k-anonymity of a trie's round (gboard-2024 Definition 3, Lemma 1): what fewer than k
// contributions hold is kept with a chance of at most 1 - alpha. Pure; doubles.
//
// An index that k of n contributions hold is in f(k) = Bin(k, p) + Bin(n - k, q) of their sets. The
// lemma compares f(k) with tau, the frequency of the max_prefixes-th most frequent index where
// nobody holds anything, and bounds tau from below by drawing subsets of size d - 2. That loses two
// of d votes, which at the paper's own setting is more than alpha = 0.95 leaves room for: no k
// reaches it there, not even k = 0, and the paper's k = 45 does not come out of the lemma as
// printed. So three are told apart by name: subsets of d - 2 (the lemma), d - 1 and d. tau is an
// order statistic of max_prefixes among s - 1 nearly independent binomial counts and is taken at
// its quantile: its own spread is less than a count at these sizes.
#ifndef K_ANONYMITY_H
#define K_ANONYMITY_H

#include <stdint.h>

#define AGG_ANONYMITY_NONE (-1.0) // no k: even what nobody holds is kept more often

typedef struct agg_anonymity {
    double n;    // contributions
    double s, d; // of subset selection: indices with gamma, size of a set
    double p, q; // chance that a set holds its own index, and another
} agg_anonymity;

// Fills d, p and q from epsilon and s, as the paper's Algorithm 1 does.
void agg_anonymity_of(agg_anonymity *out, double n, double s, double epsilon);

// Returns: tau with subsets of d - less: the most votes that max_prefixes of s - 1 indices are
// expected to have at least.
//   less: 0, 1 or 2; below d
double agg_anonymity_tau(const agg_anonymity *a, double max_prefixes, double less);

// Returns: P(f(k) >= tau).
double agg_anonymity_chance(const agg_anonymity *a, double k, double tau);

// Returns: the largest k, whole, with P(f(k) >= tau) <= 1 - alpha; at most n; AGG_ANONYMITY_NONE
// where k = 0 has none.
double agg_anonymity_k(const agg_anonymity *a, double tau, double alpha);

#endif
