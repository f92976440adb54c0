// SPDX-License-Identifier: Apache-2.0
// The settings of SFP's decoder that are not a user's: how loosely fragments are let through, and
// what bounds the work. Private to discover/.
#ifndef SFP_DECODER_H
#define SFP_DECODER_H

#include "discoverer.h"
#include "sfp_join.h"

typedef struct agg_sfp_settings {
    agg_sfp_keep keep;
    agg_sfp_bounds bounds;
    const agg_list *known; // strings that the caller will leave out of the rows; may be NULL
} agg_sfp_settings;

// The settings that the decoder takes for a recipe; nothing is known.
//   threshold: discovery->threshold
agg_sfp_settings agg_sfp_settings_of(const shoal_recipe *recipe, double threshold);

// Decodes with settings of one's own.
agg_err agg_sfp_discover_with(agg_discovery *discovery, agg_error *error,
                              const agg_discover_round *round, const agg_sfp_settings *settings,
                              unsigned n_threads) SHOAL_MUST_CHECK;

// The same from fragments that were found already.
//   heavy: of the round, by settings->keep
agg_err agg_sfp_discover_heavy(agg_discovery *discovery, agg_error *error,
                               const agg_discover_round *round, const agg_sfp_heavy *heavy,
                               const agg_sfp_settings *settings,
                               unsigned n_threads) SHOAL_MUST_CHECK;

#endif
