// SPDX-License-Identifier: Apache-2.0
// Labels all values of a closed domain; see domain_dictionary.h.
#include "domain_dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "item_label.h"

// Writes the label of an item without a listed value: its index, its bucket of numbers, or "mean".
static int print_label(char out[AGG_LABEL_MAX], const shoal_recipe *r, uint32_t i)
{
    if (shoal_recipe_value_part(r)->domain == SHOAL_DOMAIN_NUMBER)
        return snprintf(out, AGG_LABEL_MAX, "mean");
    if (r->value != SHOAL_VALUE_NUMBER) return snprintf(out, AGG_LABEL_MAX, "%u", i);
    return agg_bucket_print(out, r, i);
}

static agg_err label_items(agg_dictionary *dictionary, agg_error *error, const shoal_recipe *recipe)
{
    size_t used = 0;
    dictionary->pool =
        agg_alloc(error, dictionary->n, recipe->value == SHOAL_VALUE_NUMBER ? AGG_LABEL_MAX : 9);
    if (dictionary->pool == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < dictionary->n; i++) {
        char label[AGG_LABEL_MAX];
        size_t len = (size_t)print_label(label, recipe, i);
        memcpy(dictionary->pool + used, label, len);
        dictionary->values[i] = (agg_text){dictionary->pool + used, len};
        used += len;
    }
    return SHOAL_OK;
}

// The labels of all buckets of one field, one after another in the pool.
typedef struct bucket_labels {
    agg_text *texts;
    char *pool;
    size_t len; // bytes of all labels
} bucket_labels;

static void release_buckets(bucket_labels *labels)
{
    free(labels->texts);
    free(labels->pool);
}

static agg_err label_buckets(bucket_labels *out, agg_error *error, const agg_recipe *recipe,
                             uint32_t field)
{
    uint32_t size = recipe->recipe.encoding.fields[field].size;
    *out = (bucket_labels){0};
    for (uint32_t b = 0; b < size; b++)
        out->len += agg_recipe_bucket_label(NULL, 0, recipe, field, b);
    out->texts = agg_alloc(error, size, sizeof *out->texts);
    out->pool = agg_alloc(error, out->len + 1, 1);
    if (out->texts == NULL || out->pool == NULL) {
        release_buckets(out);
        return AGG_ERR_MEMORY;
    }
    char *at = out->pool;
    for (uint32_t b = 0; b < size; b++) {
        size_t len = agg_recipe_bucket_label(at, AGG_BUCKET_LABEL_MAX, recipe, field, b);
        out->texts[b] = (agg_text){at, len};
        at += len;
    }
    return SHOAL_OK;
}

static void join_labels(agg_dictionary *dictionary, const shoal_encoding *encoding,
                        const bucket_labels *fields)
{
    char *at = dictionary->pool;
    uint32_t buckets[SHOAL_ENCODED_MAX];
    for (size_t item = 0; item < dictionary->n; item++) {
        char *start = at;
        shoal_encoding_buckets(buckets, encoding, item);
        for (uint32_t i = 0; i < encoding->n_fields; i++) {
            agg_text label = fields[i].texts[buckets[i]];
            if (i > 0) at = mempcpy(at, " | ", 3);
            at = mempcpy(at, label.bytes, label.len);
        }
        dictionary->values[item] = (agg_text){start, (size_t)(at - start)};
    }
}

// Labels every cell of the domain as agg_recipe_label does, but makes each bucket's label only
// once.
static agg_err label_cells(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe)
{
    const shoal_encoding *encoding = &recipe->recipe.encoding;
    bucket_labels fields[SHOAL_ENCODED_MAX] = {{0}};
    size_t bytes = dictionary->n * 3 * (encoding->n_fields - 1);
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; i < encoding->n_fields && err == SHOAL_OK; i++) {
        err = label_buckets(&fields[i], error, recipe, i);
        bytes += dictionary->n / encoding->fields[i].size * fields[i].len;
    }
    if (err == SHOAL_OK && (dictionary->pool = agg_alloc(error, bytes, 1)) == NULL)
        err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) join_labels(dictionary, encoding, fields);
    for (uint32_t i = 0; i < SHOAL_ENCODED_MAX; i++) release_buckets(&fields[i]);
    return err;
}

static void take_values(agg_dictionary *dictionary, const agg_list *values)
{
    for (uint32_t i = 0; i < values->n; i++)
        dictionary->values[i] = values->texts[i]; // the recipe outlives the dictionary
}

// Allocates a dictionary of the items 0 to n - 1.
static agg_err reserve_items(agg_dictionary *dictionary, agg_error *error, size_t n)
{
    memset(dictionary, 0, sizeof *dictionary);
    dictionary->n = n;
    dictionary->width = 1;
    dictionary->values = agg_alloc(error, n, sizeof *dictionary->values);
    dictionary->items = agg_alloc(error, n, sizeof *dictionary->items);
    if (dictionary->values == NULL || dictionary->items == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) dictionary->items[i] = i;
    return SHOAL_OK;
}

agg_err agg_dictionary_of_recipe(agg_dictionary *dictionary, agg_error *error,
                                 const agg_recipe *recipe)
{
    const shoal_part *part = shoal_recipe_value_part(&recipe->recipe);
    agg_err err = agg_dictionary_check(error, recipe);
    if (err != SHOAL_OK) return err;
    if (!agg_recipe_is_closed(recipe))
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                        "the recipe takes any string, so a dictionary is needed");
    err = reserve_items(dictionary, error, part->domain == SHOAL_DOMAIN_NUMBER ? 1 : part->size);
    if (err == SHOAL_OK) {
        if (recipe->values.n > 0)
            take_values(dictionary, &recipe->values);
        else if (recipe->recipe.encoding.n_fields > 0)
            err = label_cells(dictionary, error, recipe);
        else
            err = label_items(dictionary, error, &recipe->recipe);
    }
    if (err != SHOAL_OK) agg_dictionary_release(dictionary);
    return err;
}

agg_err agg_dictionary_of_field(agg_dictionary *dictionary, agg_error *error,
                                const agg_recipe *recipe, uint32_t field)
{
    bucket_labels labels;
    agg_err err = reserve_items(dictionary, error, recipe->recipe.encoding.fields[field].size);
    if (err == SHOAL_OK) err = label_buckets(&labels, error, recipe, field);
    if (err != SHOAL_OK) {
        agg_dictionary_release(dictionary);
        return err;
    }
    memcpy(dictionary->values, labels.texts, dictionary->n * sizeof *labels.texts);
    dictionary->pool = labels.pool;
    free(labels.texts);
    return SHOAL_OK;
}
