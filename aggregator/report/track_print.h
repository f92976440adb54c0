// SPDX-License-Identifier: Apache-2.0
// Prints a series over epochs as a table, JSON, CSV, SVG or Arrow. Values are hostile text and are
// escaped (print_text.h).
//
// JSON is one object: {"schema":1, "recipe", "run_hash", "mechanism", "epsilon", "users", "epochs",
// "confidence", "updates", "updates_answered", "updates_left", "frozen", "bound",
// "stderr_at_worst", "voted_at_once", "never_voted", "notes":[...], "rows":[{"epoch", "of",
// "value", "stderr", "low", "high", "n", "votes", "needed", "update", "pending", "frozen"}...]}.
// Missing numbers are null.
//   If the truth is known, it has "rms_error" and "max_error", and rows have "truth".
//   A simulation adds "simulation":{"devices", "privacy_max", "votes_spent":[share of the devices,
//   by epoch]}.
//   For items, rows have no values, and "items" has an entry an update: [{"epoch", "n",
//   "rows":[{"value", "share", "stderr", "low", "high", "detected", "change", "change_stderr",
//   "moved"}...]}...]. "withheld" is the number of shares that are left out, if the recipe has a
//   release threshold.
//
// CSV and Arrow are the rows; for items they have a row for each value and update.
#ifndef TRACK_PRINT_H
#define TRACK_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "track_items.h"

typedef enum agg_track_format {
    AGG_TRACK_TABLE = 0,
    AGG_TRACK_JSON,
    AGG_TRACK_CSV,
    AGG_TRACK_SVG,
    AGG_TRACK_ARROW
} agg_track_format;

// Figures that only a simulation knows.
typedef struct agg_track_simulated {
    uint64_t devices;
    double privacy_max;        // 2 c_V + c_E of the device that has spent most
    size_t n_epochs;           // of votes_spent
    const double *votes_spent; // share of devices without a vote left, by epoch
} agg_track_simulated;

typedef struct agg_track_result {
    const agg_track *track;
    const agg_track_items *items;         // NULL for a series of numbers
    const double *truth;                  // by row, in the recipe's units; NULL if unknown
    const agg_track_simulated *simulated; // NULL unless the series is simulated
    size_t top;                           // values to print; 0 for all
    bool has_all_epochs; // a table has every epoch, not only the first, the last and updates
} agg_track_result;

// Prints a series.
// Returns: AGG_ERR_IO if the stream fails.
// Privacy: the release threshold of items is enforced here.
agg_err agg_track_print(FILE *stream, agg_error *error, const agg_track_result *result,
                        agg_track_format format) SHOAL_MUST_CHECK;

// Prints the figures of a run for people: its cost, the votes that an update needs, and how late
// devices vote on which changes.
void agg_track_print_law(FILE *stream, const agg_track_law *law);

#define AGG_TRACK_NOTE_MAX 240u // bytes with a NUL

// Writes note i of a series. Notes are about numbers of reports that differ from the recipe's
// users, updates against the votes, pending values, and a frozen series. Returns: false if there
// are not more than i notes.
bool agg_track_note(char out[AGG_TRACK_NOTE_MAX], const agg_track *track, uint32_t i);

// Prints the SVG (track_svg.c).
void agg_track_svg(FILE *stream, const agg_track_result *result);

#endif
