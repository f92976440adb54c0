// SPDX-License-Identifier: Apache-2.0
// Tests millions of candidates by decoding few of them; see ngram_strings.h.
#include "ngram_strings.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "normal_law.h"
#include "poly1.h"
#include "rappor.h"

#define ROUNDS_MAX (AGG_STRINGS_MAX / AGG_STRINGS_STRONGEST + 2)
#define DECODED_MAX (AGG_STRINGS_MAX + AGG_STRINGS_STRONGEST)

typedef struct tester {
    const shoal_part *part;
    const agg_sketch *sketch;
    const uint64_t *items;
    size_t n_items;
    double n, p, gap;  // reports; p*; q* - p*
    double least;      // the score that passes
    shoal_poly1 *rows; // hash rows of every cohort and hash
    float *left;   // [cohort][bit]: what the bit still holds above the cohort's mean, in reports
    double spread; // standard deviation of `left` over the cohorts with reports
    float *scores; // n_items: how far `left` stands out in an item's bits
    size_t n_passed, n_decoded;
    size_t *chosen; // DECODED_MAX: the n_passed that passed, then others
    uint64_t *chosen_items;
    agg_count *counts;
} tester;

// Writes the bits of an item in a cohort, each once.
// Returns: the number of bits.
static uint32_t bits_of(uint32_t bits[SHOAL_RAPPOR_HASHES_MAX], const tester *t, uint32_t cohort,
                        uint64_t point)
{
    uint32_t n = 0;
    for (uint32_t h = 0; h < t->part->hashes; h++) {
        uint32_t bit = shoal_poly1_hash(&t->rows[shoal_rappor_row(t->part, cohort, h)], point,
                                        t->part->m),
                 at = 0;
        while (at < n && bits[at] != bit) at++;
        if (at == n) bits[n++] = bit;
    }
    return n;
}

// Subtracts the estimated counts of the passed candidates from the reports.
static void set_left(tester *t)
{
    uint32_t m = t->part->m, bits[SHOAL_RAPPOR_HASHES_MAX];
    double squares = 0, used = 0;
    for (uint32_t c = 0; c < t->part->k; c++) {
        float *left = t->left + (size_t)c * m;
        double reports = t->sketch->rows[c], mean = 0;
        for (uint32_t b = 0; b < m; b++)
            left[b] = (float)((t->sketch->cells.ones[(size_t)c * m + b] - t->p * reports) / t->gap);
        for (size_t i = 0; i < t->n_passed; i++) {
            uint32_t n = bits_of(bits, t, c, shoal_poly1_point(t->chosen_items[i]));
            for (uint32_t e = 0; e < n; e++)
                left[bits[e]] -= (float)(t->counts[i].count * reports / t->n);
        }
        for (uint32_t b = 0; b < m; b++) mean += (double)left[b] / m;
        for (uint32_t b = 0; b < m; b++) {
            left[b] = reports > 0 ? (float)((double)left[b] - mean) : 0;
            squares += (double)left[b] * (double)left[b];
        }
        used += reports > 0 ? m : 0;
    }
    t->spread = used > 0 ? sqrt(squares / used) : 0;
}

static void score(void *context, unsigned part, unsigned n_parts)
{
    tester *t = context;
    size_t first = t->n_items / n_parts * part,
           last = part + 1 == n_parts ? t->n_items : t->n_items / n_parts * (part + 1);
    uint32_t bits[SHOAL_RAPPOR_HASHES_MAX];
    for (size_t i = first; i < last; i++) {
        uint64_t point = shoal_poly1_point(t->items[i]);
        double sum = 0, n_bits = 0;
        for (uint32_t c = 0; c < t->part->k; c++) {
            if (t->sketch->rows[c] == 0) continue;
            uint32_t n = bits_of(bits, t, c, point);
            for (uint32_t e = 0; e < n; e++)
                sum += (double)t->left[(size_t)c * t->part->m + bits[e]];
            n_bits += n;
        }
        double spread = t->spread * sqrt(n_bits);
        t->scores[i] = spread > 0 ? (float)(sum / spread) : 0;
    }
}

static bool has_passed(const tester *t, size_t item)
{
    for (size_t i = 0; i < t->n_passed; i++)
        if (t->chosen[i] == item) return true;
    return false;
}

// Appends the strongest others to the passed candidates, by falling score; among equals the first
// item comes first.
static void choose_strongest(tester *t)
{
    size_t first = t->n_passed, n = 0;
    size_t *list = t->chosen + first;
    for (size_t i = 0; i < t->n_items; i++) {
        if (n == AGG_STRINGS_STRONGEST && !(t->scores[i] > t->scores[list[n - 1]])) continue;
        if (!(t->scores[i] > 0) || has_passed(t, i)) continue;
        size_t at = n < AGG_STRINGS_STRONGEST ? n++ : n - 1;
        for (; at > 0 && t->scores[i] > t->scores[list[at - 1]]; at--) list[at] = list[at - 1];
        list[at] = i;
    }
    t->n_decoded = first + n;
}

