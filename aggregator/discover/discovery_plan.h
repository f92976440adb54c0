// SPDX-License-Identifier: Apache-2.0
// Plans the two ways to find unlisted strings side by side: sfp in one round, and a trie in
// several. What n-grams would find stands beside them as a warning. Pure.
#ifndef DISCOVERY_PLAN_H
#define DISCOVERY_PLAN_H

#include <stddef.h>

#include "ngram_plan.h"
#include "sfp_plan.h"
#include "trie_plan.h"

#define AGG_DISCOVERY_PREFIXES_MAX 10000u // starts that a planned trie keeps after a round

typedef enum agg_discovery_way {
    AGG_DISCOVERY_SFP = 0,
    AGG_DISCOVERY_TRIE,
    AGG_DISCOVERY_ANY // in a wish: the way that finds rarer strings
} agg_discovery_way;

extern const char *const agg_discovery_ways[]; // names by agg_discovery_way, then NULL

// Names of the oracles that sfp counts with, then NULL.
extern const char *const agg_discovery_oracles[];

typedef struct agg_discovery_wish {
    double devices;         // devices that report, 1 or more
    uint32_t eps_micro;     // epsilon of a device; a trie shares it out over the contributions
    size_t oracle;          // index into agg_discovery_oracles
    uint32_t length;        // bytes of a string in sfp, even
    uint32_t depth;         // characters of a word of the trie and its end, at most; below
                            // AGG_TRIE_DEPTH_OPEN words of all these lengths are planned for
    uint32_t characters;    // characters of the trie's list
    uint32_t contributions; // words that a device reports to the trie, 1 or more
    agg_discovery_way way;
} agg_discovery_wish;

typedef struct agg_discovery_plan {
    agg_discovery_wish wish;
    agg_discovery_way way; // the chosen way: the wished one, or the one with the smaller share
    agg_sfp_plan sfp;
    agg_trie_plan trie;
    double share[2]; // by way: the share of the devices (sfp) or contributions (trie) whose string
                     // is found with probability one half; 1 if no string is
    double ngram_share; // below it n-grams find a string by chance only (ngram_plan.h); 1: nothing
} agg_discovery_plan;

// Plans both ways.
// Returns: AGG_ERR_USAGE for a trie whose every record would be too large; SHOAL_ERR_RANGE as
// agg_sfp_plan_run.
// Cost: some tenths of a second.
agg_err agg_discovery_plan_run(agg_discovery_plan *plan, agg_error *error,
                               const agg_discovery_wish *wish) SHOAL_MUST_CHECK;

// Returns: epsilon of one contribution to the trie, in micro-units.
uint32_t agg_discovery_contribution_micro(const agg_discovery_plan *plan);

#endif
