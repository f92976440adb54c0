// SPDX-License-Identifier: Apache-2.0
// The joint distribution of two variables for pages: a heat map with its uncertainty. The map is a
// table, so that a screen reader, a narrow window and a printer have every figure of it. A cell has
// its share as a shade and in figures, with its interval; one whose interval holds zero is hatched
// and says so. Its style is that of trend_style.h. Pure.
#ifndef JOINT_PICTURE_H
#define JOINT_PICTURE_H

#include <stdio.h>

#include "joint_analysis.h"

// Prints the map with both marginals, its key, and the test of independence.
//   result: of two variables; names of categories may be hostile text and are escaped
//   among: a name for the label of the table, if the page has several maps; or NULL
// Privacy: cells and marginals below the release threshold are withheld here.
void agg_joint_picture_write(FILE *out, const agg_joint_result *result, const char *among);

#endif
