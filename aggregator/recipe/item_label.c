// SPDX-License-Identifier: Apache-2.0
// Writes labels of buckets, cells and items; see item_label.h.
#include "item_label.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "recipe.h"

// Returns: the least number in bucket i, in millionths: exactly the least that
// shoal_recipe_number_item maps there.
static int64_t lower_end(const shoal_recipe *r, uint32_t i)
{
    uint64_t width = (uint64_t)r->high_micro - (uint64_t)r->low_micro,
             size = shoal_recipe_value_part(r)->size;
    uint64_t rest = width % size * i; // below 2^48
    return (int64_t)((uint64_t)r->low_micro + width / size * i + rest / size + (rest % size > 0));
}

int agg_bucket_print(char out[AGG_LABEL_MAX], const shoal_recipe *recipe, uint32_t i)
{
    char low[AGG_MICRO_MAX], high[AGG_MICRO_MAX];
    bool is_last = i + 1 == shoal_recipe_value_part(recipe)->size;
    agg_micro_print(low, lower_end(recipe, i));
    agg_micro_print(high, lower_end(recipe, i + 1));
    return snprintf(out, AGG_LABEL_MAX, "[%s, %s%c", low, high, is_last ? ']' : ')');
}

typedef struct label {
    char *out;
    size_t cap, len;
} label;

static label start_label(char *out, size_t cap)
{
    if (cap > 0) out[0] = '\0';
    return (label){out, cap, 0};
}

static void put(label *l, const char *bytes, size_t len)
{
    if (l->cap > 0 && l->len < l->cap - 1) {
        size_t room = l->cap - 1 - l->len, fits = len < room ? len : room;
        memcpy(l->out + l->len, bytes, fits);
        l->out[l->len + fits] = '\0';
    }
    l->len += len;
}

static void put_text(label *l, const char *text)
{
    put(l, text, strlen(text));
}

static void put_micro(label *l, int64_t micro)
{
    char text[AGG_MICRO_MAX];
    put(l, text, (size_t)agg_micro_print(text, micro));
}

static void put_range(label *l, const shoal_encoded *field, uint32_t bucket)
{
    put_text(l, "[");
    put_micro(l, field->boundaries[bucket - 1]);
    put_text(l, ",");
    if (bucket < field->n_boundaries)
        put_micro(l, field->boundaries[bucket]);
    else
        put_text(l, "inf");
    put_text(l, ")");
}

static void put_entry(label *l, const agg_list *list, uint32_t index)
{
    put(l, list->texts[index].bytes, list->texts[index].len);
}

// Appends the characters that follow a start, and "<end>" if they do not fill the step.
static void put_run(label *l, const shoal_encoded *field, const agg_list *characters, uint32_t next)
{
    uint32_t indices[SHOAL_STEP_MAX], step = field->step > 0 ? field->step : 1;
    uint32_t n = shoal_encoded_run_of(indices, field, next);
    for (uint32_t i = 0; i < n; i++) put_entry(l, characters, indices[i]);
    if (n < step) put_text(l, "<end>");
}

static void put_next(label *l, const shoal_encoded *field,
                     const agg_list lists[SHOAL_ENCODED_LISTS], uint32_t bucket)
{
    uint32_t prefix = 0, next = 0;
    bool is_word = field->scheme == SHOAL_SCHEME_CHARACTERS;
    if (!shoal_encoded_next_of(&prefix, &next, field, bucket)) return;
    put_entry(l, &lists[is_word ? SHOAL_LIST_STARTS : SHOAL_LIST_PREFIXES], prefix);
    if (field->depth > 0 && !is_word) put_text(l, " ");
    if (next == SHOAL_NEXT_END)
        put_text(l, "<end>");
    else if (next == SHOAL_NOT_LISTED)
        put_text(l, "<oov>");
    else if (is_word)
        put_run(l, field, &lists[SHOAL_LIST_CHARACTERS], next);
    else
        put_entry(l, &lists[SHOAL_LIST_TOKENS], next);
}

static void put_bucket(label *l, const agg_recipe *recipe, uint32_t i, uint32_t bucket)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[i];
    if (bucket == 0 && field->prefixes.count > 0 && field->depth == 0)
        put_text(l,
                 "<none>"); // "<oov>" is a first token that is not listed
    else if (bucket == 0)
        put_text(l, "<oov>");
    else if (field->scheme == SHOAL_SCHEME_NUMBER)
        put_range(l, field, bucket);
    else if (field->scheme == SHOAL_SCHEME_LIST)
        put_entry(l, &recipe->lists[i][SHOAL_LIST_VALUES], bucket - 1);
    else
        put_next(l, field, recipe->lists[i], bucket);
}

size_t agg_recipe_bucket_label(char *out, size_t cap, const agg_recipe *recipe, uint32_t field,
                               uint32_t bucket)
{
    label l = start_label(out, cap);
    put_bucket(&l, recipe, field, bucket);
    return l.len;
}

size_t agg_recipe_label(char *out, size_t cap, const agg_recipe *recipe, uint64_t item)
{
    uint32_t buckets[SHOAL_ENCODED_MAX];
    label l = start_label(out, cap);
    shoal_encoding_buckets(buckets, &recipe->recipe->encoding, item);
    for (uint32_t i = 0; i < recipe->recipe->encoding.n_fields; i++) {
        if (i > 0) put_text(&l, " | ");
        put_bucket(&l, recipe, i, buckets[i]);
    }
    return l.len;
}
