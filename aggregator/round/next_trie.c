// SPDX-License-Identifier: Apache-2.0
// The round after a round of a trie; see next_trie.h.
#include "next_trie.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "recipe.h"
#include "subset.h"

static uint32_t step_of(const shoal_encoded *field)
{
    return field->step > 0 ? field->step : 1;
}

static int by_text(const void *a, const void *b)
{
    return agg_text_compare(*(const agg_text *)a, *(const agg_text *)b);
}

// ---- how many devices, which step ----

// Returns: devices that have not answered; NAN if the round does not reveal it.
static double devices_left(const shoal_recipe *recipe, const agg_trie_layer *layer)
{
    double answered = (double)layer->n / recipe->contributions, sample = recipe->sample_micro / 1e6;
    if (sample < 1) return answered * (1 - sample) / sample;
    return recipe->round_index <= 1 ? NAN : 0;
}

// Returns: the share of contributions from which on a start was detected.
static double weakest_share(const agg_trie_layer *layer)
{
    double least = (double)layer->n;
    for (size_t i = 0; i < layer->n_cells; i++)
        if (!layer->cells[i].is_word) least = fmin(least, layer->cells[i].count);
    return fmax(least, 0) / (double)layer->n;
}

// Plans the rest of the pass. Returns: devices for it and all later passes.
static double plan_pass(agg_next_trie *next, const shoal_recipe *recipe,
                        const agg_trie_layer *layer, const agg_next_trie_wish *wish)
{
    double left = devices_left(recipe, layer), passes = recipe->passes - next->pass + 1;
    double answered = (double)layer->n / recipe->contributions;
    agg_trie_wish w = {.devices = fmax(1, left > 0 ? left / passes : answered * recipe->depth),
                       .epsilon = recipe->eps_micro / 1e6,
                       .contributions = recipe->contributions,
                       .depth = recipe->depth,
                       .characters = recipe->encoding.fields[0].tokens.count,
                       .max_prefixes = recipe->max_prefixes,
                       .record_bytes =
                           fmax(agg_trie_record_bytes(recipe->depth), recipe->record_size),
                       .from_depth = next->depth,
                       .n_starts = (double)next->n_starts,
                       .least_share = weakest_share(layer),
                       .step = wish->step};
    if (wish->step > 0 && wish->sample > 0)
        return w.devices * passes; // the caller has decided both
    agg_trie_plan_run(&next->plan, &w);
    if (left > 0 || next->plan.n_rounds == 0) return w.devices * passes;
    w.devices =
        fmax(1, answered * next->plan.n_rounds); // assume as many for each round as this one had
    agg_trie_plan_run(&next->plan, &w);
    return w.devices * passes;
}

// Returns: the most starts that fit the cells and a record's indices at a step of one character.
static size_t starts_that_fit(const shoal_recipe *recipe, uint32_t step)
{
    double choices = agg_trie_cells(1, recipe->encoding.fields[0].tokens.count, step) - 1;
    double cells =
        fmin(SHOAL_DOMAIN_SIZE_MAX, SHOAL_SUBSET_D_MAX * (exp(recipe->eps_micro / 1e6) + 1) - 1);
    return (size_t)fmax(1, floor((cells - 1) / choices));
}

static void settle(agg_next_trie *next, const shoal_recipe *recipe, const agg_trie_layer *layer,
                   const agg_next_trie_wish *wish)
{
    double all = plan_pass(next, recipe, layer, wish),
           share = 1.0 / (recipe->passes - next->pass + 1);
    uint32_t room = recipe->depth - next->depth, step = wish->step > 0 ? wish->step : 1;
    if (next->plan.n_rounds > 0) {
        share = next->plan.rounds[0].devices / all;
        step = next->plan.rounds[0].step; // the wish's step if there is one
    }
    next->step = step < room ? step : room;
    next->sample =
        wish->sample > 0 ? wish->sample : fmin(1, fmax(1e-6, floor(share * 1e6 + 1e-6) / 1e6));
    next->devices = all * next->sample;
}

// ---- texts ----

