// SPDX-License-Identifier: Apache-2.0
// Events and cells; see event.h.
#include "event.h"

#include <math.h>
#include <string.h>
#include <utf8proc.h>

#include "dictionary.h"
#include "json_walk.h"
#include "trie.h"

#define LARGEST 9e12 // a number whose millionths fit

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

static int is_space(int32_t point)
{
    return (point >= 9 && point <= 13) || point == ' ' || point == 0xa0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000 || point == 0xfeff;
}

// Bytes of the first character, which is (or is not) white space; 0 where it is the other, or there
// is none.
static size_t next_of(int space, agg_text text)
{
    utf8proc_int32_t point = -1;
    if (text.len == 0) return 0;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)text.bytes, (utf8proc_ssize_t)text.len, &point);
    if (used <= 0) used = 1;
    return is_space(point) == space ? (size_t)used : 0;
}

// Takes the first token off the text. Returns: whether there was one.
static int take_token(agg_text *token, agg_text *text)
{
    for (size_t used; (used = next_of(1, *text)) > 0; text->bytes += used, text->len -= used) {
    }
    *token = (agg_text){text->bytes, 0};
    for (size_t used; (used = next_of(0, *text)) > 0; text->bytes += used, text->len -= used)
        token->len += used;
    return token->len > 0;
}

// The first `depth` tokens with one space between them; what does not fit is no prefix. Returns: 0
// where there are fewer.
static int take_prefix(char out[SHOAL_TOKEN_TEXT_MAX + 1], agg_text *prefix, agg_text *text,
                       uint32_t depth)
{
    agg_text token;
    size_t len = 0;
    for (uint32_t i = 0; i < depth; i++) {
        if (!take_token(&token, text) || len + (i > 0) + token.len > SHOAL_TOKEN_TEXT_MAX) return 0;
        if (i > 0) out[len++] = ' ';
        memcpy(out + len, token.bytes, token.len);
        len += token.len;
    }
    *prefix = (agg_text){out, len};
    return 1;
}

static uint32_t token_bucket(const shoal_encoded *field, const agg_list lists[SHOAL_ENCODED_LISTS],
                             agg_text text)
{
    char joined[SHOAL_TOKEN_TEXT_MAX + 1];
    agg_text prefix, next;
    if (!take_prefix(joined, &prefix, &text, field->depth)) return 0;
    uint32_t index =
        agg_list_find(&lists[SHOAL_LIST_PREFIXES], prefix); // AGG_NOT_LISTED is SHOAL_NOT_LISTED
    if (!take_token(&next, &text)) return shoal_encoded_next(field, index, SHOAL_NEXT_END);
    return shoal_encoded_next(field, index, agg_list_find(&lists[SHOAL_LIST_TOKENS], next));
}

// Starts and characters are whole code points; what a step leaves over says only that the word goes
// on.
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

// The nearest millionth, a half upwards, as JavaScript's Math.round has it.
static int64_t nearest(double x)
{
    double micro = fmin(fmax(x, -LARGEST), LARGEST) * 1e6, below = floor(micro);
    return (int64_t)below + (micro - below >= 0.5);
}

static uint32_t bucket_of(const agg_recipe *recipe, uint32_t i, const cJSON *event)
{
    const shoal_encoded *field = &recipe->recipe.encoding.fields[i];
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

// Of a trie: what devices have to report.
static int is_reported(const agg_recipe *recipe, uint32_t bucket, agg_text word)
{
    return shoal_trie_is_answer(&recipe->recipe.encoding.fields[0], bucket) &&
           agg_list_find(&recipe->known, word) == AGG_NOT_LISTED;
}

int agg_recipe_event_item(uint64_t *item, const agg_recipe *recipe, const cJSON *event)
{
    const shoal_encoding *encoding = &recipe->recipe.encoding;
    uint32_t buckets[SHOAL_ENCODED_MAX];
    int matches = 1;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        buckets[i] = bucket_of(recipe, i, event);
        matches &= buckets[i] != 0 || encoding->fields[i].scheme < SHOAL_SCHEME_TOKENS;
    }
    *item = shoal_encoding_item(encoding, buckets);
    if (recipe->recipe.mechanism != shoal_trie_id) return matches;
    const cJSON *word = member(event, &encoding->fields[0].field);
    return cJSON_IsString(word) && is_reported(recipe, buckets[0], text_of(word));
}

int agg_recipe_word_item(uint64_t *item, const agg_recipe *recipe, agg_text word)
{
    const shoal_encoded *field = &recipe->recipe.encoding.fields[0];
    *item = word_bucket(field, recipe->lists[0], word);
    return recipe->recipe.mechanism == shoal_trie_id ? is_reported(recipe, (uint32_t)*item, word)
                                                     : *item != 0;
}

int agg_recipe_event_is_part(const agg_recipe *recipe, const cJSON *event)
{
    const shoal_recipe *r = &recipe->recipe;
    for (uint32_t i = 0; i < r->n_part; i++) {
        const cJSON *value = member(event, &r->splits[i].field);
        uint32_t index = cJSON_IsString(value) ? agg_list_find(&recipe->splits[i], text_of(value))
                                               : AGG_NOT_LISTED;
        agg_text part =
            index == AGG_NOT_LISTED ? (agg_text){"other", 5} : recipe->splits[i].texts[index];
        if (agg_text_compare(part, (agg_text){r->part[i].bytes, r->part[i].len}) != 0) return 0;
    }
    return 1;
}

// Does the rule leave each token as it is?
//   joined: bytes of the tokens, with one space between two
static int are_kept(size_t *joined, const shoal_recipe *recipe, agg_text text)
{
    agg_text token;
    *joined = 0;
    while (take_token(&token, &text)) {
        if (!agg_text_is_kept(recipe, token.bytes, token.len)) return 0;
        *joined += (*joined > 0) + token.len;
    }
    return 1;
}

int agg_entry_is_kept(const shoal_recipe *recipe, agg_text entry, int is_tokens)
{
    size_t joined = 0;
    if (!is_tokens) return agg_text_is_kept(recipe, entry.bytes, entry.len);
    return are_kept(&joined, recipe, entry) &&
           joined == entry.len; // or it holds white space that devices cut at
}

int agg_event_is_kept(const agg_recipe *recipe, const cJSON *event)
{
    const shoal_encoding *encoding = &recipe->recipe.encoding;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        const shoal_encoded *field = &encoding->fields[i];
        const cJSON *value = member(event, &field->field);
        size_t joined;
        if (field->scheme == SHOAL_SCHEME_NUMBER || !cJSON_IsString(value)) continue;
        if (field->scheme == SHOAL_SCHEME_TOKENS
                ? !are_kept(&joined, &recipe->recipe, text_of(value))
                : !agg_entry_is_kept(&recipe->recipe, text_of(value), 0))
            return 0;
    }
    return 1;
}

// ---- labels ----

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

// The characters that follow a start, and the end where they do not fill the step.
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
    int is_word = field->scheme == SHOAL_SCHEME_CHARACTERS;
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
    const shoal_encoded *field = &recipe->recipe.encoding.fields[i];
    if (bucket == 0 && field->prefixes.count > 0 && field->depth == 0)
        put_text(l,
                 "<none>"); // behind the empty prefix "<oov>" is a first token that is not listed
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
    shoal_encoding_buckets(buckets, &recipe->recipe.encoding, item);
    for (uint32_t i = 0; i < recipe->recipe.encoding.n_fields; i++) {
        if (i > 0) put_text(&l, " | ");
        put_bucket(&l, recipe, i, buckets[i]);
    }
    return l.len;
}
