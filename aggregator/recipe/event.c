// SPDX-License-Identifier: Apache-2.0
// Maps events to cells; see event.h.
#include "event.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "json_walk.h"
#include "recipe.h"
#include "text_rule.h"
#include "trie.h"

#define LARGEST 9e12 // the largest number whose millionths fit an int64_t

static const cJSON *member(const cJSON *event, const shoal_name *field)
{
    char name[SHOAL_NAME_MAX + 1] = "";
    memcpy(name, field->bytes, field->len);
    return cJSON_GetObjectItemCaseSensitive(event, name);
}

static agg_text text_of(const cJSON *value)
{
    return (agg_text){value->valuestring, strlen(value->valuestring)};
}

// Takes the first `depth` tokens off a text and joins them with single spaces.
// Returns: false if there are fewer tokens or they are longer than any listed prefix.
static bool take_prefix(char out[SHOAL_TOKEN_TEXT_MAX + 1], agg_text *prefix, agg_text *text,
                        uint32_t depth)
{
    agg_text token;
    size_t len = 0;
    for (uint32_t i = 0; i < depth; i++) {
        if (!agg_text_take_token(&token, text) || len + (i > 0) + token.len > SHOAL_TOKEN_TEXT_MAX)
            return false;
        if (i > 0) out[len++] = ' ';
        memcpy(out + len, token.bytes, token.len);
        len += token.len;
    }
    *prefix = (agg_text){out, len};
    return true;
}

static uint32_t token_bucket(const shoal_encoded *field, const agg_list lists[SHOAL_ENCODED_LISTS],
                             agg_text text)
{
    char joined[SHOAL_TOKEN_TEXT_MAX + 1];
    agg_text prefix, next;
    if (!take_prefix(joined, &prefix, &text, field->depth)) return 0;
    uint32_t index = agg_list_find(&lists[SHOAL_LIST_PREFIXES],
                                   prefix); // AGG_NOT_LISTED equals SHOAL_NOT_LISTED
    if (!agg_text_take_token(&next, &text)) return shoal_encoded_next(field, index, SHOAL_NEXT_END);
    return shoal_encoded_next(field, index, agg_list_find(&lists[SHOAL_LIST_TOKENS], next));
}

// Starts and characters are whole code points. The bucket says nothing about the characters beyond
// the step but that the word goes on.
static uint32_t word_bucket(const shoal_encoded *field, const agg_list lists[SHOAL_ENCODED_LISTS],
                            agg_text word)
{
    uint32_t characters[SHOAL_STEP_MAX], n = 0, step = field->step > 0 ? field->step : 1;
    size_t at = agg_characters_size(word, field->depth);
    if (at == SIZE_MAX) return 0;
    uint32_t start = agg_list_find(&lists[SHOAL_LIST_STARTS], (agg_text){word.bytes, at});
    for (; n < step && at < word.len; n++) {
        agg_text left = {word.bytes + at, word.len - at};
        left.len = agg_characters_size(left, 1);
        characters[n] = agg_list_find(&lists[SHOAL_LIST_CHARACTERS], left);
        at += left.len;
    }
    return shoal_encoded_next(field, start, shoal_encoded_run(field, characters, n));
}

// Returns: the nearest millionth, halves rounded up as JavaScript's Math.round does.
static int64_t nearest(double x)
{
    double micro = fmin(fmax(x, -LARGEST), LARGEST) * 1e6, below = floor(micro);
    return (int64_t)below + (micro - below >= 0.5);
}

static uint32_t bucket_of(const agg_recipe *recipe, uint32_t i, const cJSON *event)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[i];
    const cJSON *value = member(event, &field->field);
    if (field->scheme == SHOAL_SCHEME_NUMBER) {
        if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble)) return 0;
        return shoal_encoded_number(field, nearest(value->valuedouble));
    }
    if (!cJSON_IsString(value)) return 0;
    if (field->scheme == SHOAL_SCHEME_TOKENS)
        return token_bucket(field, recipe->lists[i], text_of(value));
    if (field->scheme == SHOAL_SCHEME_CHARACTERS)
        return word_bucket(field, recipe->lists[i], text_of(value));
    return shoal_encoded_value(field,
                               agg_list_find(&recipe->lists[i][SHOAL_LIST_VALUES], text_of(value)));
}

// Returns: whether devices of a trie report a word.
static bool is_reported(const agg_recipe *recipe, uint32_t bucket, agg_text word)
{
    return shoal_trie_is_answer(&recipe->recipe->encoding.fields[0], bucket) &&
           agg_list_find(&recipe->known, word) == AGG_NOT_LISTED;
}

bool agg_recipe_event_item(uint64_t *item, const agg_recipe *recipe, const cJSON *event)
{
    const shoal_encoding *encoding = &recipe->recipe->encoding;
    uint32_t buckets[SHOAL_ENCODED_MAX];
    int matches = 1;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        buckets[i] = bucket_of(recipe, i, event);
        matches &= buckets[i] != 0 || encoding->fields[i].scheme < SHOAL_SCHEME_TOKENS;
    }
    *item = shoal_encoding_item(encoding, buckets);
    if (recipe->recipe->contributions == 0) return matches;
    const cJSON *word = member(event, &encoding->fields[0].field);
    return cJSON_IsString(word) && is_reported(recipe, buckets[0], text_of(word));
}

bool agg_recipe_word_item(uint64_t *item, const agg_recipe *recipe, agg_text word)
{
    const shoal_encoded *field = &recipe->recipe->encoding.fields[0];
    *item = word_bucket(field, recipe->lists[0], word);
    return recipe->recipe->contributions > 0 ? is_reported(recipe, (uint32_t)*item, word)
                                             : *item != 0;
}

bool agg_recipe_event_is_part(const agg_recipe *recipe, const cJSON *event)
{
    const shoal_recipe *r = recipe->recipe;
    for (uint32_t i = 0; i < r->n_part; i++) {
        const cJSON *value = member(event, &r->splits[i].field);
        uint32_t index = cJSON_IsString(value) ? agg_list_find(&recipe->splits[i], text_of(value))
                                               : AGG_NOT_LISTED;
        agg_text part =
            index == AGG_NOT_LISTED ? (agg_text){"other", 5} : recipe->splits[i].texts[index];
        if (agg_text_compare(part, (agg_text){r->part[i].bytes, r->part[i].len}) != 0) return false;
    }
    return true;
}

bool agg_event_is_kept(const agg_recipe *recipe, const cJSON *event)
{
    const shoal_encoding *encoding = &recipe->recipe->encoding;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        const shoal_encoded *field = &encoding->fields[i];
        const cJSON *value = member(event, &field->field);
        size_t joined;
        if (field->scheme == SHOAL_SCHEME_NUMBER || !cJSON_IsString(value)) continue;
        if (field->scheme == SHOAL_SCHEME_TOKENS
                ? !agg_tokens_are_kept(&joined, recipe->recipe, text_of(value))
                : !agg_entry_is_kept(recipe->recipe, text_of(value), false))
            return false;
    }
    return true;
}
