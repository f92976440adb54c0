// SPDX-License-Identifier: Apache-2.0
// The part of a static report about strings that nobody listed: what stands out, how it was found,
// what could be found at all, and what was left open. Of a trie it is of all rounds together.
#ifndef STATIC_DISCOVERY_H
#define STATIC_DISCOVERY_H

#include <stddef.h>
#include <stdio.h>

#include "discover.h"
#include "static_report.h"

#define AGG_STATIC_FOLLOWED 200u          // strings found that are followed over time
#define AGG_STATIC_NOT_ALONE ((size_t)-1) // what only all periods together tell from nothing

// What a report finds.
typedef struct agg_static_found {
    agg_discovery discovery; // with all rows
    agg_guarantee guarantee; // of the weakest round
    agg_shards_about shards; // of all rounds
    size_t n_rounds;
    size_t *since; // of each of the first n_since rows, the period after which it stood out alone
    size_t n_since;
    double least; // share of the reports from which on a string is found as often as not
} agg_static_found;

// Finds the strings as `shoal discover` does.
//   found: to be released on OK
//   rounds: of one analysis, in order; one of a mechanism without rounds
// Returns: as agg_discover_run and agg_discover_guarantee.
agg_err agg_static_found_make(agg_static_found *found, agg_error *error, const agg_static_report *r,
                              const agg_discover_round *rounds, size_t n_rounds) SHOAL_MUST_CHECK;

// Notes since which of the report's periods each word can be told from nothing, by all reports up
// to that period. Reads each accumulator once.
//   words: the first rows found, in their order
// Returns: as the report's load and agg_estimate_run. The caller releases `found` then too.
agg_err agg_static_found_date(agg_static_found *found, agg_error *error, const agg_static_report *r,
                              const agg_dictionary *words) SHOAL_MUST_CHECK;

// Writes the section. The report's order sorts and searches the table if there is one.
//   period: the days or accumulators that it is of; hostile text
void agg_static_found_write(FILE *out, const agg_static_report *r, const agg_static_found *found,
                            const char *period);

// Returns: whether the section's table is sorted by a column of this name.
bool agg_static_found_sorts_by(const char *column);

// Returns: the bytes of memory that it holds besides itself.
size_t agg_static_found_size(const agg_static_found *found);

void agg_static_found_release(agg_static_found *found);

#endif
