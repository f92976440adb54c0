// SPDX-License-Identifier: Apache-2.0
// Counts of candidate strings from Bloom RAPPOR's bit counts. Pure.
//
// Reports of cohort c set bit b when the device's string hashes to it in that cohort, and by noise.
// Whatever the noise, a report's bit is 1 with probability q* where the string's filter has the bit
// and p* where not, so that
//
//     y_cb = (ones_cb - p* N_c) / (q* - p*) * N / N_c        is unbiased for the count of devices
//     whose string has the bit, V_cb = N_c r (1 - r) / (q* - p*)^2 * (N / N_c)^2        is its
//     variance, r the expected share of ones,
//
// scaled from the cohort to all N reports. y = background + sum over candidates of count * (has the
// bit): a regression (Erlingsson, Pihur and Korolova 2014, section 4; fanti-2016 section 2). The
// background is what strings outside the list add to every bit.
//
// How counts are found: a non-negative LASSO with weights 1/variance chooses which candidates to
// adjust each other for, at a penalty of `kappa` standard errors. Least squares on the chosen gives
// their counts with covariance; each other candidate gets the count that it would have if it joined
// them. Strings outside the list hash to bits at random and make every bit vary by a tau^2 that is
// the same for cohorts large and small: weights are 1/(V + tau^2), tau^2 such that the residuals
// agree.
//
// What strings outside the list add is skewed, a few devices' many reports on one bit; z is
// corrected for the skewness that the residuals show.
//
// Why z is honest although the same reports chose: every candidate, chosen or not, is tested in the
// same way, against the others that were chosen, and a rule for many tests (multiple.h) counts all
// of them. docs/mechanisms/rappor-decoding.md has figures.
#ifndef RAPPOR_DECODE_H
#define RAPPOR_DECODE_H

#include <stdbool.h>

#include "agg_error.h"
#include "bit_design.h"

typedef struct agg_rappor_counts {
    uint32_t n_cohorts, n_bits;
    const uint32_t *ones;    // n_cohorts * n_bits: reports of a cohort with the bit set
    const uint32_t *reports; // n_cohorts: reports of a cohort; a cohort without any says nothing
    double p_star, q_star;   // P(bit reported 1 | true bit 0), P(... | true bit 1); p* < q*
} agg_rappor_counts;

typedef struct agg_rappor_row {
    double count;   // reports; may be negative
    double stderr_; // reports
    double z; // how far the count stands out: standard normal for a candidate that nobody sent
    bool
        is_tied; // other candidates explain the same bits: count 0, stderr the number of reports, z
                 // 0
} agg_rappor_row;

typedef struct agg_rappor_summary {
    double n;        // reports
    double tau;      // reports: standard deviation that strings outside the list add to a bit
    size_t n_chosen; // by the LASSO
    size_t n_tied;
} agg_rappor_summary;

// Decodes.
//   rows: design->n_columns, one for each candidate
//   summary: may be NULL
//   design: row c * n_bits + b of column j is 1 where candidate j has bit b in cohort c
// Returns: SHOAL_ERR_RANGE for counts above their cohort's reports, a design of another size, or p*
// and q* that say nothing. Cost: demo of google/rappor (64 x 32, 190 candidates) 4 ms; 64 x 128,
// two hashes, 10,000 candidates 0.3 s.
agg_err agg_rappor_decode(agg_rappor_row *rows, agg_rappor_summary *summary, agg_error *error,
                          const agg_rappor_counts *counts,
                          const agg_bit_design *design) SHOAL_MUST_CHECK;

// Returns: the bytes that it takes at most: how many candidates are adjusted for each other is
// known only then.
//   per_column: ones of a column
uint64_t agg_rappor_decode_memory(size_t n_rows, size_t n_columns, size_t per_column);

#endif
