// SPDX-License-Identifier: Apache-2.0
// Reads and writes reports as JSON: {"key", "recipe_hash", "parameters", "records": [one text
// record]}. Reading is strict. Writing is canonical: one record has one form.
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
//   record: recipe->recipe->record_size bytes, written on OK
// Returns: SHOAL_ERR_UNKNOWN_FIELD, _MISSING_FIELD, _DUPLICATE, _TYPE, _RANGE, _RECIPE_HASH, an
// error of the record, or AGG_ERR_JSON. `error` names the field.
agg_err agg_report_parse(uint8_t *record, agg_error *error, const agg_recipe *recipe,
                         const char *json, size_t len) SHOAL_MUST_CHECK;

// Returns: the size of every report of the recipe, without a newline or a NUL.
size_t agg_report_size(const agg_recipe *recipe);

// Writes the report of one record, agg_report_size bytes.
//   cap: bytes that `out` has
agg_err agg_report_print(char *out, size_t cap, const agg_recipe *recipe,
                         const uint8_t *record) SHOAL_MUST_CHECK;

// Limit of the characters before the record's text: a key of 64, a hash of 64, at most ten
// parameters whose numbers have 24 characters, and all names.
#define AGG_REPORT_HEAD_MAX 768

// Holds what a fast reader knows of a recipe's reports in advance. As agg_report_print writes them,
// they differ only in the record's text. The head is everything before that text.
typedef struct agg_report_frame {
    agg_record_text text;  // reader of the record's text
    size_t size, head_len; // `size` is that of the whole report, as agg_report_size returns it
    char head[AGG_REPORT_HEAD_MAX];
} agg_report_frame;

// Makes the frame of a recipe. The recipe must outlive the frame.
//   cpu: the instruction set for reading the record's text, usually agg_cpu_chosen()
void agg_report_frame_init(agg_report_frame *frame, const agg_recipe *recipe, agg_cpu cpu);

// Reads a report on the fast path, without a JSON parser. It takes only reports that are byte for
// byte as agg_report_print writes them, and reads the record that agg_report_parse would read.
//   json: frame->size bytes
//   record: recipe->recipe->record_size bytes; its content is undefined if the result is false
// Returns: whether it read the report. If not, call agg_report_parse, which accepts other forms and
// says what is wrong with a bad report.
// Cost: a comparison of the bytes around the record's text, and agg_record_text_read.
bool agg_report_read(uint8_t *record, const agg_report_frame *frame, const char *json);

#endif