static agg_err make_room(agg_next_trie *next, agg_error *error, const agg_recipe *recipe,
                         const agg_trie_layer *layer)
{
    next->pool = agg_alloc(error, layer->n_cells + 1, AGG_TRIE_TEXT_MAX);
    next->starts = agg_alloc(error, layer->n_cells + 1, sizeof *next->starts);
    next->known = agg_alloc(error, layer->n_cells + recipe->known.n, sizeof *next->known);
    if (next->pool != NULL && next->starts != NULL && next->known != NULL) return SHOAL_OK;
    agg_next_trie_release(next);
    return AGG_ERR_MEMORY;
}

// Chooses the strongest starts, at most `most`.
static void take_starts(agg_next_trie *next, const agg_recipe *recipe, const agg_trie_layer *layer,
                        size_t most)
{
    for (size_t i = 0; i < layer->n_cells; i++) {
        char *text = next->pool + i * AGG_TRIE_TEXT_MAX;
        if (layer->cells[i].is_word) continue;
        if (next->n_starts == most) {
            next->n_dropped++;
            continue;
        }
        next->starts[next->n_starts++] =
            (agg_text){text, agg_trie_text(text, NULL, recipe, layer->cells[i].bucket)};
    }
    if (next->n_starts > 0) qsort(next->starts, next->n_starts, sizeof *next->starts, by_text);
}

static void take_known(agg_next_trie *next, const agg_recipe *recipe, const agg_trie_layer *layer)
{
    for (uint32_t i = 0; i < recipe->known.n; i++)
        next->known[next->n_known++] = recipe->known.texts[i];
    if (recipe->recipe->pass == recipe->recipe->passes) return;
    for (size_t i = 0; i < layer->n_cells; i++) {
        char *text = next->pool + i * AGG_TRIE_TEXT_MAX;
        if (!layer->cells[i].is_word || next->n_known == SHOAL_KNOWN_MAX) continue;
        next->known[next->n_known++] =
            (agg_text){text, agg_trie_text(text, NULL, recipe, layer->cells[i].bucket)};
        next->n_new++;
    }
    if (next->n_known > 0) qsort(next->known, next->n_known, sizeof *next->known, by_text);
}

static void begin_pass(agg_next_trie *next)
{
    next->pass++;
    next->depth = 0;
    next->n_dropped = 0;
    next->starts[0] = (agg_text){"", 0};
    next->n_starts = 1;
}

static enum agg_trie_end find_end(const agg_next_trie *next, const shoal_recipe *recipe,
                                  const agg_trie_layer *layer, const agg_next_trie_wish *wish)
{
    bool is_over = next->n_starts == 0 || next->depth >= recipe->depth;
    if (is_over && next->pass == recipe->passes) return AGG_TRIE_COMPLETE;
    if (devices_left(recipe, layer) <= 0 && !(wish->sample > 0)) return AGG_TRIE_NO_DEVICE;
    if (is_over && next->n_known == 0) return AGG_TRIE_NO_WORD;
    return AGG_TRIE_GOES_ON;
}

agg_err agg_next_trie_find(agg_next_trie *next, agg_error *error, const agg_recipe *recipe,
                           const agg_trie_layer *layer, const agg_next_trie_wish *wish)
{
    const shoal_recipe *r = recipe->recipe;
    const shoal_encoded *field = &r->encoding.fields[0];
    *next = (agg_next_trie){.pass = r->pass, .depth = field->depth + step_of(field)};
    agg_err err = make_room(next, error, recipe, layer);
    if (err != SHOAL_OK) return err;
    size_t most = starts_that_fit(r, wish->step > 0 ? wish->step : 1);
    if (wish->n_starts > 0 && wish->n_starts < most) most = wish->n_starts;
    take_starts(next, recipe, layer, most);
    take_known(next, recipe, layer);
    next->end = find_end(next, r, layer, wish);
    if (next->end != AGG_TRIE_GOES_ON) return SHOAL_OK;
    if (next->n_starts == 0 || next->depth >= r->depth) begin_pass(next);
    settle(next, r, layer, wish);
    return SHOAL_OK;
}

uint64_t agg_next_trie_memory(const shoal_recipe *recipe, size_t n_cells)
{
    return (n_cells + 1) * (uint64_t)(AGG_TRIE_TEXT_MAX + 2 * sizeof(agg_text)) +
           SHOAL_KNOWN_MAX * sizeof(agg_text) * (recipe->passes > 1);
}

void agg_next_trie_release(agg_next_trie *next)
{
    free(next->starts);
    free(next->known);
    free(next->pool);
    next->starts = next->known = NULL;
    next->pool = NULL;
}
