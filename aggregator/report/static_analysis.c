// SPDX-License-Identifier: Apache-2.0
// The rounds of an analysis; see static_analysis.h.
#include "static_analysis.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "discover.h"
#include "estimate.h"
#include "page_text.h"
#include "recipe.h"
#include "static_discovery.h"
#include "static_steps.h"
#include "static_story.h"
#include "trend_style.h"

#define FDR_DEFAULT 0.05 // of discover.h
#define TOP_DEFAULT 20u  // words

struct agg_analysis_made {
    size_t n_told;          // rounds of a trie that are told
    bool has_words;         // whether they begin with the first round
    agg_static_found found; // if so
    agg_static_story story;
    agg_error trouble; // why the words of a trie's rounds are not told together; code OK: they are
    agg_step *steps;   // of rounds of fields; n_steps
    size_t n_steps;
};

// ---- which rounds follow each other ----

static bool is_same_name(const shoal_name *a, const shoal_name *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

bool agg_analysis_has_rounds(const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    return r->encoding.n_fields > 0 && r->epochs == 0 && r->n_part == 0;
}

bool agg_analysis_finds(const agg_recipe *recipe)
{
    return agg_analysis_has_rounds(recipe) && agg_discover_takes_rounds(recipe);
}

static uint32_t step_of(const shoal_encoded *field)
{
    return field->is_word && field->step > 0 ? field->step : 1;
}

// Returns: whether a field goes on where another one ends: behind longer prefixes, or with other
// boundaries between the same ends.
static bool goes_on(const shoal_encoded *after, const shoal_encoded *before)
{
    if (after->scheme != before->scheme) return false;
    if (after->prefixes.count > 0 && after->depth == before->depth + step_of(before)) return true;
    const uint32_t a = after->n_boundaries, b = before->n_boundaries;
    return a > 1 && b > 1 && after->boundaries[0] == before->boundaries[0] &&
           after->boundaries[a - 1] == before->boundaries[b - 1] &&
           (a != b || memcmp(after->boundaries, before->boundaries, a * sizeof(int64_t)) != 0);
}

// Returns: whether a field of the first round that has a number goes on where the recipe before it,
// which has none, ends.
static bool follows_unnumbered(const shoal_recipe *after, const shoal_recipe *before)
{
    bool is_further = false;
    for (uint32_t i = 0; i < after->encoding.n_fields; i++) {
        const shoal_encoded *a = &after->encoding.fields[i], *b = &before->encoding.fields[i];
        if (!is_same_name(&a->field, &b->field)) return false;
        is_further = is_further || goes_on(a, b);
    }
    return is_further;
}

bool agg_analysis_follows(const agg_recipe *after, const agg_recipe *before)
{
    const shoal_recipe *a = after->recipe, *b = before->recipe;
    bool is_same = agg_analysis_has_rounds(after) && agg_analysis_has_rounds(before) &&
                   is_same_name(&a->analysis, &b->analysis) &&
                   is_same_name(&a->stream, &b->stream) &&
                   a->encoding.n_fields == b->encoding.n_fields &&
                   agg_discover_takes_rounds(after) == agg_discover_takes_rounds(before);
    if (!is_same || a->round_index != b->round_index + 1) return false;
    if (b->round_index > 0) return memcmp(a->round_previous, b->query_hash, 32) == 0;
    return follows_unnumbered(a, b);
}

// ---- rounds of a trie ----

// Returns: what the parts of static reports read of an analysis.
static agg_static_report report_of(const agg_analysis *a, size_t n_told)
{
    return (agg_static_report){
        .recipe = a->rounds[0].recipe,
        .finds = true,
        .next = n_told < a->n ? a->rounds[n_told].recipe : NULL,
        .n_rounds = n_told,
        .options = {.n_threads = a->n_threads, .top = a->top > 0 ? a->top : TOP_DEFAULT},
        .release = a->release,
        .order = a->order};
}

static bool is_first(const agg_recipe *recipe)
{
    return recipe->recipe->encoding.fields[0].depth == 0 && recipe->recipe->pass == 1;
}

// Finds the words of all rounds together. Recipes that are signed by hand may follow each other by
// their hashes and not by what they ask: then each round is told alone.
static agg_err find_words(agg_analysis_made *made, agg_error *error, const agg_static_report *r,
                          const agg_discover_round *rounds)
{
    if (!is_first(rounds[0].recipe)) return SHOAL_OK;
    agg_err err = agg_static_found_make(&made->found, error, r, rounds, made->n_told);
    made->has_words = err == SHOAL_OK;
    if (err != AGG_ERR_USAGE) return err;
    made->trouble = *error;
    return SHOAL_OK;
}

// Loads a round's reports.
//   is_told: whether there are enough to be told; else there is nothing to release
static agg_err load_round(agg_accumulator *acc, bool *is_told, agg_error *error,
                          const agg_analysis *a, size_t i)
{
    *is_told = false;
    agg_err err = a->load(a->context, acc, error, i);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_check(error, a->rounds[i].recipe, acc);
    *is_told = err == SHOAL_OK;
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    return err == AGG_ERR_COHORT ? SHOAL_OK : err;
}

static agg_err tell_trie(agg_analysis_made *made, agg_error *error, const agg_analysis *a,
                         agg_discover_round *rounds, agg_accumulator *sums)
{
    agg_err err = SHOAL_OK;
    size_t n = 0;
    for (bool is_told = true; n < made->n_told; n++) {
        rounds[n] = (agg_discover_round){a->rounds[n].recipe, &sums[n]};
        err = load_round(&sums[n], &is_told, error, a, n);
        if (!is_told) break;
    }
    made->n_told = n;
    if (n == 0) return err;
    const agg_static_report report = report_of(a, made->n_told);
    if (err == SHOAL_OK) err = find_words(made, error, &report, rounds);
    const agg_discovery alone = {.fdr = FDR_DEFAULT};
    if (err == SHOAL_OK)
        err = agg_static_story_make(&made->story, error, &report, rounds, n,
                                    made->has_words ? &made->found.discovery : &alone);
    while (n > 0) agg_accumulator_release(&sums[--n]);
    return err;
}

static agg_err make_trie(agg_analysis_made *made, agg_error *error, const agg_analysis *a)
{
    while (made->n_told < a->n && a->rounds[made->n_told].has_reports) made->n_told++;
    if (made->n_told == 0) return SHOAL_OK;
    agg_discover_round *rounds = agg_alloc(error, made->n_told, sizeof *rounds);
    agg_accumulator *sums = agg_alloc(error, made->n_told, sizeof *sums);
    agg_err err =
        rounds == NULL || sums == NULL ? AGG_ERR_MEMORY : tell_trie(made, error, a, rounds, sums);
    free(sums);
    free(rounds);
    return err;
}

// ---- rounds of fields ----

static agg_err make_steps(agg_analysis_made *made, agg_error *error, const agg_analysis *a)
{
    agg_err err = SHOAL_OK;
    made->steps = agg_alloc(error, a->n, sizeof *made->steps);
    if (made->steps == NULL) return AGG_ERR_MEMORY;
    memset(made->steps, 0, a->n * sizeof *made->steps);
    made->n_steps = a->n;
    for (size_t i = 0; err == SHOAL_OK && i < a->n; i++) {
        agg_step *step = &made->steps[i];
        agg_accumulator acc;
        agg_step_begin(step, a->rounds[i].recipe, i > 0 ? a->rounds[i - 1].recipe : NULL,
                       i + 1 < a->n ? a->rounds[i + 1].recipe : NULL);
        if (!a->rounds[i].has_reports) continue;
        bool is_told;
        err = load_round(&acc, &is_told, error, a, i);
        if (!is_told) continue;
        err = agg_step_count(step, error, &acc, a->n_threads);
        agg_accumulator_release(&acc);
    }
    return err;
}

// ---- both ----

agg_err agg_analysis_make(agg_analysis_made **made, agg_error *error, const agg_analysis *a)
{
    *made = agg_alloc(error, 1, sizeof **made);
    if (*made == NULL) return AGG_ERR_MEMORY;
    memset(*made, 0, sizeof **made);
    agg_err err = agg_discover_takes_rounds(a->rounds[0].recipe) ? make_trie(*made, error, a)
                                                                 : make_steps(*made, error, a);
    if (err == SHOAL_OK) return err;
    agg_analysis_release(*made);
    *made = NULL;
    return err;
}

void agg_analysis_page_open(FILE *out, const agg_page *page)
{
    agg_page styled = *page;
    styled.more_style = trend_style;
    agg_page_open(out, &styled);
}

static void put_trouble(FILE *out, const agg_error *trouble)
{
    fputs("<section><h2>Words that nobody listed</h2><p class=\"note warn\">The rounds are not "
          "told together: ",
          out);
    agg_page_string(out, trouble->text);
    fputs(". Each has its own story below.</p></section>\n", out);
}

void agg_analysis_write(FILE *out, const agg_analysis *a, const agg_analysis_made *made)
{
    char period[48];
    const agg_static_report report = report_of(a, made->n_told);
    snprintf(period, sizeof period, "%zu round%s", made->n_told, made->n_told == 1 ? "" : "s");
    if (made->has_words) agg_static_found_write(out, &report, &made->found, period);
    if (made->trouble.code != SHOAL_OK) put_trouble(out, &made->trouble);
    if (made->n_told > 0)
        agg_static_story_write(out, &report, &made->story);
    else if (made->n_steps == 0)
        agg_story_waiting_write(out, a->rounds[0].recipe);
    if (made->n_steps > 0) agg_steps_write(out, made->steps, made->n_steps, a->top);
}

bool agg_analysis_sorts_by(const char *column)
{
    return agg_static_found_sorts_by(column);
}

size_t agg_analysis_size(const agg_analysis_made *made)
{
    size_t bytes =
        sizeof *made + agg_static_found_size(&made->found) + agg_static_story_size(&made->story);
    for (size_t i = 0; i < made->n_steps; i++) bytes += agg_step_size(&made->steps[i]);
    return bytes;
}

void agg_analysis_release(agg_analysis_made *made)
{
    if (made == NULL) return;
    if (made->has_words) agg_static_found_release(&made->found);
    agg_static_story_release(&made->story);
    for (size_t i = 0; i < made->n_steps; i++) agg_step_release(&made->steps[i]);
    free(made->steps);
    free(made);
}

uint64_t agg_analysis_memory(const agg_recipe *recipe, uint64_t accumulator, unsigned n_threads)
{
    if (!agg_analysis_has_rounds(recipe)) return 0;
    return agg_discover_takes_rounds(recipe) ? agg_discover_memory(recipe, accumulator, n_threads)
                                             : agg_step_memory(recipe, n_threads);
}
