// SPDX-License-Identifier: Apache-2.0
// Decodes Bloom RAPPOR: estimates counts of candidate strings from the counts of bits. Pure.
//
// A report of cohort c sets bit b if the device's string hashes to b in that cohort, and by noise.
// A reported bit is 1 with probability q* if the string's filter has the bit, and with probability
// p* if not. Let cohort c have N_c of all N reports, and let r be the expected share of ones. Then
//
//     y_cb = (ones_cb - p* N_c) / (q* - p*) * N / N_c
//     V_cb = N_c r (1 - r) / (q* - p*)^2 * (N / N_c)^2
//
// y_cb is unbiased for the number of devices whose string has the bit, scaled to all N reports, and
// V_cb is its variance. The model is the regression y = background + sum over candidates of count *
// (the candidate has the bit). The background is the part of strings outside the list.
//
// A non-negative LASSO with weights 1/variance chooses the candidates that are adjusted for each
// other, at a penalty of `kappa` standard errors. Least squares on the chosen candidates gives
// their counts and covariance. Every other candidate gets the count that it would have if it joined
// them. Strings outside the list hash to random bits and add to every bit a variance tau^2, which
// does not depend on the size of the cohort. So the weights are 1/(V + tau^2), with the tau^2 that
// explains the residuals. Such strings also skew the residuals, because a few strings may have many
// reports; z is corrected for that skewness.
//
// z stays valid although the same reports chose the candidates. Every candidate, chosen or not, is
// tested in the same way against the other chosen ones, and the rule for many tests (multiple.h)
// counts all of them. docs/mechanisms/rappor-decoding.md has figures.
//
// Assumption: reports are independent, and N is large enough for the normal law.
// Source: Erlingsson, Pihur and Korolova 2014, section 4; fanti-2016 section 2.
#ifndef RAPPOR_DECODE_H
#define RAPPOR_DECODE_H

#include <stdbool.h>

#include "agg_error.h"
#include "bit_design.h"

typedef struct agg_rappor_counts {
    uint32_t n_cohorts, n_bits;
    const uint32_t *ones;    // n_cohorts * n_bits: reports of the cohort with the bit set
    const uint32_t *reports; // n_cohorts: reports of the cohort; one without reports is ignored
    double p_star, q_star;   // P(reported bit 1 | true bit 0) < P(reported bit 1 | true bit 1)
} agg_rappor_counts;

typedef struct agg_rappor_row {
    double count;   // reports; may be negative
    double stderr_; // reports
    double z;       // standard normal for a candidate that nobody sent
    bool is_tied;   // other candidates explain the same bits: count and z are 0, and stderr_ is the
                    // number of reports
} agg_rappor_row;

typedef struct agg_rappor_summary {
    double n;        // reports
    double tau;      // reports; the standard deviation that strings outside the list add to a bit
    size_t n_chosen; // candidates that the LASSO chose
    size_t n_tied;   // candidates with is_tied
} agg_rappor_summary;

// Estimates the count of every candidate.
//   rows: design->n_columns, one a candidate
//   summary: may be NULL
//   design: row c * n_bits + b of column j is 1 if candidate j has bit b in cohort c
// Returns: SHOAL_ERR_RANGE for counts above their cohort's reports, for a design of another size,
// and for p* and q* without a gap; AGG_ERR_MEMORY. Cost: 4 ms for the demo of google/rappor (64 x
// 32, 190 candidates); 0.3 s for 64 x 128, two hashes and 10,000 candidates.
agg_err agg_rappor_decode(agg_rappor_row *rows, agg_rappor_summary *summary, agg_error *error,
                          const agg_rappor_counts *counts,
                          const agg_bit_design *design) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_rappor_decode takes at most. The number of chosen candidates, which
// decides it, is known only afterwards.
//   n_rows, n_columns: of the design
//   per_column: ones of a column
uint64_t agg_rappor_decode_memory(size_t n_rows, size_t n_columns, size_t per_column);

#endif
