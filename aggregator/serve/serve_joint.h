// SPDX-License-Identifier: Apache-2.0
// ?view=joint: what hangs together, of a recipe with several variables. It is what `shoal joint`
// says of each pair, over the closed blocks that still have their records.
#ifndef SERVE_JOINT_H
#define SERVE_JOINT_H

#include "serve_view.h"

extern const serve_view_kind serve_joint_view;

// Finds the pair of variables that a question for rows names, as "a,b". A recipe of two needs no
// names.
// Returns: NULL, or why there is no such pair.
const char *serve_joint_read_pair(uint32_t pair[2], const agg_recipe *recipe, const char *names);

#endif
