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

#define WHOLE_MAX 32u // values of a list of which two make a table that is not too large

// The map of two variables.
typedef struct pair {
    uint32_t first, second;
    agg_joint_analysis *analysis;
} pair;

struct agg_static_joint {
    uint32_t n_chosen;
    agg_joint_chosen chosen[SHOAL_VARIABLES_MAX];
    bool is_cut; // whether lists were cut to their largest values
    agg_guarantee guarantee;
    uint32_t n_pairs;
    pair pairs[SHOAL_VARIABLES_MAX * (SHOAL_VARIABLES_MAX - 1) / 2];
};

static void put_facts(FILE *out, const agg_static_report *r, const agg_joint_result *result)
{
    char line[AGG_INCOMPLETE_LINE_MAX];
    fputs("<section><h2>", out);
    agg_page_string(out, r->among != NULL  ? r->among
                         : r->home == NULL ? r->recipe->id
                                           : "What hangs together");
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
    agg_page_picks_write(out, r->recipe);
    if (result->shards.missing == 0) return;
    fputs("<p class=\"note warn\">", out);
    agg_page_string(out, agg_incomplete_line(line, result->shards));
    fputs("</p>\n", out);
}

// ---- making ----

// Returns: the values of variable i of which there is a list, 0 where they are not known.
static uint64_t n_listed(const agg_static_report *r, uint32_t i)
{
    if (r->values != NULL && r->values[i] != NULL && r->values[i]->n > 0) return 0; // cut by itself
    if (r->categories != NULL && r->categories[i] != NULL) return 0;
    return agg_recipe_variable_is_closed(r->recipe, i) ? r->recipe->recipe->parts[i].size : 0;
}

// Returns: whether the whole lists of two variables make a table that is too large.
static bool is_too_large(const agg_static_report *r)
{
    uint32_t n = r->recipe->recipe->n_variables;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if (n_listed(r, i) <= AGG_JOINT_WHOLE_MAX && n_listed(r, j) <= AGG_JOINT_WHOLE_MAX &&
                n_listed(r, i) * n_listed(r, j) > AGG_JOINT_TABLE_MAX)
                return true;
    return false;
}

static agg_err choose(agg_static_joint *made, agg_error *error, const agg_static_report *r,
                      const agg_accumulator *sum)
{
    agg_err err = SHOAL_OK;
    made->is_cut = is_too_large(r);
    for (uint32_t i = 0; err == SHOAL_OK && i < r->recipe->recipe->n_variables; i++) {
        const agg_joint_wish wish = {
            .variable = i,
            .file = r->categories != NULL ? r->categories[i] : NULL,
            .values = r->values != NULL ? r->values[i] : NULL,
            .top = made->is_cut && n_listed(r, i) > WHOLE_MAX ? AGG_JOINT_TOP : 0,
            .confidence = r->options.confidence,
            .n_threads = r->options.n_threads};
        err = agg_joint_chosen_make(&made->chosen[i], error, r->recipe, sum, &wish);
        made->n_chosen += err == SHOAL_OK;
    }
    return err;
}

static agg_err check_memory(agg_error *error, const agg_static_report *r,
                            const agg_accumulator *sum, const agg_joint_choice choices[2],
                            uint32_t n_made)
{
    uint64_t bytes = agg_accumulator_memory(sum) + agg_joint_memory(r->recipe, sum, choices, 2) +
                     n_made * (uint64_t)sizeof(agg_joint_analysis);
    if (r->memory == 0 || bytes <= r->memory) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                    "the joint analysis needs %llu MB of memory",
                    (unsigned long long)(bytes / 1000000 + 1));
}

static agg_err make_pair(agg_static_joint *made, agg_error *error, const agg_static_report *r,
                         const agg_accumulator *sum, uint32_t first, uint32_t second)
{
    const agg_joint_choice choices[2] = {made->chosen[first].choice, made->chosen[second].choice};
    const agg_joint_analysis_options options = {.confidence = r->options.confidence,
                                                .n_threads = r->options.n_threads};
    pair *p = &made->pairs[made->n_pairs];
    agg_err err = check_memory(error, r, sum, choices, made->n_pairs);
    if (err == SHOAL_OK && r->goes_on != NULL && !r->goes_on(r->context, error)) err = error->code;
    if (err != SHOAL_OK) return err;
    *p = (pair){first, second, agg_alloc(error, 1, sizeof *p->analysis)};
    if (p->analysis == NULL) return AGG_ERR_MEMORY;
    err = agg_joint_analyse(p->analysis, error, r->recipe, sum, choices, 2, &options);
    if (err != SHOAL_OK) {
        free(p->analysis);
        return err;
    }
    p->analysis->result.guarantee = &made->guarantee;
    made->n_pairs++;
    return SHOAL_OK;
}

