// SPDX-License-Identifier: Apache-2.0
// The rounds of a trie; see static_story.h.
#include "static_story.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"

enum { START, WORD };

static uint32_t depth_after(const agg_recipe *recipe)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[0];
    return field->depth + (field->step > 0 ? field->step : 1);
}

// ---- what is read ----

static bool may_be_told(const agg_recipe *recipe, const agg_trie_cell *cell)
{
    double release = (double)recipe->recipe->release_threshold;
    return !(release > 0 && cell->count < release);
}

static void take_cells(agg_story_round *round, const agg_trie_layer *layer)
{
    for (size_t i = 0; i < layer->n_cells; i++) {
        const agg_trie_cell *cell = &layer->cells[i];
        int kind = cell->is_word ? WORD : START;
        if (!may_be_told(round->recipe, cell)) {
            round->n_withheld++;
            continue;
        }
        round->n_kept[kind]++;
        if (round->n_named[kind] == AGG_STORY_NAMED) continue;
        agg_story_piece *piece = &round->named[kind][round->n_named[kind]++];
        piece->len = agg_trie_text(piece->text, NULL, round->recipe, cell->bucket);
        piece->count = cell->count;
        piece->stderr_ = cell->stderr_;
    }
}

// Returns: the bytes of what a leaf has in a round, or SIZE_MAX for a round after its end.
//   is_word: set to whether the leaf ends there
static size_t piece_size(bool *is_word, const agg_story_leaf *leaf, const agg_recipe *recipe)
{
    const agg_text text = {leaf->text, leaf->len};
    *is_word = false;
    size_t size = agg_characters_size(text, depth_after(recipe));
    if (size != SIZE_MAX) return size;
    *is_word = !leaf->is_open;
    size = agg_characters_size(text, recipe->recipe->encoding.fields[0].depth);
    return size == SIZE_MAX ? SIZE_MAX : leaf->len;
}

// Notes the counts of what the leaves have in a round.
static void count_leaves(agg_static_story *story, const agg_story_round *round,
                         const agg_trie_layer *layer, size_t column)
{
    for (size_t i = 0; i < layer->n_cells; i++) {
        char text[AGG_TRIE_TEXT_MAX];
        const agg_trie_cell *cell = &layer->cells[i];
        size_t len = agg_trie_text(text, NULL, round->recipe, cell->bucket);
        if (!may_be_told(round->recipe, cell)) continue;
        for (size_t k = 0; k < story->n_leaves; k++) {
            agg_story_leaf *leaf = &story->leaves[k];
            bool is_word;
            if (piece_size(&is_word, leaf, round->recipe) == len && is_word == cell->is_word &&
                memcmp(text, leaf->text, len) == 0)
                leaf->counts[column] = cell->count;
        }
    }
}

static void add_leaf(agg_static_story *story, const char *text, size_t len, bool is_open)
{
    agg_story_leaf *leaf = &story->leaves[story->n_leaves++];
    memcpy(leaf->text, text, len);
    leaf->len = len;
    leaf->is_open = is_open;
    for (size_t k = 0; k < AGG_STORY_COLUMNS; k++) leaf->counts[k] = -1;
}

static int by_text(const void *a, const void *b)
{
    const agg_story_leaf *x = a, *y = b;
    return agg_text_compare((agg_text){x->text, x->len}, (agg_text){y->text, y->len});
}

// Picks the largest words of the first pass and the strongest starts that were left open.
static void pick_leaves(agg_static_story *story, const agg_discovery *d)
{
    const bool has_one_pass = story->n_columns == story->n;
    size_t n_open = d->n_open < AGG_STORY_OPEN ? d->n_open : AGG_STORY_OPEN;
    if (!has_one_pass) n_open = 0; // they are of the last pass
    for (size_t i = 0; i < d->n_rows && story->n_leaves < AGG_STORY_LEAVES - n_open; i++) {
        const agg_found *row = &d->rows[i];
        bool is_first = has_one_pass || strstr(row->how, "pass 1") != NULL;
        if (is_first && row->value.len <= AGG_TRIE_TEXT_MAX)
            add_leaf(story, row->value.bytes, row->value.len, false);
    }
    for (size_t i = 0; i < n_open && story->n_leaves < AGG_STORY_LEAVES; i++)
        add_leaf(story, d->open[i].text, d->open[i].len, true);
    if (story->n_leaves > 0) qsort(story->leaves, story->n_leaves, sizeof *story->leaves, by_text);
}

