// SPDX-License-Identifier: Apache-2.0
// Prints answers of crowd_account.h as a table or as JSON.
#ifndef ACCOUNT_PRINT_H
#define ACCOUNT_PRINT_H

#include <stdio.h>

#include "crowd_account.h"

// Prints an answer. A bound that does not apply is "-" in the table and null in JSON.
// Returns: AGG_ERR_IO.
agg_err agg_account_print(FILE *stream, agg_error *error, const agg_crowd_account *account,
                          bool is_json) SHOAL_MUST_CHECK;

#endif
