// SPDX-License-Identifier: Apache-2.0
// Simulated devices: real values drawn from counts, real randomizers, reproducible to the byte.
//
// Device i uses stream i of the seed: first below(total of counts) picks its value, then the core
// randomizes it. So neither the number of threads nor the size of a batch changes what a device
// sends. Where the mechanism needs a permanent secret, device i's is the first 32 bytes of stream i
// of SHA-256("shoal simulate secret" and the seed).
//
// Of a joint recipe a device draws one line of the counts: a value of each variable.
//
// Of a recipe with an encoding, device i has n_events events, each by below(total) of stream i of
// the seed: whatever is asked, the same seed means the same people. What follows comes from stream
// i of SHA-256("shoal simulate coins", the seed and the query's hash), so that rounds are
// independent: below(matching events) picks the event, or, where none matches, below(cells) an
// answer at random; then the core randomizes. A device whose first event is not of the recipe's
// part sends nothing to it, and only events of that part can match: whether one does must not say
// to which part a device sends.
//
// Of a trie (trie.h) the events are device i's words. It answers with all that match, by
// shoal_trie_choose and one randomized record for each of its contributions, all from its coins;
// the records of a device come one after the other. Rounds that real devices answer once are
// simulated with disjoint devices: `first`.
#ifndef SIMULATION_H
#define SIMULATION_H

#include <stdint.h>

#include "agg_error.h"
#include "dictionary.h"
#include "recipe_json.h"

typedef struct agg_simulation {
    const agg_recipe *recipe;
    const agg_dictionary *counts; // of agg_counts_load
    uint8_t seed[32];
    uint64_t first, n_devices; // devices first .. first + n_devices - 1
    uint32_t n_events; // of one device, 1 .. AGG_EVENTS_MAX; 1 but for recipes with an encoding
    unsigned n_threads;
    void (*progress)(void *context, uint64_t devices); // may be NULL
    void *progress_context;
} agg_simulation;

#define AGG_EVENTS_MAX 1000u

// What was really drawn.
typedef struct agg_drawn {
    uint64_t *counts;  // devices by value, counts->n of them; of a recipe with an encoding by cell,
                       // of a trie contributions
    uint64_t n_random; // devices without a matching event, in no cell: they answered at random
    uint64_t n_nothing; // of a trie: contributions that say "nothing to report"
    uint64_t n_outside; // devices that send to another part
} agg_drawn;

// Returns: how many counts there are.
size_t agg_drawn_size(const agg_simulation *simulation);

// Takes one sealed batch of `count` records.
typedef agg_err (*agg_batch_sink)(void *context, agg_error *error, const uint8_t *batch, size_t len,
                                  uint32_t count);

// Writes the seed of a text: SHA-256 of "shoal simulate seed" and the text.
void agg_simulation_seed(uint8_t seed[32], const char *text);

// Draws and privatizes every device, in order, in batches of at most 65536 records and 16 MiB.
//   drawn: counts is room for agg_drawn_size; written
agg_err agg_simulation_run(agg_drawn *drawn, agg_error *error, const agg_simulation *simulation,
                           agg_batch_sink sink, void *sink_context) SHOAL_MUST_CHECK;

// Returns: the bytes that it takes at its peak, beside the counts and agg_drawn's: of `simulation`
// only recipe, counts and n_devices are read.
uint64_t agg_simulation_memory(const agg_simulation *simulation);

#endif
