// SPDX-License-Identifier: Apache-2.0
// Prints results of audits on standard output, as a table or as JSON.
#ifndef AUDIT_PRINT_H
#define AUDIT_PRINT_H

#include <stdbool.h>

#include "audit.h"
#include "audit_parts.h"

// Prints the audit of one part, or of a recipe that has one part only.
void agg_audit_print(const agg_audit *audit, const agg_draws *draws, bool is_json);

// Print the frame around the audits of several parts: the text before the first part, around each
// part, and after the last.
void agg_audit_print_start(const agg_recipe *recipe, bool is_json);
// Opens the frame of one part.
//   first: the part's index
//   n: how many parts from it on are alike
void agg_audit_print_part_start(uint32_t first, uint32_t n, bool is_json);
void agg_audit_print_part_end(bool is_json);
void agg_audit_print_sum(const agg_recipe *recipe, const agg_audit_sum *sum, bool is_json);

#endif
