// SPDX-License-Identifier: Apache-2.0
// Results of audits, as a table or as JSON, on standard output.
#ifndef AUDIT_PRINT_H
#define AUDIT_PRINT_H

#include <stdbool.h>

#include "audit.h"
#include "audit_parts.h"

// Prints the audit of one part, or of a recipe that has one part only.
void agg_audit_print(const agg_audit *audit, const agg_draws *draws, bool is_json);

// The frame around the audits of several parts: what stands before the first, around each, and
// behind the last.
void agg_audit_print_start(const agg_recipe *recipe, bool is_json);
//   first: the part's index; n: how many parts from it on are alike
void agg_audit_print_part_start(uint32_t first, uint32_t n, bool is_json);
void agg_audit_print_part_end(bool is_json);
void agg_audit_print_sum(const agg_recipe *recipe, const agg_audit_sum *sum, bool is_json);

#endif