static agg_err read_rounds(agg_static_story *story, agg_error *error, const agg_static_report *r,
                           const agg_discover_round *rounds, const agg_discovery *found)
{
    const agg_trie_options options = {
        .fdr = found->fdr, .n_threads = r->options.n_threads, .known = r->known};
    for (size_t i = 0; i < story->n; i++) {
        agg_trie_layer layer;
        agg_story_round *round = &story->rounds[i];
        agg_err err = agg_trie_layer_read(&layer, error, rounds[i].recipe, rounds[i].acc, &options);
        if (err != SHOAL_OK) return err;
        round->recipe = rounds[i].recipe;
        round->n = layer.n;
        for (int kind = START; kind <= WORD; kind++) round->n_asked[kind] = layer.n_asked[kind];
        take_cells(round, &layer);
        if (i < story->n_columns) count_leaves(story, round, &layer, i);
        agg_trie_layer_release(&layer);
    }
    return SHOAL_OK;
}

agg_err agg_static_story_make(agg_static_story *story, agg_error *error, const agg_static_report *r,
                              const agg_discover_round *rounds, size_t n,
                              const agg_discovery *found)
{
    *story =
        (agg_static_story){.n = n,
                           .rounds = agg_alloc(error, n, sizeof *story->rounds),
                           .leaves = agg_alloc(error, AGG_STORY_LEAVES, sizeof *story->leaves)};
    agg_err err = story->rounds == NULL || story->leaves == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        memset(story->rounds, 0, n * sizeof *story->rounds);
        while (story->n_columns < n && story->n_columns < AGG_STORY_COLUMNS &&
               rounds[story->n_columns].recipe->recipe->pass == rounds[0].recipe->recipe->pass)
            story->n_columns++;
        pick_leaves(story, found);
        err = read_rounds(story, error, r, rounds, found);
    }
    if (err != SHOAL_OK) agg_static_story_release(story);
    return err;
}

size_t agg_static_story_size(const agg_static_story *story)
{
    return story->n * sizeof *story->rounds +
           (story->leaves != NULL ? AGG_STORY_LEAVES * sizeof *story->leaves : 0);
}

void agg_static_story_release(agg_static_story *story)
{
    free(story->rounds);
    free(story->leaves);
    *story = (agg_static_story){0};
}

// ---- what is said ----

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

// Says what a recipe asks: "which 3 characters words begin with", or what follows its starts.
static void put_question(FILE *out, const agg_recipe *recipe)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[0];
    uint32_t step = field->step > 0 ? field->step : 1;
    if (step == 1)
        fputs("which character ", out);
    else
        fprintf(out, "which %u characters ", step);
    if (field->depth == 0)
        fputs("words begin with", out);
    else
        fprintf(out, "follow%s %s start%s of %u character%s", step == 1 ? "s" : "",
                agg_whole(field->prefixes.count).text, plural(field->prefixes.count), field->depth,
                plural(field->depth));
    if (recipe->known.n > 0)
        fprintf(out, ", without %s known word%s", agg_whole(recipe->known.n).text,
                plural(recipe->known.n));
}

void agg_story_waiting_write(FILE *out, const agg_recipe *first)
{
    fputs("<section class=\"found\"><h2>How the rounds went</h2>\n<p class=\"said\">Nothing has "
          "come that may be shown yet. <b>Asked</b> ",
          out);
    put_question(out, first);
    fputs(".</p></section>\n", out);
}

static void put_asked(FILE *out, const agg_story_round *round)
{
    const shoal_recipe *recipe = round->recipe->recipe;
    fputs("<p><b>Asked</b> ", out);
    put_question(out, round->recipe);
    if (recipe->sample_micro < 1000000)
        fprintf(out, "; of %.3g\xe2\x80\xaf%% of the devices that were left",
                (double)recipe->sample_micro / 1e4);
    else
        fputs("; of all devices that were left", out);
    fprintf(out, ". %s report%s came.</p>\n", agg_whole(round->n).text, plural(round->n));
}

