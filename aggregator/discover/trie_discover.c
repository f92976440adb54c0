// SPDX-License-Identifier: Apache-2.0
// LDP-TrieHH, the analyst's side (gboard-2024 Algorithm 2): finds words from the rounds that led to
// them, in order. Pure.
//
// A word is a cell that ends, above its round's false-discovery threshold (trie_layer.h). Its count
// comes from the round in which it ended, scaled to the reports of all rounds. Besides the noise,
// its error includes the sampling of devices. As in a sample without replacement, that is c (1 -
// c/n) (1 - n/N) for n reports out of N, c of them the word's. A string that does not end within
// the last step is not reported as a word. A recipe's release threshold applies to the unscaled
// count of the round.
//
// Rounds must follow each other. Each round must state the hash of the round before, begin with
// starts that the round before counted, and keep all of its known words.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "discoverer.h"
#include "estimator.h"
#include "event.h"
#include "least_share.h"
#include "normal_law.h"
#include "recipe.h"
#include "trie_guarantee.h"
#include "trie_layer.h"

// ---- whether the rounds follow each other ----

static agg_err not_next(agg_error *error, const agg_recipe *after, const agg_recipe *before,
                        const char *why)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "recipe %s does not follow %s: %s",
                    after->id, before->id, why);
}

static bool is_same_name(const shoal_name *a, const shoal_name *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static uint32_t step_of(const agg_recipe *recipe)
{
    uint32_t step = recipe->recipe->encoding.fields[0].step;
    return step > 0 ? step : 1;
}

// Returns: whether every start of the later round is one of the earlier round's cells that do not
// end.
static bool are_starts_counted(const agg_recipe *after, const agg_recipe *before)
{
    const agg_list *starts = &after->lists[0][SHOAL_LIST_STARTS];
    for (uint32_t i = 0; i < starts->n; i++) {
        char text[AGG_TRIE_TEXT_MAX];
        uint64_t item = 0;
        bool is_word = false;
        (void)agg_recipe_word_item(&item, before, starts->texts[i]);
        size_t len = agg_trie_text(text, &is_word, before, (uint32_t)item);
        if (len == 0 || is_word || agg_text_compare((agg_text){text, len}, starts->texts[i]) != 0)
            return false;
    }
    return true;
}

static bool is_known_kept(const agg_recipe *after, const agg_recipe *before)
{
    for (uint32_t i = 0; i < before->known.n; i++)
        if (agg_list_find(&after->known, before->known.texts[i]) == AGG_NOT_LISTED) return false;
    return true;
}

static agg_err check_next(agg_error *error, const agg_recipe *after, const agg_recipe *before)
{
    const shoal_recipe *a = after->recipe, *b = before->recipe;
    const shoal_encoded *field = &a->encoding.fields[0], *old = &b->encoding.fields[0];
    if (a->mechanism != b->mechanism || !is_same_name(&a->analysis, &b->analysis) ||
        !is_same_name(&a->stream, &b->stream) || !is_same_name(&field->field, &old->field))
        return not_next(error, after, before, "it is of another analysis");
    if (a->round_index != b->round_index + 1)
        return not_next(error, after, before, "its round.index is not one more");
    if (b->round_index > 0 && memcmp(a->round_previous, b->query_hash, sizeof b->query_hash) != 0)
        return not_next(error, after, before, "its round.previous is another query's hash");
    if (!is_known_kept(after, before))
        return not_next(error, after, before, "it lacks known words");
    if (a->pass == b->pass) {
        if (field->depth != old->depth + step_of(before) || !are_starts_counted(after, before))
            return not_next(error, after, before, "the round before it did not count its starts");
    } else if (a->pass != b->pass + 1 || field->depth != 0) {
        return not_next(error, after, before,
                        "a pass begins with the empty start, after the pass before it");
    }
    return SHOAL_OK;
}

static agg_err check_rounds(agg_error *error, const agg_discover_round *rounds, size_t n_rounds)
{
    agg_err err = SHOAL_OK;
    const agg_recipe *first = rounds[0].recipe;
    if (n_rounds > 1 && (first->recipe->encoding.fields[0].depth != 0 || first->recipe->pass != 1))
        err =
            agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                     "recipe %s is not the first round of an analysis: name every round, in order",
                     first->id);
    for (size_t i = 1; i < n_rounds && err == SHOAL_OK; i++)
        err = check_next(error, rounds[i].recipe, rounds[i - 1].recipe);
    return err;
}

// ---- the words ----

// The rows of earlier passes, by their values.
typedef struct earlier {
    size_t n;
    size_t *rows;
} earlier;

typedef struct by_value {
    agg_text value;
    size_t row;
} by_value;

static int compare_values(const void *a, const void *b)
{
    return agg_text_compare(((const by_value *)a)->value, ((const by_value *)b)->value);
}

