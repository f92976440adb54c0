// SPDX-License-Identifier: Apache-2.0
// Joint recipes in a static report; see static_joint.h.
#include "static_joint.h"

#include <stdlib.h>

#include "agg_size.h"
#include "incomplete_print.h"
#include "joint_choice.h"
#include "joint_doubts.h"
#include "joint_picture.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "result_page.h"

static void put_facts(FILE *out, const agg_static_report *r, const agg_joint_result *result)
{
    char line[AGG_INCOMPLETE_LINE_MAX];
    fputs("<section><h2>", out);
    agg_page_string(out, r->among != NULL ? r->among : r->recipe->id);
    fputs("</h2>\n", out);
    agg_page_alarms_write(out, &result->alarms);
    fputs("<ul class=\"facts\"><li><b>", out);
    agg_page_count(out, (double)result->n);
    fprintf(out, "</b> reports</li><li><b>\xce\xb5 = %g</b> per report</li><li><b>",
            r->recipe->recipe->cost_micro / 1e6);
    fprintf(out, "%g\xe2\x80\xaf%%</b> intervals</li><li>", 100 * result->confidence);
    if (r->n == 1)
        agg_page_string(out, r->names[0]);
    else
        fprintf(out, "%zu periods together", r->n);
    fputs("</li></ul>\n", out);
    if (result->shards.missing == 0) return;
    fputs("<p class=\"note warn\">", out);
    agg_page_string(out, agg_incomplete_line(line, result->shards));
    fputs("</p>\n", out);
}

static agg_err check_memory(agg_error *error, const agg_static_report *r,
                            const agg_accumulator *sum, const agg_joint_choice choices[2])
{
    uint64_t bytes = agg_accumulator_memory(sum) + agg_joint_memory(r->recipe, sum, choices, 2);
    if (r->memory == 0 || bytes <= r->memory) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                    "the joint analysis needs %llu MB of memory",
                    (unsigned long long)(bytes / 1000000 + 1));
}

static void put_doubt(void *context, const char *text)
{
    FILE *out = context;
    fputs("<p class=\"note warn\">", out);
    agg_page_string(out, text);
    fputs("</p>\n", out);
}

// Writes the map of two variables; before the first one, the facts.
static agg_err write_pair(FILE *out, agg_error *error, const agg_static_report *r,
                          const agg_accumulator *sum, const agg_joint_choice choices[2],
                          bool is_first)
{
    const agg_joint_analysis_options options = {.confidence = r->options.confidence,
                                                .n_threads = r->options.n_threads};
    agg_joint_analysis *analysis = agg_alloc(error, 1, sizeof *analysis);
    if (analysis == NULL) return AGG_ERR_MEMORY;
    agg_err err = check_memory(error, r, sum, choices);
    if (err == SHOAL_OK)
        err = agg_joint_analyse(analysis, error, r->recipe, sum, choices, 2, &options);
    if (err == SHOAL_OK) {
        if (is_first) put_facts(out, r, &analysis->result);
        agg_joint_picture_write(out, &analysis->result, r->among);
        agg_joint_doubts(&analysis->result, false, false, put_doubt, out);
        agg_joint_analysis_release(analysis);
    }
    free(analysis);
    return err;
}

static agg_err write_pairs(FILE *out, agg_error *error, const agg_static_report *r,
                           const agg_accumulator *sum, const agg_joint_chosen *chosen)
{
    agg_err err = SHOAL_OK;
    uint32_t n = r->recipe->recipe->n_variables;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; err == SHOAL_OK && j < n; j++) {
            const agg_joint_choice choices[2] = {chosen[i].choice, chosen[j].choice};
            err = write_pair(out, error, r, sum, choices, i == 0 && j == 1);
        }
    return err;
}

agg_err agg_static_joint_write(FILE *out, agg_error *error, const agg_static_report *report,
                               const agg_accumulator *sum)
{
    const agg_static_report *r = report;
    agg_joint_chosen chosen[SHOAL_VARIABLES_MAX];
    agg_guarantee guarantee;
    uint32_t made = 0;
    agg_err err = agg_joint_may_run(error, r->recipe, sum);
    while (err == SHOAL_OK && made < r->recipe->recipe->n_variables) {
        const agg_joint_wish wish = {.variable = made,
                                     .file = r->categories[made],
                                     .confidence = r->options.confidence,
                                     .n_threads = r->options.n_threads};
        err = agg_joint_chosen_make(&chosen[made], error, r->recipe, sum, &wish);
        made += err == SHOAL_OK;
    }
    if (err == SHOAL_OK)
        err = agg_guarantee_run(&guarantee, error, r->recipe->recipe, sum->n, &r->release);
    if (err == SHOAL_OK) err = write_pairs(out, error, r, sum, chosen);
    if (err == SHOAL_OK) {
        agg_page_guarantee_write(out, &guarantee);
        fputs("</section>\n", out);
    }
    for (uint32_t i = 0; i < made; i++) agg_joint_chosen_release(&chosen[i]);
    return err;
}
