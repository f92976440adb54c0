// SPDX-License-Identifier: Apache-2.0
// Property: a file of draws that is accepted has two items at least, each with two draws or more,
// and as many records that the recipe cannot have made as it says; the auditor reads any of them to
// a verdict.
#include <math.h>

#include "audit.h"
#include "fuzz_aggregator.h"

static void check(const agg_draws *draws, uint8_t *scratch)
{
    uint64_t refused = 0;
    PROPERTY(draws->n_items >= 2 && draws->n_items <= AGG_DRAWS_ITEMS_MAX);
    for (uint32_t item = 0; item < draws->n_items; item++) {
        PROPERTY(draws->count[item] >= 2);
        for (uint64_t i = 0; i < draws->count[item]; i++) {
            agg_drawn drawn = agg_draws_get(draws, scratch, item, i);
            PROPERTY(drawn.text.len <= agg_draws_text_max(draws));
            refused += drawn.record == NULL;
        }
    }
    PROPERTY(refused == draws->n_refused && (refused == 0) == (draws->refusal[0] == '\0'));
}

static void judge(const agg_recipe *recipe, const agg_draws *draws)
{
    agg_error error = {0};
    agg_audit audit;
    char what[200];
    PROPERTY(agg_audit_run(&audit, &error, recipe, draws, 0.999, 1) == SHOAL_OK);
    PROPERTY(isfinite(audit.empirical_low) && audit.empirical_low >= 0);
    PROPERTY((audit.n_refused > 0) == (draws->n_refused > 0) &&
             (draws->n_refused == 0 || audit.n_failures > 0));
    agg_event_describe(what, sizeof what, &audit.event);
    for (const char *at = what; *at != '\0'; at++) PROPERTY(*at >= ' ' && *at <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_draws draws = {0};
    agg_error error = {0};
    if (len < 1 || len > 4096) return 0;
    const agg_recipe *recipe = fuzz_agg_recipe(data[0]);
    char *bytes = malloc(len);
    PROPERTY(bytes != NULL);
    memcpy(bytes, data + 1, len - 1);
    if (agg_draws_parse(&draws, &error, recipe, "input", bytes, len - 1) == SHOAL_OK) {
        uint8_t *scratch = malloc(agg_draws_scratch(&draws));
        PROPERTY(scratch != NULL);
        check(&draws, scratch);
        free(scratch);
        judge(recipe, &draws);
    } else {
        PROPERTY(error.text[0] != '\0');
    }
    agg_draws_release(&draws);
    free(bytes);
    return 0;
}
