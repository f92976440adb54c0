// SPDX-License-Identifier: Apache-2.0
// The rounds of an analysis in a static report: what was asked, what came, what is asked next, and
// a picture of the starts as they grew into words. The rounds are those of a trie
// (trie_layer.h).
#ifndef STATIC_ROUNDS_H
#define STATIC_ROUNDS_H

#include "static_report.h"

// Joins the reports of an analysis's rounds into one, which stands where the first of them stood,
// and leaves the others as they are. The last round may have no accumulator: it is asked next.
//   reports, n: shortened
//   rounds: room for n; the joined reports point into it
// Returns: AGG_ERR_USAGE for another round without an accumulator, and for known strings that are
// given for two rounds; AGG_ERR_MEMORY.
agg_err agg_static_rounds_join(agg_static_report *reports, size_t *n, agg_static_report *rounds,
                               agg_error *error) SHOAL_MUST_CHECK;

#endif
