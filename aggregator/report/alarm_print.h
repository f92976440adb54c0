// SPDX-License-Identifier: Apache-2.0
// Alarms as text: a sentence for people, and members of a JSON object.
//
// Privacy: a sentence has a code, a p-value and a count over all reports of the result, never a
// value. So it tells nothing of a value that the release threshold withholds.
#ifndef ALARM_PRINT_H
#define ALARM_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "alarms.h"

#define AGG_ALARM_LINE_MAX 320

// Returns: the code's name, such as "uneven-rows".
const char *agg_alarm_name(agg_alarm_code code);

// Writes one line about an alarm that was raised: "alarm identical-records: ...".
//   index: 0, 1, ...
// Returns: whether there is an index-th alarm.
bool agg_alarm_line(char out[AGG_ALARM_LINE_MAX], const agg_alarms *alarms, size_t index);

// Writes the line that says what was tested and passed, and the lines that say what was not
// measured and why. Codes that have nothing to measure in a mechanism are left to JSON.
//   index: 0, 1, ...
// Returns: whether there is an index-th line.
bool agg_alarm_rest_line(char out[AGG_ALARM_LINE_MAX], const agg_alarms *alarms, size_t index);

// Prints the lines of raised alarms; and the other lines, after an empty one.
void agg_alarms_print_raised(FILE *stream, const agg_alarms *alarms);
void agg_alarms_print_rest(FILE *stream, const agg_alarms *alarms);

// Prints the members "alarms":[{"code","p","statistic","expected","n","sentence"}],
// "alarms_passed":["..."] and "alarms_not_measured":[{"code","why"}], without a comma behind them.
void agg_alarms_print_json(FILE *stream, const agg_alarms *alarms);

#endif