static agg_err decode(tester *t, agg_error *error, unsigned n_threads)
{
    for (size_t i = 0; i < t->n_decoded; i++) t->chosen_items[i] = t->items[t->chosen[i]];
    if (t->n_decoded == 0) return SHOAL_OK;
    return agg_estimator_counts(t->counts, error, t->part, t->sketch, (uint64_t)t->n,
                                t->chosen_items, t->n_decoded, n_threads);
}

// Moves the candidates that pass to the front, in order of their index. The result thus does not
// depend on the order of earlier rounds.
static void keep_passed(tester *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_decoded && n < AGG_STRINGS_MAX; i++) {
        if (!(t->counts[i].score >= t->least)) continue;
        size_t item = t->chosen[i], at = n++;
        agg_count count = t->counts[i];
        t->chosen_items[at] = t->items[item];
        for (; at > 0 && t->chosen[at - 1] > item; at--) {
            t->chosen[at] = t->chosen[at - 1];
            t->counts[at] = t->counts[at - 1];
        }
        t->chosen[at] = item;
        t->counts[at] = count;
    }
    for (size_t i = 0; i < n; i++) t->chosen_items[i] = t->items[t->chosen[i]];
    t->n_passed = n;
}

static agg_err copy_passed(const tester *t, agg_strings_found *found, agg_error *error)
{
    agg_err err =
        agg_grow((void **)&found->rows, &found->cap, t->n_passed, sizeof *found->rows, error);
    for (size_t i = 0; err == SHOAL_OK && i < t->n_passed; i++)
        found->rows[found->n++] = (agg_string_found){t->chosen[i], t->counts[i]};
    return err;
}

static agg_err allocate(tester *t, agg_error *error)
{
    size_t n_rows = (size_t)t->part->k * t->part->hashes;
    t->rows = agg_alloc(error, n_rows, sizeof *t->rows);
    t->left = agg_alloc(error, (size_t)t->part->k * t->part->m, sizeof *t->left);
    t->scores = agg_alloc(error, t->n_items, sizeof *t->scores);
    t->chosen = agg_alloc(error, DECODED_MAX, sizeof *t->chosen);
    t->chosen_items = agg_alloc(error, DECODED_MAX, sizeof *t->chosen_items);
    t->counts = agg_alloc(error, DECODED_MAX, sizeof *t->counts);
    bool is_full = t->rows != NULL && t->left != NULL && t->scores != NULL && t->chosen != NULL &&
                   t->chosen_items != NULL && t->counts != NULL;
    if (!is_full) return AGG_ERR_MEMORY;
    for (size_t j = 0; j < n_rows; j++) shoal_poly1_row(&t->rows[j], t->part->seed, (uint32_t)j);
    return SHOAL_OK;
}

// Decodes in rounds until one finds nothing new, then decodes the passed candidates alone.
static agg_err run_rounds(tester *t, unsigned *rounds, agg_error *error, unsigned n_threads)
{
    agg_err err = SHOAL_OK;
    size_t before = SIZE_MAX;
    for (*rounds = 0; err == SHOAL_OK && *rounds < ROUNDS_MAX; ++*rounds) {
        if (t->n_passed == before || t->n_passed == AGG_STRINGS_MAX) break;
        before = t->n_passed;
        set_left(t);
        agg_parallel(n_threads > 0 ? n_threads : 1, score, t);
        choose_strongest(t);
        err = decode(t, error, n_threads);
        if (err == SHOAL_OK) keep_passed(t);
    }
    t->n_decoded = t->n_passed;
    if (err == SHOAL_OK) err = decode(t, error, n_threads);
    if (err == SHOAL_OK) keep_passed(t);
    return err;
}

agg_err agg_ngram_strings_test(agg_strings_found *found, agg_error *error, const shoal_part *part,
                               const agg_sketch *sketch, uint64_t n, const uint64_t *items,
                               size_t n_items, double alpha, unsigned n_threads)
{
    uint64_t p_star = 0, q_star = 0;
    shoal_rappor_effective(&p_star, &q_star, part);
    memset(found, 0, sizeof *found);
    found->least = n_items > 0 ? -agg_normal_quantile(alpha / (double)n_items) : 0;
    tester t = {.part = part,
                .sketch = sketch,
                .items = items,
                .n_items = n_items,
                .n = (double)n,
                .p = (double)p_star * 0x1p-64,
                .gap = (double)(q_star - p_star) * 0x1p-64,
                .least = found->least};
    if (n_items == 0 || n == 0) return SHOAL_OK;
    agg_err err = allocate(&t, error);
    if (err == SHOAL_OK) err = run_rounds(&t, &found->rounds, error, n_threads);
    if (err == SHOAL_OK) err = copy_passed(&t, found, error);
    free(t.rows);
    free(t.left);
    free(t.scores);
    free(t.chosen);
    free(t.chosen_items);
    free(t.counts);
    return err;
}

void agg_strings_found_release(agg_strings_found *found)
{
    free(found->rows);
    memset(found, 0, sizeof *found);
}
