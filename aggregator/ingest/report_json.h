// SPDX-License-Identifier: Apache-2.0
// A JSON report: {"key", "recipe_hash", "parameters", "records": [one text record]}, read strictly and written canonically.
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "recipe_json.h"
#include "record.h"

// Checks one report and decodes its record: exactly the four keys, the recipe's id, hash and parameters, one record.
//   record: recipe->recipe.record_size bytes, written on OK
// Returns: UNKNOWN_FIELD, MISSING_FIELD, DUPLICATE, TYPE, RECIPE_HASH, RECORD ... with the field named.
shoal_err agg_report_parse(uint8_t *record, agg_error *error, const agg_recipe *recipe, const char *json,
                           size_t len) SHOAL_MUST_CHECK;

// Returns: bytes of every report of the recipe, without a newline or a NUL.
size_t agg_report_size(const agg_recipe *recipe);

// Writes agg_report_size bytes: the report of one record.
shoal_err agg_report_print(char *out, size_t cap, const agg_recipe *recipe, const uint8_t *record) SHOAL_MUST_CHECK;

#endif
