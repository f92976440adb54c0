// SPDX-License-Identifier: Apache-2.0
// What is doubtful about a joint result, for formats whose rows cannot say it.
#ifndef JOINT_DOUBTS_H
#define JOINT_DOUBTS_H

#include <stdbool.h>

#include "joint_analysis.h"

// Calls `log` with a sentence for each doubt: an estimate that did not converge, categories that
// reports do not tell apart or that are empty, and what the options cost.
//   no_other: values outside the categories were counted among them
//   is_em_wald: the tests are those of the estimate by EM
void agg_joint_doubts(const agg_joint_result *result, bool no_other, bool is_em_wald,
                      void (*log)(void *context, const char *text), void *context);

#endif
