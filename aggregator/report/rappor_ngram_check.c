// SPDX-License-Identifier: Apache-2.0
// Recipes of rappor-ngram in print.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "call_streams.h"
#include "compound_check.h"
#include "ngram_plan.h"
#include "part_print.h"
#include "print_text.h"
#include "rappor_ngram.h"
#include "recipe.h"

#define REPORTS_MANY 1e6 // beside the fewest reports that may give a result

// The number of devices does not stand in a recipe: the fewest reports that it allows are one end,
// a large collection is the other.
static void print_found(const shoal_recipe *r)
{
    char few[AGG_NGRAM_PLAN_TEXT], many[AGG_NGRAM_PLAN_TEXT];
    double least = fmax(1, (double)r->cohort_minimum);
    if (r->alphabet_len == 0) return;
    agg_ngram_plan_say(few, r, least);
    agg_ngram_plan_say(many, r, REPORTS_MANY);
    agg_print("found               with %s reports %s", agg_whole((uint64_t)least).text, few);
    if (least < REPORTS_MANY)
        agg_print("; with %s %s", agg_whole((uint64_t)REPORTS_MANY).text, many);
    agg_print("\n");
}

static void print(const shoal_recipe *r)
{
    char label[24];
    uint32_t positions = shoal_ngram_positions(r);
    agg_print(
        "strings             cut to %u bytes; candidates are made of %u bytes of the alphabet\n",
        r->length, r->alphabet_len);
    agg_print("positions           %u of %u bytes; a device draws %u and sends them in the clear, "
              "with its cohort\n",
              positions, r->n_gram, r->grams);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        bool is_gram = i + 1 < r->n_parts;
        snprintf(label, sizeof label, "part %u", i + 1);
        agg_part_print(&r->parts[i], label, is_gram ? "n-gram" : "whole string",
                       is_gram ? r->cohorts : 0);
    }
    print_found(r);
}

// Positions are drawn afresh for each report: sooner or later all of them are answered, and the
// whole string.
static uint32_t answers(const shoal_recipe *recipe)
{
    return shoal_ngram_positions(recipe) + 1;
}

const agg_compound_check agg_rappor_ngram_check = {
    .id = shoal_rappor_ngram_id,
    .print = print,
    .answers = answers,
};
