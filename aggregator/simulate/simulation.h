// SPDX-License-Identifier: Apache-2.0
// Simulated devices: real values drawn from counts, real randomizers, reproducible to the byte.
//
// Device i uses stream i of the seed: below(total of counts) picks its value, then the core
// randomizes it. So neither the number of threads nor the size of a batch changes what a device
// sends. If the mechanism needs a permanent secret, device i's is the first 32 bytes of stream i of
// SHA-256("shoal simulate secret" and the seed).
//
// Joint recipes: a device draws one line of the counts, a value of each variable.
//
// Recipes with an encoding: device i has n_events events, each drawn by below(total) of stream i of
// the seed. So the same seed means the same people, whatever is asked. Everything else comes from
// stream i of SHA-256("shoal simulate coins", the seed and the query's hash), so that rounds are
// independent. below(matching events) picks the event; if none matches, below(cells) picks a random
// answer; then the core randomizes. A device whose first event is not of the recipe's part sends
// nothing to it, and only events of that part can match: whether an event matches must not reveal
// to which part a device sends.
//
// Tries (trie.h): the events are device i's words. The device takes all that match, chooses among
// them by shoal_trie_choose and sends one randomized record for each contribution, all from its
// coins and one after the other. A real device answers one round only; to simulate that, give each
// round other devices by `first`.
//
// Windows (window_simulation.h): a device has windows with any number of events, and reports as the
// recipe's send.pick says.
#ifndef SIMULATION_H
#define SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "dictionary.h"
#include "recipe_json.h"
#include "window_simulation.h"

// The day on which batches are sealed unless another one is stated, 2000-01-01. It is not today, so
// that the same simulation gives the same bytes on every day.
#define AGG_SIMULATION_DAY 10957u

typedef struct agg_simulation {
    const agg_recipe *recipe;
    const agg_dictionary *counts; // as agg_counts_load reads them
    uint8_t seed[32];
    uint64_t first, n_devices;  // devices first .. first + n_devices - 1
    uint32_t n_events;          // events of a device, 1 .. AGG_EVENTS_MAX; 1 without an encoding
    const agg_windows *windows; // NULL: a device is one event, or n_events of them
    unsigned n_threads;
    uint32_t day;     // on which its batches are sealed; 0: AGG_SIMULATION_DAY
    bool is_batch_v1; // batches of version 1, which has no day
    void (*progress)(void *context, uint64_t devices); // may be NULL
    void *progress_context;
} agg_simulation;

// What was really drawn.
typedef struct agg_drawn {
    uint64_t *counts;         // devices by value; by cell if the recipe has an encoding; for a trie
                              // contributions by cell
    uint64_t n_random;        // devices without a matching event, who answered at random
    uint64_t n_nothing;       // contributions to a trie, or reports of a window, that say "nothing"
    uint64_t n_outside;       // devices that send to another part
    uint64_t n_reports;       // all of them
    agg_window_tally windows; // with windows; `shares` has room for as many numbers as `counts`, or
                              // is NULL where they are not wanted
} agg_drawn;

// Returns: the length of agg_drawn's counts.
size_t agg_drawn_size(const agg_simulation *simulation);

// Takes one sealed batch of `count` records, which begin at SHOAL_BATCH_HEADER, or at
// SHOAL_BATCH_HEADER_V1 with is_batch_v1.
typedef agg_err (*agg_batch_sink)(void *context, agg_error *error, const uint8_t *batch, size_t len,
                                  uint32_t count);

// Writes the seed of a text: SHA-256 of "shoal simulate seed" and the text.
void agg_simulation_seed(uint8_t seed[32], const char *text);

// Draws and privatizes every device, in order, in batches of at most 65536 records and 16 MiB.
//   drawn: written; counts has room for agg_drawn_size numbers
agg_err agg_simulation_run(agg_drawn *drawn, agg_error *error, const agg_simulation *simulation,
                           agg_batch_sink sink, void *sink_context) SHOAL_MUST_CHECK;

// Returns: the peak bytes of a run, without the counts and agg_drawn. Reads only recipe, counts,
// n_devices, n_threads and windows of `simulation`.
uint64_t agg_simulation_memory(const agg_simulation *simulation);

#endif
