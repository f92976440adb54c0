// SPDX-License-Identifier: Apache-2.0
// Measurements of a task from a file. Each line is one measurement, with commas between its
// entries. Errors name the line, never its content.
#ifndef DAP_MEASUREMENTS_H
#define DAP_MEASUREMENTS_H

#include "agg_file.h"
#include "dap_upload.h"

// Checks every line before anything is sent.
agg_err agg_dap_measurements_check(const agg_bytes *bytes, agg_error *error,
                                   const agg_dap_task *task) SHOAL_MUST_CHECK;

// Uploads every line.
agg_err agg_dap_measurements_upload(const agg_bytes *bytes, agg_dap_uploader *uploader,
                                    agg_error *error, const agg_dap_task *task) SHOAL_MUST_CHECK;

#endif
