// SPDX-License-Identifier: Apache-2.0
// JSON reports, {"key", "recipe_hash", "parameters", "records": [one text record]}: reading is
// strict, writing canonical.
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "agg_cpu.h"
#include "recipe_json.h"
#include "record.h"
#include "record_text.h"

// Checks one report and decodes its record. The report has exactly the four keys, the recipe's id,
// hash and parameters, and one record.
//   record: recipe->recipe.record_size bytes, written on OK
// Returns: UNKNOWN_FIELD, MISSING_FIELD, DUPLICATE, TYPE, RECIPE_HASH, RECORD ... with the field
// named.
agg_err agg_report_parse(uint8_t *record, agg_error *error, const agg_recipe *recipe,
                         const char *json, size_t len) SHOAL_MUST_CHECK;

// Returns: the size of every report of the recipe, without a newline or a NUL.
size_t agg_report_size(const agg_recipe *recipe);

// Writes agg_report_size bytes: the report of one record.
agg_err agg_report_print(char *out, size_t cap, const agg_recipe *recipe,
                         const uint8_t *record) SHOAL_MUST_CHECK;

#define AGG_REPORT_HEAD_MAX                                                                        \
    768 // a key of 64, a hash of 64, at most ten parameters of 24, and their names

// The bytes that all reports of a recipe have in common, as agg_report_print writes them:
// everything but the record's text, which begins behind the head.
typedef struct agg_report_frame {
    agg_record_text text;
    size_t size, head_len;
    char head[AGG_REPORT_HEAD_MAX];
} agg_report_frame;

// Makes the frame of a recipe, which must outlive it.
//   cpu: as agg_cpu.h says
void agg_report_frame_init(agg_report_frame *frame, const agg_recipe *recipe, agg_cpu cpu);

// Reads a report that is, byte for byte, one that agg_report_print writes. agg_report_parse would
// read the same record.
//   json: frame->size bytes
//   record: recipe->recipe.record_size bytes; of any content where the result is false
// Returns: whether the report is one of these. If not, agg_report_parse takes it or says what is
// wrong.
// Cost: comparing the frame, and agg_record_text_read.
bool agg_report_read(uint8_t *record, const agg_report_frame *frame, const char *json);

#endif
