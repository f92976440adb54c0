// SPDX-License-Identifier: Apache-2.0
// The settings of SFP's decoder that users do not set: how easily fragments pass, and the bounds of
// the work. Private to discover/.
#ifndef SFP_DECODER_H
#define SFP_DECODER_H

#include "discoverer.h"
#include "sfp_join.h"

typedef struct agg_sfp_settings {
    agg_sfp_keep keep;
    agg_sfp_bounds bounds;
    const agg_list *known; // strings that the caller will leave out of the rows; may be NULL
} agg_sfp_settings;

// Returns: the settings that the decoder uses for a recipe, with no known strings.
//   threshold: discovery->threshold
agg_sfp_settings agg_sfp_settings_of(const shoal_recipe *recipe, double threshold);

// Decodes with the given settings.
agg_err agg_sfp_discover_with(agg_discovery *discovery, agg_error *error,
                              const agg_discover_round *round, const agg_sfp_settings *settings,
                              unsigned n_threads) SHOAL_MUST_CHECK;

// Decodes from fragments that were found before.
//   heavy: of the round, found with settings->keep
agg_err agg_sfp_discover_heavy(agg_discovery *discovery, agg_error *error,
                               const agg_discover_round *round, const agg_sfp_heavy *heavy,
                               const agg_sfp_settings *settings,
                               unsigned n_threads) SHOAL_MUST_CHECK;

#endif
