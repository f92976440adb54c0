// SPDX-License-Identifier: Apache-2.0
// The table of estimators, and the debiasing of counted supports; see estimator.h.
#include "estimator.h"

#include <math.h>
#include <stdlib.h>

#include "agg_size.h"
#include "support_score.h"

static const agg_estimator *const table[] = {
#define SHOAL_MECHANISM(id, stem, name) &agg_##stem##_estimator,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
};

const agg_estimator *agg_estimator_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}

// Returns: the variance of a count whose true value is f.
static double variance_at(const agg_debias *d, double f)
{
    double variance = d->base + d->slope * f + d->curve * f * f;
    return variance > 0 ? variance : 0;
}

static void count_supports(agg_count *counts, const agg_debias *d, const int64_t *support,
                           size_t n_items, double n)
{
    double null_error = sqrt(variance_at(d, 0));
    for (size_t i = 0; i < n_items; i++) {
        double count = d->scale * (double)support[i] + d->offset;
        double clamped = count < 0 ? 0 : count > n ? n : count;
        double score = null_error > 0 ? count / null_error : count > 0 ? HUGE_VAL : 0;
        if (!d->is_signed) // -offset / scale is the expected support of an item that nobody holds
            score = agg_support_score((double)support[i], n, -d->offset / d->scale,
                                      null_error / d->scale);
        counts[i] = (agg_count){.count = count,
                                .stderr_ = sqrt(variance_at(d, clamped)),
                                .null_error = null_error,
                                .score = score,
                                .support = (double)support[i]};
    }
}

// Sets the law of supports whose expected number in an item that nobody holds is -offset / scale.
static void set_law(agg_support_law *law, const agg_debias *d, double n)
{
    double q = -d->offset / d->scale / n, own = n * q * (1 - q) * d->scale * d->scale;
    if (d->is_signed || !(n >= 1 && q > 0 && q + 1 / d->scale <= 1)) return;
    *law = (agg_support_law){n, q + 1 / d->scale, q, sqrt(fmax(variance_at(d, 0) / own, 1))};
    // What is above 1 by the rounding of a sum would make no difference but unround ends.
    if (law->stretch < 1 + 1e-9) law->stretch = 1;
}

agg_err agg_estimator_counts_with_law(agg_count *counts, agg_support_law *law, agg_error *error,
                                      const shoal_part *part, const agg_sketch *sketch, uint64_t n,
                                      const uint64_t *items, size_t n_items, unsigned n_threads)
{
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    agg_debias debias = {0};
    *law = (agg_support_law){0};
    if (estimator->counts != NULL) {
        if (estimator->support_law == NULL || !estimator->support_law(law, part, n))
            *law = (agg_support_law){0};
        return estimator->counts(counts, error, part, sketch, n, items, n_items, n_threads);
    }
    int64_t *support = agg_alloc(error, n_items, sizeof *support);
    if (support == NULL) return AGG_ERR_MEMORY;
    agg_err err = estimator->support(support, error, part, sketch, items, n_items, n_threads);
    if (err == SHOAL_OK) {
        estimator->debias(&debias, part, sketch, n);
        count_supports(counts, &debias, support, n_items, (double)n);
        set_law(law, &debias, (double)n);
    }
    free(support);
    return err;
}

agg_err agg_estimator_counts(agg_count *counts, agg_error *error, const shoal_part *part,
                             const agg_sketch *sketch, uint64_t n, const uint64_t *items,
                             size_t n_items, unsigned n_threads)
{
    agg_support_law law;
    return agg_estimator_counts_with_law(counts, &law, error, part, sketch, n, items, n_items,
                                         n_threads);
}

uint64_t agg_estimator_memory(const shoal_part *part, size_t n_items, unsigned n_threads)
{
    const agg_estimator *estimator = agg_estimator_of(part->mechanism);
    uint64_t supports = estimator->counts != NULL ? 0 : n_items * sizeof(int64_t);
    return supports + (estimator->memory == NULL ? 0 : estimator->memory(part, n_items, n_threads));
}
