// SPDX-License-Identifier: Apache-2.0
// Finds the heavy fragments in a position's rows; see sfp_fragments.h.
#include "sfp_fragments.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "sfp.h"
#include "sfp_noise.h"
#include "sfp_text.h"
#include "whole_domain.h"

#define FRAGMENTS ((size_t)1 << 24)
#define PAIRS ((size_t)1 << 16)
#define SCORE_MOST 1e6 // higher scores are equally certain

// One position's rows as a sketch of their own.
typedef struct view {
    shoal_part part;
    agg_sketch sketch;
    uint64_t n;
} view;

static uint64_t reports_of(const agg_sketch *sketch)
{
    uint64_t n = 0; // local hashing adds one to one cell for each report
    const uint32_t *numbers = sketch->rows != NULL ? sketch->rows : sketch->cells.ones;
    uint64_t n_numbers = sketch->rows != NULL ? sketch->n_rows : sketch->n_cells;
    for (uint64_t i = 0; i < n_numbers; i++) n += numbers[i];
    return n;
}

static view view_of(const shoal_recipe *recipe, const agg_accumulator *acc, uint32_t position)
{
    view v = {recipe->parts[SHOAL_SFP_FRAGMENT], acc->parts[SHOAL_SFP_FRAGMENT], 0};
    uint32_t k = recipe->k_fragment;
    v.part.k = v.sketch.shape.k = k;
    v.part.first_row = position * k;
    v.sketch.n_cells = (uint64_t)k * v.part.m;
    v.sketch.cells.ones += position * v.sketch.n_cells;
    if (v.sketch.rows != NULL) {
        v.sketch.n_rows = k;
        v.sketch.rows += v.part.first_row;
    }
    v.n = reports_of(&v.sketch);
    return v;
}

// Returns: the least support from `low` up that has the score. Scores rise with supports.
static int64_t least_support(const agg_sfp_noise *noise, double score, int64_t low)
{
    int64_t high = (int64_t)noise->n + 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (agg_sfp_noise_score(noise, (double)middle) >= score)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Returns: how many fragments have at least that support; some number above `enough` if more do.
static size_t count_above(const int64_t *support, const bool *possible, int64_t least,
                          size_t enough)
{
    size_t n = 0;
    for (size_t x = 0; x < FRAGMENTS && n <= enough; x += PAIRS)
        for (size_t pair = 0; pair < PAIRS; pair++)
            n += (support[x + pair] >= least) & possible[pair];
    return n;
}

// Raises `least` until at most `most` fragments have it.
static int64_t raise_to_fit(const int64_t *support, const bool *possible, int64_t least,
                            int64_t high, size_t most)
{
    while (least < high) {
        int64_t middle = least + (high - least) / 2;
        if (count_above(support, possible, middle, most) <= most)
            high = middle;
        else
            least = middle + 1;
    }
    return least;
}

static int compare_fragments(const void *a, const void *b)
{
    const agg_sfp_fragment *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

static void take(agg_sfp_heavy *heavy, uint32_t position, const agg_sfp_noise *noise,
                 const int64_t *support, const bool *possible, int64_t least)
{
    agg_sfp_fragment *out = heavy->fragments[position];
    uint32_t n = 0, *start = heavy->start[position];
    for (uint32_t hash = 0; hash < AGG_SFP_HASHES; hash++) {
        const int64_t *of_hash = support + hash * PAIRS;
        start[hash] = n;
        for (uint32_t pair = 0; pair < PAIRS; pair++)
            if (possible[pair] && of_hash[pair] >= least)
                out[n++] = (agg_sfp_fragment){
                    (uint16_t)pair,
                    (float)fmin(agg_sfp_noise_score(noise, (double)of_hash[pair]), SCORE_MOST)};
        qsort(out + start[hash], n - start[hash], sizeof *out, compare_fragments);
    }
    start[AGG_SFP_HASHES] = n;
}

static agg_err find_position(agg_sfp_heavy *heavy, agg_error *error, const view *v,
                             uint32_t position, const agg_sfp_keep *keep, const bool *possible,
                             double n_all, int64_t *support, unsigned n_threads)
{
    agg_sfp_noise noise = agg_sfp_noise_of(&v->part, &v->sketch, v->n);
    double scaled = n_all / noise.n;
    int64_t low = (int64_t)ceil(noise.mean + fmax(keep->count / scaled / noise.scale, 0));
    agg_err err = agg_whole_domain(support, error, &v->part, &v->sketch, n_threads);
    if (err != SHOAL_OK) return err;
    int64_t asked = least_support(&noise, keep->score, low);
    size_t n_asked = count_above(support, possible, asked, SIZE_MAX), n_kept = n_asked;
    int64_t least = asked;
    if (n_asked > keep->most) {
        least = raise_to_fit(support, possible, asked, (int64_t)v->n + 1, keep->most);
        n_kept = count_above(support, possible, least, SIZE_MAX);
    }
    heavy->null_error[position] = noise.null_error * scaled;
    heavy->least[position] = agg_sfp_noise_score(&noise, (double)least);
    heavy->left_out[position] = n_asked - n_kept;
    heavy->fragments[position] = agg_alloc(error, n_kept, sizeof **heavy->fragments);
    if (heavy->fragments[position] == NULL) return AGG_ERR_MEMORY;
    take(heavy, position, &noise, support, possible, least);
    return SHOAL_OK;
}

agg_err agg_sfp_heavy_find(agg_sfp_heavy *heavy, agg_error *error, const shoal_recipe *recipe,
                           const agg_accumulator *acc, const agg_sfp_keep *keep, unsigned n_threads)
{
    memset(heavy, 0, sizeof *heavy);
    heavy->n_positions = shoal_sfp_positions(recipe);
    agg_sfp_text text;
    agg_sfp_text_init(&text, recipe);
    int64_t *support = agg_alloc(error, FRAGMENTS, sizeof *support);
    bool *possible = agg_alloc(error, PAIRS, sizeof *possible);
    agg_err err = support == NULL || possible == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (uint32_t p = 0; err == SHOAL_OK && p < heavy->n_positions; p++) {
        view v = view_of(recipe, acc, p);
        heavy->n[p] = v.n;
        if (v.n == 0) continue;
        agg_sfp_text_possible(possible, &text, p);
        err =
            find_position(heavy, error, &v, p, keep, possible, (double)acc->n, support, n_threads);
    }
    free(support);
    free(possible);
    return err;
}

void agg_sfp_heavy_release(agg_sfp_heavy *heavy)
{
    for (uint32_t p = 0; p < AGG_SFP_POSITIONS_MAX; p++) free(heavy->fragments[p]);
    memset(heavy, 0, sizeof *heavy);
}
