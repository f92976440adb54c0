// SPDX-License-Identifier: Apache-2.0
// Choosing the next round's prefixes; see next_prefixes.h.
#include "next_prefixes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "event.h"
#include "item_label.h"
#include "multiple.h"

// A sequence: a prefix followed by a listed token.
typedef struct sequence {
    uint32_t bucket;
    double score, count;
} sequence;

#define TENTH 1.2816 // standard errors below the mean, of the lowest tenth of a normal law
#define TENTH_ERROR                                                                                \
    1.7094 // standard error of that tenth in a sample of one: sqrt(0.1 * 0.9) / density there

static int compare_counts(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Lowers *random to the bound that the lowest tenth of the counts gives: with more random answers
// that tenth would be higher.
static agg_err bound_by_tenth(double *most, agg_error *error, const sequence *all, size_t n,
                              double noise)
{
    double *counts = agg_alloc(error, n, sizeof *counts);
    if (counts == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) counts[i] = all[i].count;
    qsort(counts, n, sizeof *counts, compare_counts);
    *most = fmin(*most, counts[n / 10] + noise * (TENTH + 2 * TENTH_ERROR / sqrt((double)n)));
    free(counts);
    return SHOAL_OK;
}

static agg_err find_random(double *random, agg_error *error, const shoal_encoded *field,
                           const agg_count *counts, uint64_t n_reports, const sequence *all,
                           size_t n)
{
    double noise = counts[0].null_error, most = counts[0].count + 2 * counts[0].stderr_;
    agg_err err = SHOAL_OK;
    *random = fmin(most, (double)n_reports / field->size);
    if (*random > noise / 8)
        err = bound_by_tenth(random, error, all, n,
                             noise); // a smaller bound is not worth the sorting
    *random = fmax(*random, 0);
    return err;
}

// Subtracts random answers from a count and scores the rest. The noise includes theirs, which is
// that of a Poisson number.
static void take_off(sequence *s, double noise, double random)
{
    if (!(random > 0)) return;
    s->score = (s->score * noise - random) / sqrt(noise * noise + random);
    s->count -= random;
}

static agg_err list_sequences(sequence **all, size_t *n, agg_error *error,
                              const shoal_encoded *field, const agg_count *counts)
{
    uint32_t prefix = 0, token = 0;
    sequence *list = agg_alloc(error, field->size, sizeof *list);
    *n = 0;
    if (list == NULL) return AGG_ERR_MEMORY;
    for (uint32_t b = 0; b < field->size; b++)
        if (shoal_encoded_next_of(&prefix, &token, field, b) && token < field->tokens.count)
            list[(*n)++] = (sequence){b, counts[b].score, counts[b].count};
    *all = list;
    return SHOAL_OK;
}

static agg_err find_least(double *least, agg_error *error, const sequence *all, size_t n,
                          double fdr)
{
    double *scores = agg_alloc(error, n, sizeof *scores);
    if (scores == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) scores[i] = all[i].score;
    agg_err err = agg_multiple_least(least, error, scores, n, AGG_BH, fdr);
    free(scores);
    return err;
}

static int by_strength(const void *a, const void *b)
{
    const sequence *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static int by_text(const void *a, const void *b)
{
    return agg_text_compare(*(const agg_text *)a, *(const agg_text *)b);
}

// Moves the sequences that may be kept to the front. Returns: their number.
static size_t take_frequent(agg_next_prefixes *next, sequence *all, const agg_recipe *recipe,
                            uint32_t field)
{
    size_t n = 0;
    for (size_t i = 0; i < next->n_asked; i++) {
        if (!(all[i].score >= next->least)) continue;
        next->n_frequent++;
        bool is_shown = all[i].count >= (double)recipe->recipe.release_threshold;
        if (is_shown &&
            agg_recipe_bucket_label(NULL, 0, recipe, field, all[i].bucket) <= SHOAL_TOKEN_TEXT_MAX)
            all[n++] = all[i];
    }
    next->n_withheld = next->n_frequent - n;
    return n;
}

// Finds how many bytes the texts have, each with a NUL. In a recipe each takes at least two bytes
// more.
static agg_err find_room(size_t *room, agg_error *error, const agg_next_prefixes *next,
                         const agg_recipe *recipe, uint32_t field, const sequence *kept)
{
    *room = 0;
    for (size_t i = 0; i < next->n && *room + 2 * i <= AGG_RECIPE_FILE_MAX; i++)
        *room += agg_recipe_bucket_label(NULL, 0, recipe, field, kept[i].bucket) + 1;
    if (*room + 2 * next->n <= AGG_RECIPE_FILE_MAX) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                    "the next recipe would have %zu prefixes, but a recipe has at most %zu bytes: "
                    "ask for fewer prefixes (--max-prefixes)",
                    next->n, AGG_RECIPE_FILE_MAX);
}

static agg_err write_texts(agg_next_prefixes *next, agg_error *error, const agg_recipe *recipe,
                           uint32_t field, const sequence *kept)
{
    size_t room = 0, used = 0;
    agg_err err = find_room(&room, error, next, recipe, field, kept);
    if (err != SHOAL_OK) return err;
    next->texts = agg_alloc(error, next->n, sizeof *next->texts);
    next->pool = agg_alloc(error, room, 1);
    if (next->texts == NULL || next->pool == NULL) {
        agg_next_prefixes_release(next);
        return AGG_ERR_MEMORY;
    }
    next->least_count = next->n > 0 ? HUGE_VAL : 0;
    for (size_t i = 0; i < next->n; i++) {
        char *text = next->pool + used;
        next->texts[i] = (agg_text){
            text, agg_recipe_bucket_label(text, room - used, recipe, field, kept[i].bucket)};
        used += next->texts[i].len + 1;
        next->least_count = fmin(next->least_count, kept[i].count);
        next->kept_count += kept[i].count;
    }
    if (next->n > 0) qsort(next->texts, next->n, sizeof *next->texts, by_text);
    return SHOAL_OK;
}

agg_err agg_next_prefixes_choose(agg_next_prefixes *next, agg_error *error,
                                 const agg_recipe *recipe, uint32_t field, const agg_count *counts,
                                 uint64_t n, double fdr, size_t most)
{
    sequence *all = NULL;
    const shoal_encoded *encoded = &recipe->recipe.encoding.fields[field];
    *next = (agg_next_prefixes){.least = HUGE_VAL};
    agg_err err = list_sequences(&all, &next->n_asked, error, encoded, counts);
    if (err != SHOAL_OK) return err;
    err = find_random(&next->random, error, encoded, counts, n, all, next->n_asked);
    for (size_t i = 0; i < next->n_asked; i++)
        take_off(&all[i], counts[all[i].bucket].null_error, next->random);
    if (err == SHOAL_OK) err = find_least(&next->least, error, all, next->n_asked, fdr);
    if (err == SHOAL_OK) {
        size_t n_shown = take_frequent(next, all, recipe, field);
        qsort(all, n_shown, sizeof *all, by_strength);
        next->n = n_shown < most ? n_shown : most;
        err = write_texts(next, error, recipe, field, all);
    }
    free(all);
    return err;
}

uint64_t agg_next_prefixes_memory(const shoal_recipe *recipe, uint32_t field)
{
    return recipe->encoding.fields[field].size *
           (sizeof(sequence) + 2 * sizeof(double)); // the scores, unsorted and sorted
}

void agg_next_prefixes_release(agg_next_prefixes *next)
{
    free(next->texts);
    free(next->pool);
    next->texts = NULL;
    next->pool = NULL;
}

size_t agg_next_prefixes_fit(const shoal_recipe *recipe, uint32_t field, size_t n_tokens)
{
    size_t others = 1;
    for (uint32_t i = 0; i < recipe->encoding.n_fields; i++)
        if (i != field) others *= recipe->encoding.fields[i].size;
    return (SHOAL_DOMAIN_SIZE_MAX / others - 1) /
           (n_tokens +
            2); // each prefix: its end, other tokens, each token; and one bucket for the rest
}
