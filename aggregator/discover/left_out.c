// SPDX-License-Identifier: Apache-2.0
// The share of reports that name no word of the alphabet; see left_out.h.
#include "left_out.h"

#include <math.h>
#include <stdio.h>

#include "estimator.h"
#include "normal_law.h"
#include "recipe.h"
#include "small_counts.h"

static uint32_t step_of(const shoal_encoded *field)
{
    return field->step > 0 ? field->step : 1;
}

void agg_left_out_estimate(agg_left_out *out, const agg_recipe *recipe, const agg_accumulator *acc,
                           double all, double confidence)
{
    const shoal_recipe *r = recipe->recipe;
    const shoal_encoded *field = &r->encoding.fields[0];
    const shoal_part *part = &r->parts[0];
    agg_debias debias = {0};
    *out = (agg_left_out){.confidence = confidence, .recipe = r};
    if (field->depth > 0 || r->pass > 1 || acc->n == 0) return;
    const double n = (double)acc->n, votes = acc->parts[0].cells.ones[part->m - 1];
    agg_estimator_of(part->mechanism)->debias(&debias, part, &acc->parts[0], acc->n);
    const double count = debias.scale * votes + debias.offset, inside = fmin(fmax(count, 0), n);
    const double noise = debias.base + debias.slope * inside,
                 sampling = inside * (1 - inside / n) * (1 - n / fmax(all, n));
    const double q = -debias.offset / debias.scale / n, p = q + 1 / debias.scale;
    const agg_support_law law = {n, p, q, sqrt((noise + sampling) / noise)};
    double error = sqrt(noise + sampling),
           half = -agg_normal_quantile((1 - confidence) / 2) * error, low = count - half,
           high = count + half;
    if (agg_support_variance(&law, inside) < AGG_SMALL_VARIANCE)
        agg_exact_interval(&low, &high, &law, votes, 1 - confidence);
    out->characters = step_of(field);
    out->share = count / n;
    out->stderr_ = error / n;
    out->low = low / n;
    out->high = high / n;
}

void agg_left_out_say(char text[AGG_LEFT_OUT_TEXT], const agg_left_out *left_out)
{
    char first[32] = "its first character";
    const double percent[] = {100 * fmax(left_out->share, 0), 100 * fmax(left_out->low, 0),
                              100 * fmin(fmax(left_out->high, 0), 1)};
    if (left_out->characters > 1)
        snprintf(first, sizeof first, "its first %u characters", left_out->characters);
    snprintf(
        text, AGG_LEFT_OUT_TEXT,
        "%.3g %% of the reports (%.3g to %.3g %%, %g %% interval) name no word: the device had "
        "%s to report, or one with a character outside the alphabet among %s",
        percent[0], percent[1], percent[2], 100 * left_out->confidence,
        left_out->recipe->contributions > 1 ? "too few"
        : left_out->recipe->known.count > 0 ? "none but known ones"
                                            : "none",
        first);
}
