// SPDX-License-Identifier: Apache-2.0
// Tasks of two servers, read from a file: a recipe of aggregation "dap", or a task file.
//
// A task file describes tasks that no recipe can: measurements that are added up exactly, without
// local noise, and tasks for clients of DAP-09.
//
//     {"version": "dap-18" or "dap-09",
//      "task_id": 43 characters of base64url or 64 hex digits,
//      "info": a name,
//      "leader": URL, "helper": URL,
//      "time_precision_s": 3600, "min_batch_size": 100, "expires": "2027-01-31",
//      "vdaf": {"type": "count"}
//            | {"type": "sum", "max": 255}
//            | {"type": "sum-vec", "length": 8, "max": 255, "chunk": 8}
//            | {"type": "histogram", "length": 64, "chunk": 9}
//            | {"type": "multihot-count-vec", "length": 64, "max_weight": 3, "chunk": 9},
//      "noise": {"type": "discrete-laplace", "epsilon": 1}
//             | {"type": "discrete-gaussian", "variance": 400, "delta": "1e-9"}}
//
// `noise` is optional: each server adds it to its share of a batch, so that the sums are
// differentially private if one of the two is honest (dap_noise.h). It is part of the default id.
//
// `expires` is optional. In dap-18 `chunk` and `task_id` are optional too: the default chunk gives
// the shortest proof, and the default id is the SHA-256 of "shoal dap task\n" and the encoded
// configuration. DAP-09 has "bits" in place of "max", and no multihot-count-vec.
#ifndef DAP_TASK_H
#define DAP_TASK_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "dap.h"
#include "recipe_json.h"

#define AGG_DAP_TASK_FILE_MAX AGG_RECIPE_FILE_MAX // bytes of either file
#define AGG_DAP_ID_TEXT (SHOAL_DAP_TEXT_LEN(SHOAL_DAP_TASK_ID) + 1)

typedef struct agg_dap_task {
    shoal_dap_task task;
    char id_text[AGG_DAP_ID_TEXT]; // the id as in URLs
    char info[SHOAL_NAME_MAX + 1];
    bool has_recipe;      // the task adds up records of a local randomizer
    bool is_exact;        // the task adds up measurements without local noise: label its results
    double delta;         // of discrete Gaussian noise, stated in the task file; else 0
    agg_recipe recipe;    // if has_recipe
    uint32_t expires_day; // last valid day, days since 1970-01-01 UTC; UINT32_MAX: it never expires
} agg_dap_task;

// Reads a recipe or a task file. Release `t` on OK. Errors name the file and the field.
// Returns: SHOAL_ERR_ARGUMENT for a recipe of another aggregation.
agg_err agg_dap_task_load(agg_dap_task *t, agg_error *error, const char *path) SHOAL_MUST_CHECK;
agg_err agg_dap_task_from_bytes(agg_dap_task *t, agg_error *error, const char *name,
                                const char *bytes, size_t len) SHOAL_MUST_CHECK;
void agg_dap_task_release(agg_dap_task *t);

// Prints the task's parameters, one a line, in the columns of `shoal recipe check`.
void agg_dap_task_print(FILE *stream, const agg_dap_task *t);

// The label that must stand beside every figure of a task without any noise.
#define AGG_DAP_EXACT_LABEL "exact sums, no local noise; local epsilon: none"

// Returns: "count", "sum", "sum-vec", "histogram" or "multihot-count-vec".
const char *agg_dap_vdaf_name(const shoal_dap_task *task);

#endif
