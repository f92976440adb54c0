// SPDX-License-Identifier: Apache-2.0
// A series over epochs in print: table, JSON, CSV, SVG. Values are hostile text and are escaped for
// each.
//
// JSON:
// {"schema":1,"recipe","run_hash","mechanism","epsilon","users","epochs","confidence","updates","updates_answered","updates_left","frozen",
// "bound","stderr_at_worst","voted_at_once","never_voted","notes":[...],"rows":[{"epoch","of","value","stderr","low","high","n","votes","needed",
// "update","pending","frozen"}...]}; with the truth "rms_error" and "max_error" and "truth" in the
// rows; of a simulation "simulation":{"devices","privacy_max", "votes_spent":[share of the devices,
// by epoch]}. Items have no value in their rows but
// "items":[{"epoch","n","rows":[{"value","share","stderr","low","high","detected",
// "change","change_stderr","moved"}...]}...], an entry an update, and, where the recipe has a
// release threshold, "withheld" (how many shares below it are left out). What has no value is null.
// CSV: the rows alone, of items a line for each value and update.
#ifndef TRACK_PRINT_H
#define TRACK_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "track_items.h"

typedef enum agg_track_format {
    AGG_TRACK_TABLE = 0,
    AGG_TRACK_JSON,
    AGG_TRACK_CSV,
    AGG_TRACK_SVG
} agg_track_format;

// What only a simulation can know.
typedef struct agg_track_simulated {
    uint64_t devices;
    double privacy_max;        // 2 c_V + c_E of the device that spent most
    size_t n_epochs;           // of votes_spent
    const double *votes_spent; // share of devices without a vote left, by epoch
} agg_track_simulated;

typedef struct agg_track_result {
    const agg_track *track;
    const agg_track_items *items;         // NULL: none
    const double *truth;                  // by row, in the recipe's units; NULL: not known
    const agg_track_simulated *simulated; // NULL: none
    size_t top;                           // values to print; 0: all
    bool has_all_epochs; // a table shows every epoch, not only those where something happened
} agg_track_result;

// Returns: AGG_ERR_IO when the stream fails.
agg_err agg_track_print(FILE *stream, agg_error *error, const agg_track_result *result,
                        agg_track_format format) SHOAL_MUST_CHECK;

// Prints a run's figures for people: what it costs, what an update needs, and which changes are
// voted on how late.
void agg_track_print_law(FILE *stream, const agg_track_law *law);

#define AGG_TRACK_NOTE_MAX 240u

// Writes note i of a series: reports that are not as many as the recipe's users, updates that went
// against their votes, frozen. Returns: 0 where there is none.
bool agg_track_note(char out[AGG_TRACK_NOTE_MAX], const agg_track *track, uint32_t i);

// The SVG alone (track_svg.c).
void agg_track_svg(FILE *stream, const agg_track_result *result);

#endif