static void put_named(FILE *out, const agg_story_round *round, int kind)
{
    if (round->n_named[kind] == 0) return;
    fputs("<ul class=\"starts\">", out);
    for (size_t i = 0; i < round->n_named[kind]; i++) {
        const agg_story_piece *piece = &round->named[kind][i];
        agg_page_piece(out, piece->text, piece->len, kind == START, piece->count, piece->stderr_);
    }
    fputs("</ul>\n", out);
}

static void put_came(FILE *out, const agg_story_round *round)
{
    size_t n_kept = round->n_kept[START] + round->n_kept[WORD];
    fputs("<p><b>Came</b> ", out);
    if (n_kept == 0)
        fprintf(out, "nothing that stands out from the noise, of %s starts and %s words",
                agg_whole(round->n_asked[START]).text, agg_whole(round->n_asked[WORD]).text);
    else
        fprintf(out, "%s word%s and %s start%s of longer ones, of %s and %s that could have",
                round->n_kept[WORD] > 0 ? agg_whole(round->n_kept[WORD]).text : "no",
                plural(round->n_kept[WORD]),
                round->n_kept[START] > 0 ? agg_whole(round->n_kept[START]).text : "no",
                plural(round->n_kept[START]), agg_whole(round->n_asked[WORD]).text,
                agg_whole(round->n_asked[START]).text);
    if (round->n_withheld > 0)
        fprintf(out, "; %zu below the release threshold are withheld", round->n_withheld);
    fputs(".</p>\n", out);
    put_named(out, round, WORD);
    put_named(out, round, START);
}

// Says what is asked after a round; `next` is NULL after the last one.
static void put_next(FILE *out, const agg_story_round *round, const agg_recipe *next, bool has_come)
{
    fputs("<p><b>Next</b> ", out);
    if (next == NULL && round->n_kept[START] == 0) {
        fputs("nothing: no start is left.</p>\n", out);
    } else if (next == NULL) {
        fprintf(out, "nothing so far: %s start%s left open.</p>\n",
                agg_whole(round->n_kept[START]).text, round->n_kept[START] == 1 ? " is" : "s are");
    } else {
        if (next->recipe->pass != round->recipe->recipe->pass)
            fprintf(out, "pass %u begins anew: ", next->recipe->pass);
        put_question(out, next);
        fputs(has_come ? ".</p>\n" : ". No report of it is here yet.</p>\n", out);
    }
}

static void put_round(FILE *out, const agg_static_report *r, const agg_static_story *story,
                      size_t i)
{
    const agg_story_round *round = &story->rounds[i];
    const shoal_recipe *recipe = round->recipe->recipe;
    const bool is_last = i + 1 == story->n;
    fprintf(out, "<li><h3>Round %u", recipe->round_index > 0 ? recipe->round_index : 1);
    if (recipe->passes > 1) fprintf(out, ", pass %u of %u", recipe->pass, recipe->passes);
    fputs("</h3>\n", out);
    put_asked(out, round);
    put_came(out, round);
    put_next(out, round, is_last ? r->next : story->rounds[i + 1].recipe, !is_last);
    fputs("</li>\n", out);
}

void agg_static_story_write(FILE *out, const agg_static_report *r, const agg_static_story *story)
{
    fputs("<section class=\"found\"><h2>How the rounds went", out);
    agg_page_of(out, r->among);
    fputs("</h2>\n<p class=\"said\">Each round asked devices that had answered none before. What "
          "stood out in it is where the next one went on; it may go on after weaker starts too, "
          "because a false start costs little. Counts are reports of the round, each with its "
          "standard error.</p>\n",
          out);
    agg_story_tree_write(out, r, story);
    fputs("<ol class=\"rounds\">\n", out);
    for (size_t i = 0; i < story->n; i++) put_round(out, r, story, i);
    fputs("</ol></section>\n", out);
}
