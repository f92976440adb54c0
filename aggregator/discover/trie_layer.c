// SPDX-License-Identifier: Apache-2.0
// Finds the cells of a round that stand out; see trie_layer.h.
#include "trie_layer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimator.h"
#include "event.h"
#include "multiple.h"
#include "normal_law.h"
#include "recipe.h"

#define BLOCK 65536u // cells estimated at a time

enum { STARTS, WORDS, KNOWN, KINDS }; // KNOWN: words known to the reader
enum {
    UNKNOWN,
    NOT_SENT,
    KNOWN_TO_READER
}; // state of a cell; no device sends words that the recipe knows

// The state of one call.
typedef struct work {
    const agg_recipe *recipe;
    const agg_accumulator *acc;
    const shoal_encoded *field;
    unsigned n_threads;
    uint8_t *known;      // state of each cell
    size_t n_known;      // cells that are KNOWN_TO_READER
    size_t asked[KINDS]; // cells tested so far
    double least[KINDS];
    double *scores[KINDS]; // by bucket; room for n_room
    size_t n_room[KINDS];
} work;

// Returns: the kind of a bucket: STARTS, WORDS, or -1 for neither.
static int kind_of(const shoal_encoded *field, uint32_t bucket)
{
    uint32_t prefix, next, characters[SHOAL_STEP_MAX], step = field->step > 0 ? field->step : 1;
    if (!shoal_encoded_next_of(&prefix, &next, field, bucket) || next == SHOAL_NOT_LISTED)
        return -1;
    if (next == SHOAL_NEXT_END)
        return prefix == 0 && field->depth == 0 ? -1 : WORDS; // a word is not empty
    return shoal_encoded_run_of(characters, field, next) < step ? WORDS : STARTS;
}

static void put(char out[AGG_TRIE_TEXT_MAX], size_t *len, agg_text text)
{
    if (text.len > AGG_TRIE_TEXT_MAX - *len)
        return; // unreachable: a start and its step have 68 characters at most
    memcpy(out + *len, text.bytes, text.len);
    *len += text.len;
}

size_t agg_trie_text(char out[AGG_TRIE_TEXT_MAX], bool *is_word, const agg_recipe *recipe,
                     uint32_t bucket)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[0];
    const agg_list *lists = recipe->lists[0];
    uint32_t prefix = 0, next = 0, characters[SHOAL_STEP_MAX], n;
    size_t len = 0;
    int kind = kind_of(field, bucket);
    if (kind < 0) return 0;
    if (is_word != NULL) *is_word = kind == WORDS;
    (void)shoal_encoded_next_of(&prefix, &next, field, bucket);
    put(out, &len, lists[SHOAL_LIST_STARTS].texts[prefix]);
    n = next == SHOAL_NEXT_END ? 0 : shoal_encoded_run_of(characters, field, next);
    for (uint32_t i = 0; i < n; i++)
        put(out, &len, lists[SHOAL_LIST_CHARACTERS].texts[characters[i]]);
    return len;
}

// Marks the cells of words; a start of longer words keeps its state.
// Returns: the number of newly marked cells.
static size_t mark_words(work *w, const agg_list *words, uint8_t mark)
{
    size_t n = 0;
    for (uint32_t i = 0; words != NULL && i < words->n; i++) {
        uint64_t item = 0;
        (void)agg_recipe_word_item(&item, w->recipe, words->texts[i]);
        if (w->known[item] != UNKNOWN || kind_of(w->field, (uint32_t)item) != WORDS) continue;
        w->known[item] = mark;
        n++;
    }
    return n;
}

static agg_err mark_known(work *w, agg_error *error, const agg_list *known)
{
    w->known = agg_alloc(error, w->field->size, 1);
    if (w->known == NULL) return AGG_ERR_MEMORY;
    (void)mark_words(w, &w->recipe->known, NOT_SENT);
    w->n_known = mark_words(w, known, KNOWN_TO_READER);
    return SHOAL_OK;
}

static bool is_tested(const work *w, uint32_t bucket, int *kind)
{
    *kind = kind_of(w->field, bucket);
    if (w->known[bucket] == KNOWN_TO_READER) *kind = KNOWN;
    return *kind >= 0 && w->known[bucket] != NOT_SENT;
}

static agg_err make_room(work *w, agg_error *error)
{
    int kind;
    for (uint32_t b = 0; b < w->field->size; b++)
        if (is_tested(w, b, &kind)) w->n_room[kind]++;
    for (kind = 0; kind < KINDS; kind++) {
        // The words' array has room for the known words too, which are tested with them.
        w->scores[kind] =
            agg_alloc(error, w->n_room[kind] + (kind == WORDS ? w->n_known : 0), sizeof(double));
        if (w->scores[kind] == NULL) return AGG_ERR_MEMORY;
    }
    return SHOAL_OK;
}