static agg_err make(agg_static_joint *made, agg_error *error, const agg_static_report *r,
                    const agg_accumulator *sum)
{
    uint32_t n = r->recipe->recipe->n_variables;
    agg_err err = agg_joint_may_run(error, r->recipe, sum);
    if (err == SHOAL_OK) err = choose(made, error, r, sum);
    if (err == SHOAL_OK)
        err = agg_guarantee_run(&made->guarantee, error, r->recipe->recipe, sum->n, &r->release);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; err == SHOAL_OK && j < n; j++)
            err = make_pair(made, error, r, sum, i, j);
    return err;
}

void agg_static_joint_release(agg_static_joint *made)
{
    if (made == NULL) return;
    for (uint32_t i = 0; i < made->n_pairs; i++) {
        agg_joint_analysis_release(made->pairs[i].analysis);
        free(made->pairs[i].analysis);
    }
    for (uint32_t i = 0; i < made->n_chosen; i++) agg_joint_chosen_release(&made->chosen[i]);
    free(made);
}

agg_err agg_static_joint_make(agg_static_joint **made, agg_error *error,
                              const agg_static_report *report, const agg_accumulator *sum)
{
    *made = agg_alloc(error, 1, sizeof **made);
    if (*made == NULL) return AGG_ERR_MEMORY;
    agg_err err = make(*made, error, report, sum);
    if (err == SHOAL_OK) return err;
    agg_static_joint_release(*made);
    *made = NULL;
    return err;
}

size_t agg_static_joint_size(const agg_static_joint *made)
{
    size_t bytes = sizeof *made;
    for (uint32_t i = 0; i < made->n_chosen; i++)
        bytes += made->chosen[i].dictionary.n * (sizeof(agg_text) + sizeof(uint64_t)) +
                 made->chosen[i].estimate.n_dictionary * sizeof(agg_estimate_row);
    for (uint32_t i = 0; i < made->n_pairs; i++)
        bytes += sizeof(agg_joint_analysis) +
                 made->pairs[i].analysis->result.n_cells * 3 * sizeof(agg_joint_share);
    return bytes;
}

const agg_joint_result *agg_static_joint_pair(const agg_static_joint *made, uint32_t first,
                                              uint32_t second)
{
    for (uint32_t i = 0; i < made->n_pairs; i++)
        if (made->pairs[i].first == first && made->pairs[i].second == second)
            return &made->pairs[i].analysis->result;
    return NULL;
}

// ---- the section ----

static void put_doubt(void *context, const char *text)
{
    FILE *out = context;
    fputs("<p class=\"note warn\">", out);
    agg_page_string(out, text);
    fputs("</p>\n", out);
}

// Prints a link to the figures of a map in each format, on a server.
static void put_downloads(FILE *out, const agg_static_report *r, const agg_joint_result *result)
{
    static const char *const formats[] = {"csv", "json", "arrow"};
    const agg_joint_axis *x = &result->axes[0], *y = &result->axes[1];
    if (r->downloads == NULL) return;
    fputs("<p class=\"note\">All figures of ", out);
    agg_page_text(out, x->name.bytes, x->name.len);
    fputs(" by ", out);
    agg_page_text(out, y->name.bytes, y->name.len);
    fputs(":", out);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        fputs(" <a download href=\"", out);
        agg_page_string(out, r->downloads);
        fputs("&amp;variables=", out);
        agg_page_text(out, x->name.bytes, x->name.len);
        fputc(',', out);
        agg_page_text(out, y->name.bytes, y->name.len);
        fprintf(out, "&amp;format=%s\">%s</a>", formats[i], formats[i]);
    }
    fputs("</p>\n", out);
}

void agg_static_joint_write(FILE *out, const agg_static_report *report,
                            const agg_static_joint *made)
{
    const agg_static_report *r = report;
    put_facts(out, r, &made->pairs[0].analysis->result);
    if (made->is_cut)
        fprintf(out,
                "<p class=\"note\">Lists of more than %u values are shown by their %u largest and "
                "Other, so that no table has more than %u cells.</p>\n",
                WHOLE_MAX, AGG_JOINT_TOP, AGG_JOINT_TABLE_MAX);
    for (uint32_t i = 0; i < made->n_pairs; i++) {
        const agg_joint_result *result = &made->pairs[i].analysis->result;
        agg_joint_picture_write(out, result, r->among);
        agg_joint_doubts(result, false, false, put_doubt, out);
        put_downloads(out, r, result);
    }
    if (made->pairs[0].analysis->result.alarms.is_measured)
        agg_page_tested_write(out, &made->pairs[0].analysis->result.alarms);
    agg_page_guarantee_write(out, &made->guarantee);
    fputs("</section>\n", out);
}
