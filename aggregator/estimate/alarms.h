// SPDX-License-Identifier: Apache-2.0
// Alarms: whether an accumulator could have come from honest devices at all. Pure.
//
// Honest devices may hold any values in any proportion, so nothing is known of the values. What is
// known is how a record is drawn once a device holds its value: rows are uniform, and a bit is set
// with a probability between two bounds. Each test asks for something that no values could bring
// about but by a rare chance. Its p-value is an upper bound on that chance: for any values, p is at
// most u with probability u at most (docs/alarms.md has the laws and the simulations). The tests of
// a result share its false-alarm rate by Bonferroni's rule.
//
// Devices that hold one value and run the honest randomizer are indistinguishable from people who
// hold it. No test sees them.
#ifndef ALARMS_H
#define ALARMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "copies.h"
#include "recipe_ref.h"

#define AGG_ALARM_RATE 1e-4 // results of honest devices in which any test raises an alarm, at most

// Their names are in alarm_print.h. The order is that of printing.
typedef enum agg_alarm_code {
    AGG_ALARM_IDENTICAL, // more equal records than chance gives
    AGG_ALARM_ROWS,      // rows (hash functions) that were not drawn uniformly
    AGG_ALARM_COLUMNS,   // cells of a sketch that no values fill so far, or leave so empty
    AGG_ALARM_WEIGHT,    // too many or too few ones in all records together
    AGG_ALARM_ABOVE,     // a count above all reports by more than the noise
    AGG_ALARM_BELOW,     // a count below zero by more than the noise
    AGG_ALARM_GROWTH,    // many more reports a day than usual: a rule without a p-value
    AGG_ALARM_CODES
} agg_alarm_code;

typedef enum agg_alarm_outcome {
    AGG_ALARM_NOT_MEASURED,
    AGG_ALARM_PASSED,
    AGG_ALARM_RAISED
} agg_alarm_outcome;

// The outcome of one code.
typedef struct agg_alarm {
    agg_alarm_outcome outcome;
    double p;                  // over all tests of the result, at most 1; 0 for AGG_ALARM_GROWTH
    double observed, expected; // what was counted, and its mean under the nearest honest law; of
                               // AGG_ALARM_GROWTH the newest and the usual reports a day
    double n;                  // reports that were counted over; ones for AGG_ALARM_WEIGHT
    const char *why;           // why it was not measured: a clause, static text
    bool is_partial;           // some reports were not looked at: passing would say too much
    bool is_counted;           // `observed` is the largest group of equal records that was found
    bool is_moot;              // not measured because there is nothing of the kind to measure
} agg_alarm;

typedef struct agg_alarms {
    agg_alarm list[AGG_ALARM_CODES];
    uint32_t n_tests;  // that share the rate
    uint32_t n_raised; // codes
    bool is_measured;  // false before agg_alarms_finish
} agg_alarms;

struct agg_count; // estimator.h

// Tests the sums of every part of a finished recipe.
//   alarms: zeros, or with the tests of earlier rounds; add counts next, if there are any, then
//     finish
// Returns: AGG_ERR_MEMORY. Cost: a pass over the cells; for hadamard also a transform;
// agg_alarms_memory bytes.
agg_err agg_alarms_test(agg_alarms *alarms, agg_error *error, const shoal_recipe *recipe,
                        const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_alarms_test takes at its peak. It keeps none of them.
uint64_t agg_alarms_memory(const shoal_recipe *recipe);

// Tests the counts of a dictionary, where agg_alarms_test cannot see every count in a cell of its
// own. The dictionary must not have been chosen by means of the same records.
//   part: the part whose items were counted
//   n: reports
//   counts: n_items, of agg_estimator_counts
void agg_alarms_test_counts(agg_alarms *alarms, const shoal_part *part, uint64_t n,
                            const struct agg_count *counts, size_t n_items);

// Tests how often one record came, as tables saw it while records passed (copies.h), where a
// recipe's records tell copies from a crowd. Where not all records passed, it can raise an alarm,
// but not pass.
void agg_alarms_test_copies(agg_alarms *alarms, const shoal_recipe *recipe,
                            const agg_copies_seen *seen);

// Sets the outcomes: p is multiplied by the number of tests, and an alarm is raised where it is
// then AGG_ALARM_RATE at most.
void agg_alarms_finish(agg_alarms *alarms);

// Raises AGG_ALARM_GROWTH if the newest reports a day are more than `factor` times the usual ones.
// Honest crowds grow too, so this is a rule and has no rate of false alarms. Call after
// agg_alarms_finish.
//   newest, usual: reports a day; usual is 0 where too little is known
//   factor: above 1; 0 for no rule
void agg_alarms_compare_growth(agg_alarms *alarms, double newest, double usual, double factor);

#endif
