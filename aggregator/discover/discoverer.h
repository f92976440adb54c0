// SPDX-License-Identifier: Apache-2.0
// What a mechanism that finds strings gives to discover.c: its decoder and what that takes. A
// decoder gets a discovery that agg_discover_run has prepared (recipe, n, confidence, fdr and
// threshold are set) and accumulators that were checked against their recipes and cohorts.
#ifndef DISCOVERER_H
#define DISCOVERER_H

#include <stdbool.h>

#include "compound.h"
#include "discover.h"

typedef struct agg_discoverer {
    uint32_t id;       // of compounds.def
    bool takes_rounds; // decodes several rounds; else one accumulator
    // Adds the strings it finds, and its notes and cuts. Rounds that must follow each other are
    // checked here. Returns: AGG_ERR_USAGE for rounds that do not.
    agg_err (*run)(agg_discovery *discovery, agg_error *error, const agg_discover_round *rounds,
                   size_t n_rounds, const agg_discover_options *options);
    // Returns: the most bytes that `run` takes beside the accumulators.
    //   accumulator: bytes of the recipe's accumulator
    uint64_t (*memory)(const shoal_recipe *recipe, uint64_t accumulator, unsigned n_threads);
} agg_discoverer;

#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) extern const agg_discoverer agg_##stem##_discoverer;
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND

// Returns: the discoverer of a mechanism id, or NULL for one that finds no strings.
const agg_discoverer *agg_discoverer_of(uint32_t mechanism);

// Adds a row; the value is copied. Refuses nothing: sorting, known strings and the release
// threshold come in agg_discover_run.
agg_err agg_discovery_add(agg_discovery *discovery, agg_error *error, agg_text value, double count,
                          double stderr_, double score, const char *how) SHOAL_MUST_CHECK;

// Adds a line to notes or cuts; when there is no room the last line says so.
AGG_PRINTF(2, 3) void agg_discovery_note(agg_discovery *discovery, const char *format, ...);
AGG_PRINTF(2, 3) void agg_discovery_cut(agg_discovery *discovery, const char *format, ...);

#endif
