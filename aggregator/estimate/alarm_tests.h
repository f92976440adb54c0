// SPDX-License-Identifier: Apache-2.0
// What the alarms of the mechanisms are made of: p-values that hold whatever values the devices
// hold. Private to estimate/.
//
// The main tool: if an event has probability at most `high` and at least `low` for a record of any
// value, then the number of n records that show it lies, in law, between Bin(n, low) and Bin(n,
// high). Tails of these laws are p-values, and Bonferroni's rule adds up over cells.
#ifndef ALARM_TESTS_H
#define ALARM_TESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "alarms.h"
#include "mechanism.h"
#include "sketch.h"

// The alarms of one mechanism.
typedef struct agg_alarm_kind {
    uint32_t id;
    // Tests one part of an accumulator.
    agg_err (*test)(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n);
    // Sets the bounds of the probability that a record supports an item. NULL where `test` sees
    // every count, or where counts are not sums of supports.
    void (*support)(double *low, double *high, const shoal_part *part);
    bool is_signed; // the support is a sum of signs
    // Returns: the bytes that `test` allocates at most. NULL where it allocates nothing.
    uint64_t (*memory)(const shoal_part *part);
    // Why a code is not measured, by code; NULL for those that are.
    const char *why[AGG_ALARM_CODES];
} agg_alarm_kind;

#define SHOAL_MECHANISM(id, stem, name) extern const agg_alarm_kind agg_##stem##_alarms;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Clauses that several mechanisms share.
extern const char agg_alarm_no_rows[], agg_alarm_one_mark[], agg_alarm_few_records[],
    agg_alarm_no_fingerprints[], agg_alarm_needs_dictionary[], agg_alarm_decoded[],
    agg_alarm_permanent_rows[], agg_alarm_is_cells[], agg_alarm_many_cells[];

// A count and the law that bounds it: Bin(n, p), with q = 1 - p.
typedef struct agg_bounded {
    double count, n, p, q;
} agg_bounded;

// The most extreme of several counts, by Chernoff's exponent, which needs no tail for each count.
typedef struct agg_extreme {
    double exponent; // 0 before any count is beyond its mean
    agg_bounded worst;
} agg_extreme;

// Considers a count that may be too large, or too small.
void agg_extreme_above(agg_extreme *extreme, const agg_bounded *bounded);
void agg_extreme_below(agg_extreme *extreme, const agg_bounded *bounded);

// Enters a test. Every call counts as one test of the result.
//   p: holds alone
void agg_alarm_enter(agg_alarms *alarms, agg_alarm_code code, double p, const agg_bounded *seen);

// Enters the test that the most extreme of `cells` counts is no accident. The tail of the worst
// count, times the cells, is no less than Bonferroni's p-value, whichever count is the worst.
void agg_alarm_enter_above(agg_alarms *alarms, agg_alarm_code code, const agg_extreme *extreme,
                           double cells);
void agg_alarm_enter_below(agg_alarms *alarms, agg_alarm_code code, const agg_extreme *extreme,
                           double cells);

// The largest and the smallest of m cells.
typedef struct agg_range {
    uint32_t low, high;
} agg_range;
agg_range agg_range_of(const uint32_t *cells, uint32_t m);

// Returns: the sum of all cells that count ones.
double agg_cells_total(const agg_sketch *sketch);

// Returns: the largest |x| of n sums of signs.
double agg_largest_sum(const int32_t *sums, uint64_t n);

// Returns: the fourth central moment of the number of pairs, among n uniform draws of k cells, that
// lie in one cell.
double agg_pairs_fourth_moment(double n, double k);

// Tests that each of n reports drew one of k rows uniformly. Two tests: the fullest and the
// emptiest row, and the number of pairs of reports in one row.
//   counts: reports of each row; k numbers
void agg_alarm_test_uniform(agg_alarms *alarms, agg_alarm_code code, const uint32_t *counts,
                            uint32_t k, uint64_t n);

// Tests cells that are the counts of single values: above `high` or below `low`.
void agg_alarm_test_values(agg_alarms *alarms, const uint32_t *cells, uint32_t m, uint64_t n,
                           double low, double high);

// Tests the cells of a sketch row by row, given how many reports each row has.
//   rows: k numbers; NULL if the cells of a row add up to its reports
void agg_alarm_test_columns(agg_alarms *alarms, const agg_sketch *sketch, const uint32_t *rows,
                            double low, double high);

// A group of independent draws, each of which adds 1, -1 or 0.
typedef struct agg_draws {
    double n, plus, minus;
} agg_draws;

// Returns: a bound on P(sum >= x) if is_upper, else on P(sum <= x), by Chernoff: no more than 1.
double agg_draws_tail(const agg_draws groups[2], double x, bool is_upper);

// The same as a natural logarithm, at most 0.
double agg_draws_log_tail(const agg_draws groups[2], double x, bool is_upper);

#define AGG_TOGETHER_MAX 65536u // cells, beyond which sorting them would cost too much

// Tests whether several cells together count more than any values could bring about: a device holds
// one value, so of s cells at most one is its own. Copies of one record raise many cells at once,
// each by too little to stand out alone. Nothing is tested beyond AGG_TOGETHER_MAX cells.
//   cells: m counts; in any set of s cells, the number that one record marks is in law at most one
//     coin of probability `own` and s - 1 of probability `other`
agg_err agg_alarm_test_together(agg_alarms *alarms, agg_error *error, const uint32_t *cells,
                                uint32_t m, uint64_t n, double own, double other) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_alarm_test_together takes over m cells: a copy, and what qsort takes
// to sort it.
uint64_t agg_alarm_together_memory(uint32_t m);

// Tests the number of ones in all records. A record of m bits has own bits, each 1 with probability
// `own`, and the others with probability `other`.
//   ones: in all records
//   own_low, own_high: the least and the most own bits that a record can have
typedef struct agg_weight {
    double ones, n, m, own_low, own_high, own, other;
} agg_weight;
void agg_alarm_test_weight(agg_alarms *alarms, const agg_weight *weight);

// Runs the tests of one-hot sums: each bit, the ones in all records, and several bits together. A
// record has one own bit or none, which is 1 with probability `own`; every other bit is 1 with
// probability q.
agg_err agg_alarm_test_onehot(agg_alarms *alarms, agg_error *error, const agg_sketch *sketch,
                              uint64_t n, double own, double q) SHOAL_MUST_CHECK;

#endif
