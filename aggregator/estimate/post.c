// SPDX-License-Identifier: Apache-2.0
// The rules of post-processing; see post.h for formulas and sources.
#include "post.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

static void clip(double *counts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (counts[i] < 0) counts[i] = 0;
}

static void base_cut(double *counts, const bool *is_detected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_detected[i]) counts[i] = 0;
}

static void shift_to_total(double *counts, const double *stderrs, size_t n, double total)
{
    double missing = total, variance = 0;
    for (size_t i = 0; i < n; i++) {
        missing -= counts[i];
        variance += stderrs[i] * stderrs[i];
    }
    // Without noise all rows share the error equally.
    for (size_t i = 0; i < n; i++)
        counts[i] += missing * (variance > 0 ? stderrs[i] * stderrs[i] / variance : 1 / (double)n);
}

static int compare_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Returns: the t with sum max(0, x - t) = total. The counts above t are the largest ones. Going
// down the sorted counts, t is the shift of all counts so far, up to the first count that is not
// above it.
//   sorted: n counts, falling
static double simplex_shift(const double *sorted, size_t n, double total)
{
    double sum = 0, shift = 0;
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i];
        double next = (sum - total) / (double)(i + 1);
        if (i > 0 && sorted[i] <= next) break;
        shift = next;
    }
    return shift;
}

static agg_err norm_sub(double *counts, agg_error *error, size_t n, double total)
{
    double *sorted = agg_alloc(error, n, sizeof *sorted);
    if (sorted == NULL) return AGG_ERR_MEMORY;
    if (n > 0) memcpy(sorted, counts, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_falling);
    double shift = simplex_shift(sorted, n, total);
    for (size_t i = 0; i < n; i++) counts[i] = counts[i] > shift ? counts[i] - shift : 0;
    free(sorted);
    return SHOAL_OK;
}

agg_err agg_post_apply(double *counts, agg_error *error, const agg_post *post,
                       const double *stderrs, const bool *is_detected, size_t n)
{
    switch (post->rule) {
    case AGG_POST_NONE: break;
    case AGG_POST_CLIP: clip(counts, n); break;
    case AGG_POST_NORM_SUB: return norm_sub(counts, error, n, post->total);
    case AGG_POST_BASE_CUT: base_cut(counts, is_detected, n); break;
    case AGG_POST_TOTAL: shift_to_total(counts, stderrs, n, post->total); break;
    }
    return SHOAL_OK;
}

const char *agg_post_name(agg_post_rule rule)
{
    switch (rule) {
    case AGG_POST_CLIP: return "clip";
    case AGG_POST_NORM_SUB: return "norm-sub";
    case AGG_POST_BASE_CUT: return "base-cut";
    case AGG_POST_TOTAL: return "total";
    case AGG_POST_NONE: break;
    }
    return "none";
}

#define RAW_ERRORS "stderr and interval are those of the raw count"

void agg_post_note(char note[AGG_POST_NOTE_MAX], const agg_post *post)
{
    switch (post->rule) {
    case AGG_POST_NONE:
        snprintf(note, AGG_POST_NOTE_MAX, "counts are the raw estimates: unbiased");
        break;
    case AGG_POST_CLIP:
        snprintf(note, AGG_POST_NOTE_MAX,
                 "counts below 0 are set to 0: counts near 0 are too high, by up to 0.4 standard "
                 "errors, and so are sums; " RAW_ERRORS);
        break;
    case AGG_POST_NORM_SUB:
        snprintf(note, AGG_POST_NOTE_MAX,
                 "the closest counts, none below 0, that add up to %.0f: rare values are too high, "
                 "frequent ones too low; right only if the dictionary holds every value that was "
                 "reported; " RAW_ERRORS,
                 post->total);
        break;
    case AGG_POST_BASE_CUT:
        snprintf(note, AGG_POST_NOTE_MAX,
                 "counts not distinguishable from zero are set to 0: rare values are too "
                 "low; " RAW_ERRORS);
        break;
    case AGG_POST_TOTAL:
        snprintf(note, AGG_POST_NOTE_MAX,
                 "counts are shifted, the noisiest most, to add up to %.0f: unbiased if that is "
                 "how many reports hold the dictionary's values; " RAW_ERRORS,
                 post->total);
        break;
    }
}
