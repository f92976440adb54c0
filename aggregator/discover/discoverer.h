// SPDX-License-Identifier: Apache-2.0
// The interface between discover.c and a mechanism that finds strings: its decoder and the
// decoder's memory. agg_discover_run prepares the discovery (recipe, n, confidence, fdr and
// threshold are set) and checks the accumulators against their recipes and cohorts.
#ifndef DISCOVERER_H
#define DISCOVERER_H

#include <stdbool.h>

#include "compound.h"
#include "discover.h"

typedef struct agg_discoverer {
    uint32_t id;       // an id of compounds.def
    bool takes_rounds; // decodes several rounds; else one accumulator
    bool bounds_any;   // fdr bounds the chance of any false row, not their expected share
    // Adds the strings it finds, and its notes and cuts. It also checks that rounds follow each
    // other where they must.
    // Returns: AGG_ERR_USAGE for rounds that do not.
    agg_err (*run)(agg_discovery *discovery, agg_error *error, const agg_discover_round *rounds,
                   size_t n_rounds, const agg_discover_options *options);
    // Returns: the most bytes that `run` takes beside the accumulators.
    //   accumulator: bytes of the recipe's accumulator
    uint64_t (*memory)(const shoal_recipe *recipe, uint64_t accumulator, unsigned n_threads);
    // Returns: as agg_least_share (least_share.h).
    double (*least_share)(const shoal_recipe *recipe, double n, double fdr, double same);
} agg_discoverer;

#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) extern const agg_discoverer agg_##stem##_discoverer;
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND

// Returns: the discoverer of a mechanism id, or NULL for one that finds no strings.
const agg_discoverer *agg_discoverer_of(uint32_t mechanism);

// Adds a row and copies its value. It refuses nothing: agg_discover_run sorts the rows and applies
// known strings and the release threshold.
agg_err agg_discovery_add(agg_discovery *discovery, agg_error *error, agg_text value, double count,
                          double stderr_, double score, const char *how) SHOAL_MUST_CHECK;

// Adds a line to notes or cuts. If there is no room, the last line says so.
AGG_PRINTF(2, 3) void agg_discovery_note(agg_discovery *discovery, const char *format, ...);
AGG_PRINTF(2, 3) void agg_discovery_cut(agg_discovery *discovery, const char *format, ...);

// Notes of an empty result from which share on a string would have been found: nothing found is no
// sign that nothing is there. Does nothing where something was found.
//   by: what asked, such as "sfp"
//   n: its reports
//   share: of the reports that a string needs to be found as often as not; from 1 on none is enough
void agg_discovery_note_nothing(agg_discovery *discovery, const char *by, double n, double share);

#endif