static agg_err score_block(work *w, agg_error *error, uint32_t from, uint32_t n, uint64_t *items,
                           agg_count *counts)
{
    int kind;
    for (uint32_t i = 0; i < n; i++) items[i] = from + i;
    agg_err err = agg_estimator_counts(counts, error, &w->recipe->recipe->parts[0],
                                       &w->acc->parts[0], w->acc->n, items, n, w->n_threads);
    for (uint32_t i = 0; i < n && err == SHOAL_OK; i++)
        if (is_tested(w, from + i, &kind)) w->scores[kind][w->asked[kind]++] = counts[i].score;
    return err;
}

static agg_err score_all(work *w, agg_error *error)
{
    uint64_t *items = agg_alloc(error, BLOCK, sizeof *items);
    agg_count *counts = agg_alloc(error, BLOCK, sizeof *counts);
    agg_err err = items == NULL || counts == NULL ? AGG_ERR_MEMORY : make_room(w, error);
    for (uint32_t from = 0; from < w->field->size && err == SHOAL_OK; from += BLOCK) {
        uint32_t left = w->field->size - from;
        err = score_block(w, error, from, left < BLOCK ? left : BLOCK, items, counts);
    }
    free(items);
    free(counts);
    return err;
}

static int by_strength(const void *a, const void *b)
{
    const agg_trie_cell *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

// Keeps the strongest cells.
static void cut_to(agg_trie_layer *layer, size_t most)
{
    if (layer->n_cells > 0) qsort(layer->cells, layer->n_cells, sizeof *layer->cells, by_strength);
    if (layer->n_cells <= most) return;
    layer->n_cut += layer->n_cells - most;
    layer->n_cells = most;
}

// Returns: how many cells are held at once when `most` are kept. The limit bounds the memory of a
// round in which many cells stand out.
static size_t cells_held(size_t most)
{
    return most + (most > BLOCK ? most : BLOCK);
}

static agg_err add_cell(agg_trie_layer *layer, size_t *cap, agg_error *error, const work *w,
                        const agg_trie_options *options, uint32_t bucket, int kind)
{
    agg_count count;
    uint64_t item = bucket;
    agg_err err = agg_estimator_counts(&count, error, &w->recipe->recipe->parts[0],
                                       &w->acc->parts[0], w->acc->n, &item, 1, 1);
    if (err != SHOAL_OK) return err;
    layer->n_frequent++;
    if (count.count < options->threshold) {
        layer->n_withheld++;
        return SHOAL_OK;
    }
    if (layer->n_cells == cells_held(options->max_prefixes)) cut_to(layer, options->max_prefixes);
    err = agg_grow((void **)&layer->cells, cap, layer->n_cells + 1, sizeof *layer->cells, error);
    if (err != SHOAL_OK) return err;
    layer->cells[layer->n_cells++] =
        (agg_trie_cell){bucket, kind != STARTS, count.score, count.count, count.stderr_};
    return SHOAL_OK;
}

// Collects the cells above their thresholds and at or above T, at most options->max_prefixes of
// them.
static agg_err take_frequent(agg_trie_layer *layer, agg_error *error, const work *w,
                             const agg_trie_options *options)
{
    size_t cap = 0, seen[KINDS] = {0};
    int kind;
    agg_err err = SHOAL_OK;
    for (uint32_t b = 0; b < w->field->size && err == SHOAL_OK; b++) {
        if (!is_tested(w, b, &kind)) continue;
        if (w->scores[kind][seen[kind]++] >= w->least[kind])
            err = add_cell(layer, &cap, error, w, options, b, kind);
    }
    cut_to(layer, options->max_prefixes);
    for (size_t i = 0; i < layer->n_cells; i++) layer->n_kept[layer->cells[i].is_word]++;
    if (layer->n_cells > 0)
        layer->support_kept = w->acc->parts[0].cells.ones[layer->cells[layer->n_cells - 1].bucket];
    return err;
}

static agg_err find_least(agg_trie_layer *layer, agg_error *error, work *w,
                          const agg_trie_options *options)
{
    double fdr = options->start_fdr > 0 ? options->start_fdr : options->fdr;
    double of_words = AGG_TRIE_WORD_FDR * options->fdr, *words = w->scores[WORDS];
    size_t n_words = w->asked[WORDS];
    agg_err err = agg_multiple_least(&w->least[STARTS], error, w->scores[STARTS], w->asked[STARTS],
                                     AGG_BH, fdr);
    if (err == SHOAL_OK)
        err = agg_multiple_least(&w->least[WORDS], error, words, n_words, AGG_BH, of_words);
    for (size_t i = 0; i < w->n_known; i++) words[n_words + i] = w->scores[KNOWN][i];
    if (err == SHOAL_OK)
        err = agg_multiple_least(&w->least[KNOWN], error, words, n_words + w->n_known, AGG_BH,
                                 of_words);
    for (int kind = STARTS; kind <= WORDS; kind++) {
        layer->n_asked[kind] = w->asked[kind];
        layer->least[kind] = w->least[kind];
    }
    return err;
}

agg_err agg_trie_layer_read(agg_trie_layer *layer, agg_error *error, const agg_recipe *recipe,
                            const agg_accumulator *acc, const agg_trie_options *options)
{
    work w = {.recipe = recipe,
              .acc = acc,
              .field = &recipe->recipe->encoding.fields[0],
              .n_threads = options->n_threads > 0 ? options->n_threads : 1};
    agg_trie_options o = *options;
    if (o.max_prefixes == 0) o.max_prefixes = recipe->recipe->max_prefixes;
    *layer = (agg_trie_layer){.n = acc->n, .least = {HUGE_VAL, HUGE_VAL}};
    agg_err err = agg_accumulator_check_recipe(acc, error, recipe->recipe);
    if (err != SHOAL_OK || acc->n == 0) return err;
    err = mark_known(&w, error, options->known);
    if (err == SHOAL_OK) err = score_all(&w, error);
    if (err == SHOAL_OK) err = find_least(layer, error, &w, options);
    if (err == SHOAL_OK) err = take_frequent(layer, error, &w, &o);
    free(w.known);
    for (int kind = 0; kind < KINDS; kind++) free(w.scores[kind]);
    if (err != SHOAL_OK) agg_trie_layer_release(layer);
    return err;
}

// Returns: the share that stands out at the bar, or at that of the first among n_asked.
static double share_at(const shoal_recipe *recipe, double n, double least, double n_asked,
                       double fdr)
{
    const shoal_part *part = &recipe->parts[0];
    const double p = (double)(0 - part->threshold) * 0x1p-64, q = (part->k - p) / (part->m - 1);
    if (n_asked < 1) return 0;
    const double z = isinf(least) ? -agg_normal_quantile(fdr / n_asked) : least;
    return (z * sqrt(n * q * (1 - q)) + z * z / 6) / (n * (p - q));
}

double agg_trie_layer_found_from(const agg_trie_layer *layer, const shoal_recipe *recipe,
                                 const agg_trie_options *options, bool is_last)
{
    const double n = (double)layer->n;
    if (layer->n == 0) return 1;
    const double words = share_at(recipe, n, layer->least[WORDS], (double)layer->n_asked[WORDS],
                                  AGG_TRIE_WORD_FDR * options->fdr);
    if (is_last) return words;
    const double rate = options->start_fdr > 0 ? options->start_fdr : options->fdr;
    return fmax(words,
                share_at(recipe, n, layer->least[STARTS], (double)layer->n_asked[STARTS], rate));
}

uint64_t agg_trie_layer_memory(const shoal_recipe *recipe, size_t max_prefixes, unsigned n_threads)
{
    const shoal_part *part = &recipe->parts[0];
    uint64_t size = part->size, block = size < BLOCK ? size : BLOCK;
    uint64_t held = cells_held(max_prefixes > 0 ? max_prefixes : recipe->max_prefixes);
    if (held > size) held = size;
    uint64_t scoring = block * (sizeof(uint64_t) + sizeof(agg_count)) +
                       agg_estimator_memory(part, (size_t)block, n_threads);
    uint64_t after = size * sizeof(double) > held * sizeof(agg_trie_cell)
                         ? size * sizeof(double) // sorted scores
                         : held * sizeof(agg_trie_cell);
    return size * (1 + sizeof(double)) + (scoring > after ? scoring : after);
}

double agg_trie_start_rate(double fdr, uint32_t depth)
{
    if (depth >= AGG_TRIE_DEPTH_OPEN) return fdr;
    return fmax(fdr, fmin(AGG_TRIE_START_TIMES * fdr, AGG_TRIE_START_FDR_MAX));
}

void agg_trie_layer_release(agg_trie_layer *layer)
{
    free(layer->cells);
    *layer = (agg_trie_layer){0};
}
