// SPDX-License-Identifier: Apache-2.0
// A verdict on an epsilon as a sentence for people (core/budget/verdict.h).
#ifndef VERDICT_TEXT_H
#define VERDICT_TEXT_H

#include <stdbool.h>

#include "verdict.h"

#define AGG_VERDICT_TEXT_MAX 160 // bytes with a NUL

// Writes a verdict with its odds, such as "limited: a 50:50 guess comes true in at most 98.3 of 100
// cases (odds x 54.6)". The client writes the same sentence (wasm/client/verdict.js).
// Returns: out.
const char *agg_verdict_text(char out[AGG_VERDICT_TEXT_MAX], const shoal_verdict *verdict);

// Returns: whether a verdict is worth a warning: weak, or worse.
static inline bool agg_verdict_is_weak(const shoal_verdict *verdict)
{
    return verdict->code >= SHOAL_VERDICT_WEAK;
}

#endif
