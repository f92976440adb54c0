// SPDX-License-Identifier: Apache-2.0
// Estimates of the library, as columns in the order of the question; see shoal_aggregate.h.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "domain_dictionary.h"
#include "estimate.h"
#include "library_call.h"
#include "recipe.h"

struct shoal_agg_estimate {
    shoal_agg_recipe *recipe; // held: texts may lie in it
    agg_dictionary dictionary;
    uint32_t *places; // of each row that was asked about, its entry in the dictionary
    size_t n_rows;
    double *numbers; // four columns
    uint8_t *flags;  // two columns
    shoal_agg_text *texts;
    shoal_agg_columns columns;
};

void shoal_agg_estimate_free(shoal_agg_estimate *estimate)
{
    if (estimate == NULL) return;
    agg_dictionary_release(&estimate->dictionary);
    shoal_agg_recipe_free(estimate->recipe);
    free(estimate->places);
    free(estimate->numbers);
    free(estimate->flags);
    free(estimate->texts);
    free(estimate);
}

// ---- the question ----

static agg_err reserve_places(shoal_agg_estimate *e, agg_error *error, size_t n)
{
    if (n > UINT32_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "more than 2^32 - 1 values");
    e->n_rows = n;
    e->places = agg_alloc(error, n, sizeof *e->places);
    return e->places != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err ask_all(shoal_agg_estimate *e, agg_error *error)
{
    agg_err err = agg_dictionary_of_recipe(&e->dictionary, error, &e->recipe->recipe);
    if (err == SHOAL_OK) err = reserve_places(e, error, e->dictionary.n);
    for (size_t i = 0; err == SHOAL_OK && i < e->n_rows; i++) e->places[i] = (uint32_t)i;
    return err;
}

static agg_err ask_texts(shoal_agg_estimate *e, agg_error *error, const shoal_agg_text *values,
                         size_t n)
{
    agg_err err = reserve_places(e, error, n);
    if (err != SHOAL_OK) return err;
    agg_text *texts = agg_alloc(error, n, sizeof *texts);
    if (texts == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n && err == SHOAL_OK; i++) {
        texts[i] = (agg_text){values[i].bytes, values[i].len};
        if (values[i].bytes == NULL)
            err = agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE, "value %zu is NULL", i);
        else if (memchr(values[i].bytes, 0, values[i].len) != NULL)
            err = agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "value %zu holds a NUL byte", i);
    }
    if (err == SHOAL_OK)
        err =
            agg_dictionary_of_texts(&e->dictionary, e->places, error, &e->recipe->recipe, texts, n);
    free(texts);
    return err;
}

// Keeps the entries of a dictionary of the whole domain that are asked about, each once.
static agg_err keep_indices(shoal_agg_estimate *e, agg_error *error, const uint64_t *indices)
{
    agg_dictionary *d = &e->dictionary;
    size_t kept = 0;
    uint32_t *place = agg_alloc(error, d->n, sizeof *place); // 1 + the place of an entry that stays
    if (place == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < e->n_rows; i++) place[indices[i]] = 1;
    for (size_t i = 0; i < d->n; i++) {
        if (place[i] == 0) continue;
        d->values[kept] = d->values[i];
        d->items[kept] = d->items[i];
        place[i] = (uint32_t)++kept;
    }
    for (size_t i = 0; i < e->n_rows; i++) e->places[i] = place[indices[i]] - 1;
    d->n = kept;
    free(place);
    return SHOAL_OK;
}

static agg_err ask_indices(shoal_agg_estimate *e, agg_error *error, const uint64_t *indices,
                           size_t n)
{
    agg_err err = agg_dictionary_of_recipe(&e->dictionary, error, &e->recipe->recipe);
    if (err == SHOAL_OK && n == 0)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "no value is asked about");
    for (size_t i = 0; i < n && err == SHOAL_OK; i++)
        if (indices[i] >= e->dictionary.n)
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                           "value %zu: index %llu is outside the recipe's list of %zu values", i,
                           (unsigned long long)indices[i], e->dictionary.n);
    if (err == SHOAL_OK) err = reserve_places(e, error, n);
    return err == SHOAL_OK ? keep_indices(e, error, indices) : err;
}

// ---- the answer ----

