// SPDX-License-Identifier: Apache-2.0
// Reads the known strings that a discovery leaves out, and finds the guarantee of its rounds.
#ifndef KNOWN_TEXTS_H
#define KNOWN_TEXTS_H

#include "discover.h"
#include "guarantee.h"

// Reads a file of strings, one on each line; text after a tab is ignored. A line that the recipe's
// text rule would change excludes no string; the number of such lines is logged.
//   known: sorted by bytes, each string once; release with agg_list_release
//   path: NULL leaves the list empty
agg_err agg_known_texts_load(agg_list *known, agg_error *error, const char *path,
                             const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Finds the guarantee of the weakest round. It covers a device, since a device answers one round
// only.
//   release: what is stated of blocks and honest reports
agg_err agg_discover_guarantee(agg_guarantee *guarantee, agg_error *error,
                               const agg_discover_round *rounds, size_t n_rounds,
                               const agg_release *release) SHOAL_MUST_CHECK;

#endif
