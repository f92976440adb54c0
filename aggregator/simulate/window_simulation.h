// SPDX-License-Identifier: Apache-2.0
// Simulated visits: windows with events in them, of visitors who have favourites, close their
// browser or never come back. The same crowd answers recipes of send.pick "uniform" and "first".
//
// A device has one window a day. With the chance `active` a window has events, and `sizes` says how
// many. The first one is drawn from `openings`, where there are some, and the others from the
// counts. Each event is, with the chance `favourite`, the device's favourite instead, which is
// drawn once from the counts. After each window the visitor never returns with the chance `gone`;
// each window's page is killed with the chance `killed`.
//
// Under "uniform" each of limit.per_day slots of a window reports one event, drawn uniformly and
// anew for each slot, or "none". A window of a visit is lost with its page, a window of a day with
// its visitor. Under "first" the first limit.per_day events are reported as they happen, and only
// send.delay_s above 0 can lose the reports of a visitor's last window. Either way send.sample
// tosses a coin for each report.
//
// Device i's windows come from stream i of SHA-256("shoal simulate windows" and the seed), whatever
// the recipe. Its picks, samples and coins come from stream i of SHA-256("shoal simulate window
// coins", the seed and the recipe's hash).
#ifndef WINDOW_SIMULATION_H
#define WINDOW_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "dictionary.h"
#include "mechanism.h"
#include "recipe_json.h"

#define AGG_EVENTS_MAX 1000u         // events of a device or of a window
#define AGG_WINDOW_SIZES_MAX 16u     // different numbers of events
#define AGG_WINDOW_RECORDS_MAX 1000u // windows of a device times limit.per_day

// The crowd. Chances are in millionths.
typedef struct agg_windows {
    uint32_t active_micro, favourite_micro, gone_micro, killed_micro;
    uint32_t n_sizes;                            // 1 or more
    uint32_t sizes[AGG_WINDOW_SIZES_MAX];        // events of an active window
    uint64_t size_weights[AGG_WINDOW_SIZES_MAX]; // their frequencies, sum above 0
    uint32_t days;                               // windows of a device, at most
    const uint64_t *openings; // frequencies of the first event, by the values of the counts; NULL:
                              // those of the counts
} agg_windows;

// What the windows held, in numbers that add up over devices.
typedef struct agg_window_tally {
    uint64_t n_windows, n_active, n_lost; // lost: of those, windows that were never sent
    uint64_t *shares; // by value: the sum, over the reports that were sent, of the value's share of
                      // their windows' events, in 1 / agg_windows_unit; NULL under "first"
} agg_window_tally;

// What every device of a simulation has in common.
typedef struct agg_window_law {
    const agg_recipe *recipe;
    const agg_dictionary *counts;
    const agg_windows *windows;
    const uint64_t *upto, *openings_upto; // running sums; both the same without openings
    uint64_t sizes_upto[AGG_WINDOW_SIZES_MAX];
    uint64_t unit;
    uint8_t crowd[32], coins[32], secrets[32]; // seeds
} agg_window_law;

// Values of `drawn` for records that hold no value:
#define AGG_DRAWN_SILENT (UINT32_MAX - 3)  // the slot sent nothing
#define AGG_DRAWN_NOTHING (UINT32_MAX - 2) // the record reports that there is nothing (more)

// Refuses what no device could do, and recipes that report no events of windows.
agg_err agg_windows_check(agg_error *error, const agg_windows *windows,
                          const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Returns: the least number that every number of events divides; 0 if that is above 10^6.
uint64_t agg_windows_unit(const agg_windows *windows);

// Returns: the share of a value that the crowd's windows hold on average, empty ones included.
double agg_windows_share(const agg_windows *windows, const agg_dictionary *counts, size_t value);

// Simulates one device.
//   records, drawn: room for windows->days * limit.per_day; `drawn` is the index of the value, or
//     AGG_DRAWN_*
//   tally: added to
agg_err agg_window_device(uint8_t *records, uint32_t *drawn, agg_window_tally *tally,
                          const agg_window_law *law, uint64_t device) SHOAL_MUST_CHECK;

#endif