typedef struct keyed_row {
    const char *text; // where the value lies, which no two entries of a dictionary share
    const agg_estimate_row *row;
} keyed_row;

static int compare_keys(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const keyed_row *)a)->text,
              y = (uintptr_t)((const keyed_row *)b)->text;
    return (x > y) - (x < y);
}

static void fill_row(shoal_agg_estimate *e, size_t i, const keyed_row *found)
{
    const size_t n = e->n_rows;
    const agg_estimate_row *row = found != NULL ? found->row : NULL;
    e->numbers[i] = row != NULL ? row->count : NAN;
    e->numbers[n + i] = row != NULL ? row->stderr_ : NAN;
    e->numbers[2 * n + i] = row != NULL ? row->low : NAN;
    e->numbers[3 * n + i] = row != NULL ? row->high : NAN;
    e->flags[i] = row != NULL && row->detected;
    e->flags[n + i] = row == NULL;
}

static agg_err allocate_columns(shoal_agg_estimate *e, agg_error *error)
{
    size_t bytes = 0;
    if (!agg_size_multiply(&bytes, e->n_rows, 4 * sizeof *e->numbers))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    e->numbers = agg_alloc(error, bytes, 1);
    e->flags = agg_alloc(error, e->n_rows, 2);
    e->texts = agg_alloc(error, e->n_rows, sizeof *e->texts);
    return e->numbers == NULL || e->flags == NULL || e->texts == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
}

static agg_err fill_columns(shoal_agg_estimate *e, agg_error *error, const agg_estimate *answer)
{
    agg_err err = allocate_columns(e, error);
    if (err != SHOAL_OK) return err;
    keyed_row *keys = agg_alloc(error, answer->n_rows, sizeof *keys);
    if (keys == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < answer->n_rows; i++)
        keys[i] = (keyed_row){answer->rows[i].value.bytes, &answer->rows[i]};
    qsort(keys, answer->n_rows, sizeof *keys, compare_keys);
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_text *value = &e->dictionary.values[e->places[i]];
        const keyed_row key = {value->bytes, NULL};
        e->texts[i] = (shoal_agg_text){value->bytes, value->len};
        fill_row(e, i, bsearch(&key, keys, answer->n_rows, sizeof *keys, compare_keys));
    }
    free(keys);
    e->columns = (shoal_agg_columns){.size = sizeof e->columns,
                                     .n_rows = e->n_rows,
                                     .n_reports = answer->n,
                                     .confidence = answer->confidence,
                                     .n_withheld = answer->n_withheld,
                                     .n_alarms = answer->alarms.n_raised,
                                     .count = e->numbers,
                                     .standard_error = e->numbers + e->n_rows,
                                     .low = e->numbers + 2 * e->n_rows,
                                     .high = e->numbers + 3 * e->n_rows,
                                     .detected = e->flags,
                                     .withheld = e->flags + e->n_rows,
                                     .value = e->texts,
                                     .n_shards = answer->shards.n,
                                     .n_missing_shards = answer->shards.missing};
    return SHOAL_OK;
}

static agg_err answer(shoal_agg_estimate *e, agg_error *error, const agg_accumulator *acc,
                      const shoal_agg_estimate_options *o)
{
    agg_estimate result;
    const agg_estimate_options options = {.confidence = o->confidence,
                                          .multiple = o->multiple == SHOAL_AGG_BH ? AGG_BH
                                                      : o->multiple == SHOAL_AGG_NO_CORRECTION
                                                          ? AGG_NONE
                                                          : AGG_BONFERRONI,
                                          .n_threads = library_threads(o->n_threads)};
    agg_err err =
        agg_estimate_run(&result, error, &e->recipe->recipe, acc, &e->dictionary, &options);
    if (err != SHOAL_OK) return err;
    err = fill_columns(e, error, &result);
    agg_estimate_release(&result);
    return err;
}

// What is asked about: texts, places in the recipe's list, or with neither the whole list.
typedef struct question {
    const shoal_agg_text *texts;
    const uint64_t *indices;
    size_t n;
} question;

