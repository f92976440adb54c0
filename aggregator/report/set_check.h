// SPDX-License-Identifier: Apache-2.0
// Prints what a recipe set costs a person.
#ifndef SET_CHECK_H
#define SET_CHECK_H

#include "set_json.h"

// Prints each member with its cost, which recipes share an account, what the set costs on a day and
// in a window of days, and whether that keeps to its budget. All sums are by basic composition.
//   path: of the set's file; NULL for recipes of files of their own
//   today: days since 1970-01-01 UTC; expired recipes cost nothing
// Returns: whether the set keeps to its budget; true without a budget.
bool set_check_print(const agg_set *set, const char *path, uint32_t today);

// Prints that nothing bounds what recipes cost together.
void set_check_print_uncapped(void);

#endif
