// SPDX-License-Identifier: Apache-2.0
// Joins fragments by hash byte; see sfp_join.h.
#include "sfp_join.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "sfp.h"
#include "sfp_text.h"

#define RISE 1.02 // factor of the cut from one try to the next

typedef struct join {
    const shoal_recipe *recipe;
    const agg_sfp_heavy *heavy;
    const agg_sfp_bounds *bounds;
    agg_sfp_text text;
    // Least score of the fragments of zero bytes from a position on; FLT_MAX beyond the last.
    float padding[AGG_SFP_HASHES][AGG_SFP_POSITIONS_MAX + 1];
} join;

// The search for the strings of one number of fragments and one hash byte.
typedef struct search {
    uint32_t hash, c;
    float cut;
    uint32_t n[AGG_SFP_POSITIONS_MAX]; // fragments of each position above the cut
    bool can_end[AGG_SFP_POSITIONS_MAX + 1]
                [AGG_SFP_STATES]; // whether any continuation of this state becomes whole
    uint32_t at[AGG_SFP_POSITIONS_MAX];
    uint8_t state[AGG_SFP_POSITIONS_MAX + 1];
    uint64_t steps; // steps left
} search;

static const agg_sfp_fragment *of_hash(const join *j, uint32_t position, uint32_t hash)
{
    const agg_sfp_fragment *all =
        j->heavy->fragments[position]; // NULL if a position has no fragments
    return all != NULL ? all + j->heavy->start[position][hash] : NULL;
}

static uint32_t count_of_hash(const join *j, uint32_t position, uint32_t hash)
{
    return j->heavy->start[position][hash + 1] - j->heavy->start[position][hash];
}

// Returns: how many fragments at the head of the list score at least the cut.
static uint32_t above(const join *j, uint32_t position, uint32_t hash, float cut)
{
    const agg_sfp_fragment *list = of_hash(j, position, hash);
    uint32_t low = 0, high = count_of_hash(j, position, hash);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle].score >= cut)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void find_padding(join *j)
{
    uint32_t last = j->heavy->n_positions;
    for (uint32_t hash = 0; hash < AGG_SFP_HASHES; hash++) {
        j->padding[hash][last] = FLT_MAX;
        for (uint32_t p = last; p-- > 0;) {
            float score = -FLT_MAX;
            const agg_sfp_fragment *list = of_hash(j, p, hash);
            for (uint32_t i = 0; i < count_of_hash(j, p, hash); i++)
                if (list[i].pair == 0) score = list[i].score;
            j->padding[hash][p] = fminf(score, j->padding[hash][p + 1]);
        }
    }
}

// Adds the products of one hash byte above a cut, by number of fragments.
static void count_products(double *products, const join *j, uint32_t hash, float cut)
{
    double ways[AGG_SFP_STATES] = {0};
    ways[AGG_SFP_NONE] = 1;
    for (uint32_t p = 0; p < j->heavy->n_positions; p++) {
        double next[AGG_SFP_STATES] = {0};
        const agg_sfp_fragment *list = of_hash(j, p, hash);
        uint32_t n = above(j, p, hash, cut);
        for (uint32_t i = 0; i < n; i++) {
            if (list[i].pair == 0) continue;
            for (uint32_t s = AGG_SFP_NONE; s < AGG_SFP_STATES; s++)
                if (ways[s] > 0) next[agg_sfp_text_pair(&j->text, s, list[i].pair)] += ways[s];
        }
        memcpy(ways, next, sizeof ways);
        ways[AGG_SFP_DEAD] = 0;
        if (j->padding[hash][p + 1] >= cut)
            products[p + 1] += ways[AGG_SFP_BETWEEN] + ways[AGG_SFP_ENDED];
    }
}

static float least_cut(const agg_sfp_heavy *heavy)
{
    double least = FLT_MAX;
    for (uint32_t p = 0; p < heavy->n_positions; p++)
        if (heavy->n[p] > 0) least = fmin(least, heavy->least[p]);
    return (float)fmax(least, 0.01); // the floor lets the cut rise
}

// Writes, for each number of fragments, the least cut that keeps to the bound of products.
static void find_cuts(agg_sfp_candidates *out, const join *j)
{
    double *cuts = out->cut;
    uint32_t last = j->heavy->n_positions, n_open = last;
    for (uint32_t c = 1; c <= last; c++) cuts[c] = 0;
    out->least = (double)least_cut(j->heavy);
    for (float cut = (float)out->least; n_open > 0; cut *= (float)RISE) {
        double products[AGG_SFP_POSITIONS_MAX + 1] = {0};
        for (uint32_t hash = 0; hash < AGG_SFP_HASHES; hash++)
            count_products(products, j, hash, cut);
        for (uint32_t c = 1; c <= last; c++) {
            if (cuts[c] > 0 || products[c] > j->bounds->products) continue;
            cuts[c] = (double)cut;
            n_open--;
        }
    }
}

static void find_ends(search *s, const join *j)
{
    for (uint32_t state = 0; state < AGG_SFP_STATES; state++)
        s->can_end[s->c][state] = agg_sfp_text_is_whole(state);
    for (uint32_t p = s->c; p-- > 0;) {
        const agg_sfp_fragment *list = of_hash(j, p, s->hash);
        memset(s->can_end[p], 0, sizeof s->can_end[p]);
        for (uint32_t i = 0; i < s->n[p]; i++)
            for (uint32_t state = AGG_SFP_NONE; state < AGG_SFP_STATES && list[i].pair != 0;
                 state++)
                s->can_end[p][state] |=
                    s->can_end[p + 1][agg_sfp_text_pair(&j->text, state, list[i].pair)];
    }
}