static agg_err estimate(shoal_agg_estimate *e, agg_error *error, shoal_agg_accumulator *accumulator,
                        const question *q, const shoal_agg_estimate_options *options)
{
    library_call call;
    agg_err err = library_enter(&call, error);
    if (err != SHOAL_OK) return err;
    if (options->incomplete == 0) err = agg_accumulator_check_whole(&accumulator->acc, error);
    // The minimum cohort comes first: no error may tell of values before it.
    if (err == SHOAL_OK) err = agg_estimate_check(error, &e->recipe->recipe, &accumulator->acc);
    if (err == SHOAL_OK)
        err = q->texts != NULL     ? ask_texts(e, error, q->texts, q->n)
              : q->indices != NULL ? ask_indices(e, error, q->indices, q->n)
                                   : ask_all(e, error);
    if (err == SHOAL_OK) err = answer(e, error, &accumulator->acc, options);
    library_leave(&call);
    return err;
}

// Sizes of structs in the first version of the header, which programs may still state.
#define FIRST_OPTIONS_SIZE offsetof(shoal_agg_estimate_options, incomplete)
#define FIRST_COLUMNS_SIZE offsetof(shoal_agg_columns, n_shards)

// Copies the members that the caller's version of the options has; the others are zeros.
static bool take_options(shoal_agg_estimate_options *all, const shoal_agg_estimate_options *options)
{
    *all = (shoal_agg_estimate_options){.size = sizeof *all};
    if (options == NULL) return true;
    if (options->size != sizeof *all && options->size != FIRST_OPTIONS_SIZE) return false;
    memcpy(all, options, options->size);
    return all->multiple <= SHOAL_AGG_NO_CORRECTION && all->incomplete <= 1;
}

static shoal_agg_code open_estimate(shoal_agg_estimate **out, shoal_agg_accumulator *accumulator,
                                    const question *q, const shoal_agg_estimate_options *options,
                                    shoal_agg_error *error)
{
    agg_error inner;
    shoal_agg_estimate_options all;
    if (!take_options(&all, options))
        return library_refuse(error, "the options state another size or an unknown choice");
    agg_err err = library_check(accumulator, &inner);
    if (err != SHOAL_OK) return library_fail(error, err, &inner);
    if (!(all.confidence >= 0 && all.confidence < 1)) {
        err = agg_fail(&inner, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                       "the confidence must lie between 0 and 1");
        return library_fail(error, err, &inner);
    }
    shoal_agg_estimate *e = agg_alloc(&inner, 1, sizeof *e);
    if (e == NULL) return library_fail(error, AGG_ERR_MEMORY, &inner);
    e->recipe = library_hold(accumulator->recipe);
    err = estimate(e, &inner, accumulator, q, &all);
    if (err == SHOAL_OK)
        *out = e;
    else
        shoal_agg_estimate_free(e);
    return library_fail(error, err, &inner);
}

shoal_agg_code shoal_agg_estimate_new(shoal_agg_estimate **estimate,
                                      shoal_agg_accumulator *accumulator,
                                      const shoal_agg_text *values, size_t n_values,
                                      const shoal_agg_estimate_options *options,
                                      shoal_agg_error *error)
{
    const question q = {.texts = values, .n = n_values};
    if (estimate == NULL || accumulator == NULL)
        return library_refuse(error, "an estimate and an accumulator are needed");
    return open_estimate(estimate, accumulator, &q, options, error);
}

shoal_agg_code shoal_agg_estimate_new_of_indices(shoal_agg_estimate **estimate,
                                                 shoal_agg_accumulator *accumulator,
                                                 const uint64_t *indices, size_t n_indices,
                                                 const shoal_agg_estimate_options *options,
                                                 shoal_agg_error *error)
{
    const question q = {.indices = indices, .n = n_indices};
    if (estimate == NULL || accumulator == NULL || indices == NULL)
        return library_refuse(error, "an estimate, an accumulator and indices are needed");
    return open_estimate(estimate, accumulator, &q, options, error);
}

shoal_agg_code shoal_agg_estimate_columns(shoal_agg_columns *columns,
                                          const shoal_agg_estimate *estimate,
                                          shoal_agg_error *error)
{
    size_t size = columns != NULL ? columns->size : 0;
    if (estimate == NULL || (size != sizeof *columns && size != FIRST_COLUMNS_SIZE))
        return library_refuse(error, "columns with their size, and an estimate, are needed");
    memcpy(columns, &estimate->columns, size);
    columns->size = size;
    return SHOAL_AGG_OK;
}