static agg_err list_earlier(earlier *e, agg_error *error, const agg_discovery *d)
{
    by_value *sorted = agg_alloc(error, d->n_rows, sizeof *sorted);
    size_t *rows = agg_alloc(error, d->n_rows, sizeof *rows);
    if (sorted != NULL && rows != NULL) {
        for (size_t i = 0; i < d->n_rows; i++) sorted[i] = (by_value){d->rows[i].value, i};
        qsort(sorted, d->n_rows, sizeof *sorted, compare_values);
        for (size_t i = 0; i < d->n_rows; i++) rows[i] = sorted[i].row;
        free(e->rows);
        *e = (earlier){d->n_rows, rows};
        rows = NULL;
    }
    agg_err err = e->n == d->n_rows ? SHOAL_OK : AGG_ERR_MEMORY;
    free(sorted);
    free(rows);
    return err;
}

static bool was_found(const earlier *e, const agg_discovery *d, agg_text word)
{
    size_t low = 0, high = e->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = agg_text_compare(d->rows[e->rows[middle]].value, word);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static agg_err add_word(agg_discovery *d, agg_error *error, const agg_discover_round *round,
                        const agg_trie_layer *layer, const agg_trie_cell *cell)
{
    char text[AGG_TRIE_TEXT_MAX], how[AGG_FOUND_HOW_MAX];
    const shoal_recipe *recipe = round->recipe->recipe;
    double n = (double)layer->n, all = (double)d->n, scale = all / n;
    double inside = fmin(fmax(cell->count, 0), n),
           sampling = inside * (1 - inside / n) * (1 - n / all);
    agg_text word = {text, agg_trie_text(text, NULL, round->recipe, cell->bucket)};
    snprintf(how, sizeof how, "round %u, pass %u",
             recipe->round_index > 0 ? recipe->round_index : 1, recipe->pass);
    return agg_discovery_add(d, error, word, cell->count * scale,
                             scale * sqrt(cell->stderr_ * cell->stderr_ + sampling), cell->score,
                             how);
}

static void say_cap(agg_discovery *d, const agg_discover_round *round, const agg_trie_layer *layer)
{
    if (layer->n_cut > 0)
        agg_discovery_cut(
            d, "round %u: %zu starts and words above the threshold are beyond the cap of %u",
            round->recipe->recipe->round_index, layer->n_cut, round->recipe->recipe->max_prefixes);
}

// Words are tested whatever starts were kept. If a cap binds, it is the recipe's and applied in the
// round.
static agg_err add_layer(agg_discovery *d, agg_error *error, const agg_discover_round *round,
                         const agg_trie_layer *layer, const earlier *before, const agg_list *known)
{
    agg_err err = SHOAL_OK;
    double release = (double)round->recipe->recipe->release_threshold;
    char text[AGG_TRIE_TEXT_MAX];
    d->n_candidates += layer->n_asked[1];
    for (size_t i = 0; i < layer->n_cells && err == SHOAL_OK; i++) {
        const agg_trie_cell *cell = &layer->cells[i];
        if (!cell->is_word) continue;
        agg_text word = {text, agg_trie_text(text, NULL, round->recipe, cell->bucket)};
        if (was_found(before, d, word)) continue;
        if (!(release > 0 && cell->count < release))
            err = add_word(d, error, round, layer, cell);
        else if (known != NULL && agg_list_find(known, word) != AGG_NOT_LISTED)
            d->n_known++;
        else
            d->n_withheld++;
    }
    return err;
}

static void note_reach(agg_discovery *d, const agg_recipe *recipe)
{
    uint32_t reach = recipe->recipe->encoding.fields[0].depth + step_of(recipe) - 1;
    if (reach > d->reach) d->reach = reach;
}

// Notes the starts that no round asked further, by falling score. Those below the release threshold
// are not told.
static void note_open(agg_discovery *d, const agg_discover_round *round,
                      const agg_trie_layer *layer)
{
    const shoal_recipe *recipe = round->recipe->recipe;
    double release = (double)recipe->release_threshold, scale = (double)d->n / (double)layer->n;
    for (size_t i = 0; i < layer->n_cells; i++) {
        const agg_trie_cell *cell = &layer->cells[i];
        if (cell->is_word || (release > 0 && cell->count < release)) continue;
        if (d->n_open++ >= AGG_DISCOVERY_OPEN_MAX) continue;
        agg_open_start *open = &d->open[d->n_open - 1];
        open->len = agg_trie_text(open->text, NULL, round->recipe, cell->bucket);
        open->count = cell->count * scale;
        open->stderr_ = cell->stderr_ * scale;
    }
}

// The promise of the weakest round holds in every round.
static agg_err say_guarantees(agg_discovery *d, agg_error *error, const agg_discover_round *round,
                              const agg_trie_layer *layer, const agg_release *release)
{
    agg_trie_guarantee *g = agg_alloc(error, 1, sizeof *g);
    if (g == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_trie_guarantee_run(g, error, round->recipe->recipe, layer, release);
    for (int i = 0; err == SHOAL_OK && i < g->n_lines; i++)
        agg_discovery_note(d, "%s", g->lines[i]);
    free(g);
    return err;
}

// The last lines are reserved for the guarantees, for the line that says there was no room and for
// what an empty result says.
static void note_round(agg_discovery *d, const agg_discover_round *round,
                       const agg_trie_layer *layer)
{
    const shoal_encoded *field = &round->recipe->recipe->encoding.fields[0];
    uint32_t room = AGG_DISCOVERY_NOTES_MAX - AGG_TRIE_LINES_MAX - 2;
    if (d->n_notes == room) agg_discovery_note(d, "and more rounds");
    if (d->n_notes >= room) return;
    agg_discovery_note(d,
                       "%s: %u starts of %u characters, step %u, %u cells, %llu reports: %zu "
                       "words, %zu starts kept",
                       round->recipe->id, field->prefixes.count, field->depth,
                       step_of(round->recipe), field->size, (unsigned long long)layer->n,
                       layer->n_kept[1], layer->n_kept[0]);
}

static bool is_weaker(const agg_discover_round *a, const agg_discover_round *b)
{
    const shoal_recipe *x = a->recipe->recipe, *y = b->recipe->recipe;
    if (x->eps_micro != y->eps_micro) return x->eps_micro > y->eps_micro;
    if (x->contributions != y->contributions) return x->contributions > y->contributions;
    return a->acc->n < b->acc->n;
}

// Rounds of one analysis differ in their reports alone, unless somebody wrote the recipes by hand;
// then epsilon counts most.
static const agg_discover_round *find_weakest(const agg_discover_round *rounds, size_t n)
{
    const agg_discover_round *weakest = rounds;
    for (size_t i = 1; i < n; i++)
        if (is_weaker(&rounds[i], weakest)) weakest = &rounds[i];
    return weakest;
}

static agg_err run(agg_discovery *discovery, agg_error *error, const agg_discover_round *rounds,
                   size_t n_rounds, const agg_discover_options *options)
{
    const agg_trie_options o = {.fdr = discovery->fdr,
                                .threshold = discovery->threshold,
                                .n_threads = options->n_threads,
                                .known = options->known};
    const agg_discover_round *weakest = find_weakest(rounds, n_rounds);
    earlier before = {0, NULL};
    double found_from = 0, fewest = HUGE_VAL;
    agg_err err = check_rounds(error, rounds, n_rounds);
    if (err == SHOAL_OK)
        agg_left_out_estimate(&discovery->left_out, rounds[0].recipe, rounds[0].acc,
                              (double)discovery->n, discovery->confidence);
    for (size_t i = 0; i < n_rounds && err == SHOAL_OK; i++) {
        agg_trie_layer layer;
        if (i > 0 && rounds[i].recipe->recipe->pass != rounds[i - 1].recipe->recipe->pass)
            err = list_earlier(&before, error, discovery);
        if (err == SHOAL_OK)
            err = agg_trie_layer_read(&layer, error, rounds[i].recipe, rounds[i].acc, &o);
        if (err != SHOAL_OK) break;
        note_round(discovery, &rounds[i], &layer);
        note_reach(discovery, rounds[i].recipe);
        say_cap(discovery, &rounds[i], &layer);
        found_from = fmax(found_from, agg_trie_layer_found_from(&layer, rounds[i].recipe->recipe,
                                                                &o, i + 1 == n_rounds));
        fewest = fmin(fewest, (double)layer.n);
        err = add_layer(discovery, error, &rounds[i], &layer, &before, options->known);
        if (err == SHOAL_OK && &rounds[i] == weakest)
            err = say_guarantees(discovery, error, weakest, &layer, &options->release);
        if (err == SHOAL_OK && i + 1 == n_rounds) note_open(discovery, &rounds[i], &layer);
        agg_trie_layer_release(&layer);
    }
    free(before.rows);
    if (err == SHOAL_OK)
        agg_discovery_note_nothing(discovery, "each round of the trie", fewest, found_from);
    return err;
}

static uint64_t memory(const shoal_recipe *recipe, uint64_t accumulator, unsigned n_threads)
{
    (void)accumulator;
    return agg_trie_layer_memory(recipe, 0, n_threads);
}

static double least_share(const shoal_recipe *recipe, double n, double fdr, double same)
{
    (void)same;
    double cells = fmax(1, recipe->encoding.fields[0].size);
    return agg_least_share_of(&recipe->parts[0], n, 0,
                              -agg_normal_quantile(AGG_TRIE_WORD_FDR * fdr / cells));
}

const agg_discoverer agg_trie_discoverer = {
    .id = shoal_trie_id,
    .takes_rounds = true,
    .run = run,
    .memory = memory,
    .least_share = least_share,
};