// Adds the search's current string if its hash is right.
// Returns: SPACE if there is no more room.
static agg_err keep(agg_sfp_candidates *out, agg_error *error, const join *j, const search *s,
                    size_t room)
{
    agg_sfp_candidate candidate = {
        j->padding[s->hash][s->c], (uint8_t)s->c, (uint8_t)(2 * s->c), {0}};
    for (uint32_t p = 0; p < s->c; p++) {
        const agg_sfp_fragment *fragment = of_hash(j, p, s->hash) + s->at[p];
        candidate.bytes[2 * p] = (uint8_t)(fragment->pair >> 8);
        candidate.bytes[2 * p + 1] = (uint8_t)(fragment->pair & 255);
        candidate.strength = fminf(candidate.strength, fragment->score);
    }
    if (candidate.bytes[candidate.len - 1] == SHOAL_SFP_PAD) candidate.len--;
    if (shoal_sfp_hash(j->recipe, candidate.bytes, candidate.len) != s->hash) return SHOAL_OK;
    if (out->n - out->start[s->c] == room) return SHOAL_ERR_SPACE;
    agg_err err = agg_grow((void **)&out->list, &out->cap, out->n + 1, sizeof *out->list, error);
    if (err == SHOAL_OK) out->list[out->n++] = candidate;
    return err;
}

// Finds the next fragment at the search's depth, from `at` on, after which a string can still end.
// Returns: whether there is one.
static bool find_next(search *s, const join *j, uint32_t depth)
{
    const agg_sfp_fragment *list = of_hash(j, depth, s->hash);
    for (; s->at[depth] < s->n[depth] && s->steps > 0; s->at[depth]++, s->steps--) {
        uint32_t pair = list[s->at[depth]].pair,
                 next = agg_sfp_text_pair(&j->text, s->state[depth], pair);
        if (pair == 0 || !s->can_end[depth + 1][next]) continue;
        s->state[depth + 1] = (uint8_t)next;
        return true;
    }
    return false;
}

static agg_err search_hash(agg_sfp_candidates *out, agg_error *error, const join *j, search *s)
{
    agg_err err = SHOAL_OK;
    uint32_t depth = 0;
    for (uint32_t p = 0; p < s->c; p++) s->n[p] = above(j, p, s->hash, s->cut);
    if (j->padding[s->hash][s->c] < s->cut) return SHOAL_OK;
    find_ends(s, j);
    s->at[0] = 0;
    s->state[0] = AGG_SFP_NONE;
    while (err == SHOAL_OK && s->steps > 0) {
        if (!find_next(s, j, depth)) {
            if (depth == 0) break;
            s->at[--depth]++;
        } else if (depth + 1 < s->c) {
            s->at[++depth] = 0;
        } else {
            err = keep(out, error, j, s, j->bounds->candidates);
            s->at[depth]++;
            s->steps--;
        }
    }
    return err;
}

static int compare_candidates(const void *a, const void *b)
{
    const agg_sfp_candidate *x = a, *y = b;
    if (x->strength != y->strength) return x->strength < y->strength ? 1 : -1;
    return memcmp(x->bytes, y->bytes, sizeof x->bytes);
}

// Joins all strings of c fragments. If there is no room for them, the cut rises until there is.
static agg_err join_number(agg_sfp_candidates *out, agg_error *error, const join *j, uint32_t c)
{
    agg_err err;
    do {
        search s = {.c = c, .cut = (float)out->cut[c], .steps = j->bounds->steps};
        out->n = out->start[c];
        err = SHOAL_OK;
        for (s.hash = 0; err == SHOAL_OK && s.hash < AGG_SFP_HASHES; s.hash++)
            err = search_hash(out, error, j, &s);
        out->is_exhausted[c] = s.steps == 0;
        if (err == SHOAL_ERR_SPACE) out->cut[c] *= RISE;
    } while (err == SHOAL_ERR_SPACE);
    if (err == SHOAL_OK && out->n > out->start[c])
        qsort(out->list + out->start[c], out->n - out->start[c], sizeof *out->list,
              compare_candidates);
    return err;
}

agg_err agg_sfp_join(agg_sfp_candidates *out, agg_error *error, const shoal_recipe *recipe,
                     const agg_sfp_heavy *heavy, const agg_sfp_bounds *bounds)
{
    memset(out, 0, sizeof *out);
    join *j = agg_alloc(error, 1, sizeof *j);
    if (j == NULL) return AGG_ERR_MEMORY;
    j->recipe = recipe;
    j->heavy = heavy;
    j->bounds = bounds;
    agg_sfp_text_init(&j->text, recipe);
    find_padding(j);
    find_cuts(out, j);
    agg_err err = SHOAL_OK;
    for (uint32_t c = 1; err == SHOAL_OK && c <= heavy->n_positions; c++) {
        out->start[c] = out->n;
        err = join_number(out, error, j, c);
        out->start[c + 1] = out->n;
    }
    free(j);
    return err;
}

void agg_sfp_candidates_release(agg_sfp_candidates *candidates)
{
    free(candidates->list);
    memset(candidates, 0, sizeof *candidates);
}
