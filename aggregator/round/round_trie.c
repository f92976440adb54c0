// SPDX-License-Identifier: Apache-2.0
// The next round of a trie; see round_work.h.
#include "estimate.h"
#include "left_out.h"
#include "recipe.h"
#include "round_work.h"
#include "trie_guarantee.h"

static agg_err check_trie_options(agg_error *error, const round_options *o)
{
    if (o->field == NULL && o->tokens == NULL && o->mechanism == NULL && o->refine == 0)
        return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "%s: --field, --tokens, --mechanism and --refine do not apply to a trie",
                    o->recipe);
}

static agg_err read_layer(round_work *w, agg_error *error)
{
    const round_options *o = w->options;
    double release = (double)w->recipe.recipe->release_threshold;
    size_t most = w->recipe.recipe->max_prefixes;
    if (o->max_prefixes > 0 && o->max_prefixes < most) most = (size_t)o->max_prefixes;
    const agg_trie_options options = {.fdr = o->fdr,
                                      .start_fdr =
                                          agg_trie_start_rate(o->fdr, w->recipe.recipe->depth),
                                      .threshold = o->threshold > release ? o->threshold : release,
                                      .max_prefixes = most,
                                      .n_threads = o->n_threads};
    agg_err err = agg_estimate_check(error, &w->recipe, &w->acc);
    if (err == SHOAL_OK)
        return agg_trie_layer_read(&w->layer, error, &w->recipe, &w->acc, &options);
    agg_error_prefix(error, "%s", o->accumulator);
    return err;
}

// Says after the first round how much its alphabet leaves out: another alphabet needs an analysis
// of its own.
static void say_left_out(const round_work *w)
{
    char text[AGG_LEFT_OUT_TEXT];
    agg_left_out left_out;
    agg_left_out_estimate(&left_out, &w->recipe, &w->acc, (double)w->acc.n, 0.95);
    if (left_out.characters == 0) return;
    agg_left_out_say(text, &left_out);
    round_say("left out: %s", text);
}

static agg_err say_layer(const round_work *w, agg_error *error)
{
    const agg_trie_layer *layer = &w->layer;
    agg_trie_guarantee g;
    round_say("%zu of %zu starts and %zu of %zu words stand out from the noise of %llu reports and "
              "are kept; false-discovery rate %g of starts, %g of words",
              layer->n_kept[0], layer->n_asked[0], layer->n_kept[1], layer->n_asked[1],
              (unsigned long long)layer->n,
              agg_trie_start_rate(w->options->fdr, w->recipe.recipe->depth),
              AGG_TRIE_WORD_FDR * w->options->fdr);
    if (layer->n_withheld > 0)
        round_say("%zu more are not kept: they are below the release threshold or --threshold",
                  layer->n_withheld);
    if (layer->n_cut > 0)
        round_say("%zu more, the weakest, are not kept: they exceed max_prefixes", layer->n_cut);
    const agg_release files = {0}; // any part of the operator's files can be asked for
    agg_err err = agg_trie_guarantee_run(&g, error, w->recipe.recipe, layer, &files);
    for (int i = 0; err == SHOAL_OK && i < g.n_lines; i++) round_say("%s", g.lines[i]);
    return err;
}

static void say_end(const agg_next_trie *next)
{
    static const char *const why[] = {
        "", "this round asked every device that was left",
        "no start is left, and this was the last pass",
        "no start is left, and another pass would have no newly known word"};
    round_say("complete: %s. There is no next round to write. For the words, run shoal discover "
              "--recipe R1 ACC1 --recipe R2 ACC2 ... with every round in order",
              why[next->end]);
}

#define OPEN_MAX 5u // open starts that are named

// Says how long a string could be, and which starts go on without being asked.
static void say_open(const round_work *w)
{
    const agg_trie_layer *layer = &w->layer;
    const shoal_encoded *field = &w->recipe.recipe->encoding.fields[0];
    uint32_t n_named = 0, depth = field->depth + (field->step > 0 ? field->step : 1);
    round_say("strings of up to %u characters could be found; %zu starts of %u characters are left "
              "open",
              depth - 1, layer->n_kept[0], depth);
    for (size_t i = 0; i < layer->n_cells && n_named < OPEN_MAX; i++) {
        char text[AGG_TRIE_TEXT_MAX];
        if (layer->cells[i].is_word) continue;
        size_t len = agg_trie_text(text, NULL, &w->recipe, layer->cells[i].bucket);
        round_say("left open: %.*s..., %.0f reports of this round, standard error %.0f", (int)len,
                  text, layer->cells[i].count, layer->cells[i].stderr_);
        n_named++;
    }
}

static void say_trie(const round_work *w, const agg_next_trie *next)
{
    if (next->n_dropped > 0)
        round_say("%zu more starts, the weakest, do not fit into a record", next->n_dropped);
    if (next->pass != w->recipe.recipe->pass)
        round_say("pass %u is over; pass %u begins anew and leaves out %zu known words",
                  w->recipe.recipe->pass, next->pass, next->n_known);
    else if (next->n_new > 0)
        round_say("%zu words join the known ones, because another pass follows", next->n_new);
    round_say("next: %zu starts of %u characters, step %u; %.4g of the devices that are left, "
              "about %.0f; rounds left in this pass: %u",
              next->n_starts, next->depth, next->step, next->sample, next->devices,
              next->plan.n_rounds > 0 ? next->plan.n_rounds : 1);
    if (next->plan.n_rounds > 0)
        round_say(
            "these rounds reach strings of up to %u characters, of %u that the recipe's depth "
            "allows, and leave about %.0f starts open",
            agg_trie_plan_reach(&next->plan), w->recipe.recipe->depth - 1, next->plan.left);
}

agg_err round_trie(round_work *w, agg_error *error, agg_next_recipe *next)
{
    const round_options *o = w->options;
    const agg_next_trie_wish wish = {(uint32_t)o->step, o->sample, 0};
    agg_err err = check_trie_options(error, o);
    if (err == SHOAL_OK) err = read_layer(w, error);
    if (err == SHOAL_OK) err = say_layer(w, error);
    if (err == SHOAL_OK) say_left_out(w);
    if (err == SHOAL_OK) err = agg_next_trie_find(&w->trie, error, &w->recipe, &w->layer, &wish);
    if (err != SHOAL_OK) return err;
    if (w->trie.end != AGG_TRIE_GOES_ON) {
        say_end(&w->trie);
        say_open(w);
        return SHOAL_OK;
    }
    say_trie(w, &w->trie);
    next->starts = w->trie.starts;
    next->n_starts = w->trie.n_starts;
    next->known = w->trie.known;
    next->n_known = w->trie.n_known;
    next->step = w->trie.step;
    next->pass = w->trie.pass;
    next->sample = w->trie.sample;
    return round_write(w, error, next);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t round_trie_memory(const round_work *w)
{
    const shoal_recipe *recipe = w->recipe.recipe;
    uint64_t most = recipe->max_prefixes, size = recipe->parts[0].size;
    if (w->options->max_prefixes > 0 && w->options->max_prefixes < most)
        most = w->options->max_prefixes;
    uint64_t reading = agg_trie_layer_memory(recipe, (size_t)most, w->options->n_threads);
    if (most > size) most = size;
    return larger(reading,
                  most * sizeof(agg_trie_cell) + agg_next_trie_memory(recipe, (size_t)most));
}
