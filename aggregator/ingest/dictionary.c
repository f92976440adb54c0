// SPDX-License-Identifier: Apache-2.0
// Dictionaries and counts files; see dictionary.h.
#include "dictionary.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "agg_file.h"
#include "agg_size.h"
#include "fingerprint.h"
#include "json_walk.h"

#define DICTIONARY_FILE_MAX ((size_t)1 << 30)
#define COUNT_MAX ((uint64_t)1 << 53) // whole numbers that a double holds exactly, as the results are doubles

static int is_composed(const char *bytes, size_t len)
{
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)len, &composed,
                                      UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    int is_same = n == (utf8proc_ssize_t)len && memcmp(bytes, composed, len) == 0;
    free(composed);
    return is_same;
}

int agg_text_is_kept(const shoal_recipe *recipe, const char *bytes, size_t len)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)bytes;
    size_t left = len, points = 0;
    int is_ascii = 1;
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0) return 0;
        // A character that simple lower-casing keeps is kept by the full one as well.
        if (recipe->text_case == SHOAL_CASE_LOWER && utf8proc_tolower(point) != point) return 0;
        is_ascii &= point < 0x80;
        at += used;
        left -= (size_t)used;
        points++;
    }
    if (points < recipe->text_min || points > recipe->text_max) return 0;
    return is_ascii || recipe->text_form != SHOAL_FORM_NFC || is_composed(bytes, len);
}

// A set of the values seen so far: open addressing over their fingerprints, entries are index + 1.
typedef struct seen_set {
    uint32_t *slots;
    size_t mask;
} seen_set;

static int same(agg_text a, agg_text b)
{
    return a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
}

// Returns: whether the text was there already; puts it in otherwise, under index.
static int was_seen(seen_set *set, const agg_text *values, agg_text text, uint32_t index)
{
    static const uint8_t key[16] = {0};
    size_t at = (size_t)shoal_fingerprint(key, (const uint8_t *)text.bytes, text.len) & set->mask;
    for (; set->slots[at] != 0; at = (at + 1) & set->mask)
        if (same(values[set->slots[at] - 1], text)) return 1;
    set->slots[at] = index + 1;
    return 0;
}

typedef struct parsing {
    agg_dictionary *out;
    agg_error *error;
    const agg_recipe *recipe;
    agg_talk talk;
    void *talk_context;
    seen_set seen;
    int has_counts;
} parsing;

static void say(const parsing *p, const char *name, size_t line, const char *what)
{
    char text[512];
    if (p->talk == NULL) return;
    snprintf(text, sizeof text, "%s: line %zu: %s", name, line, what);
    p->talk(p->talk_context, text);
}

static shoal_err refuse(agg_error *error, shoal_err code, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_USAGE, "%s", why);
}

static shoal_err read_count(uint64_t *count, agg_error *error, const char *text, size_t len)
{
    uint64_t sum = 0;
    if (len == 0) return refuse(error, SHOAL_ERR_TYPE, "the count is missing");
    if (text[0] == '-') return refuse(error, SHOAL_ERR_RANGE, "the count is negative");
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return refuse(error, SHOAL_ERR_TYPE, "the count is not a whole number");
        sum = sum * 10 + (uint64_t)(text[i] - '0');
        if (sum > COUNT_MAX) return refuse(error, SHOAL_ERR_OVERFLOW, "the count is over 2^53");
    }
    *count = sum;
    return SHOAL_OK;
}

static shoal_err add_count(parsing *p, const char *text, size_t len)
{
    uint64_t count = 0;
    shoal_err err = read_count(&count, p->error, text, len);
    if (err != SHOAL_OK) return err;
    if (count > COUNT_MAX - p->out->total)
        return refuse(p->error, SHOAL_ERR_OVERFLOW, "the sum of the counts is over 2^53");
    p->out->counts[p->out->n] = count;
    p->out->total += count;
    return SHOAL_OK;
}

static void warn_if_changed(parsing *p, const char *name, size_t line, agg_text value)
{
    if (agg_recipe_is_closed(p->recipe) || agg_text_is_kept(&p->recipe->recipe, value.bytes, value.len)) return;
    if (++p->out->n_changed <= AGG_TALK_MAX)
        say(p, name, line, "the recipe's text rule would change this value, so no device sends it as it stands");
}

static const char *why_no_item(const agg_recipe *recipe)
{
    if (recipe->recipe.value != SHOAL_VALUE_NUMBER) return "the value is not one of the recipe's";
    return "the value is not a number of at most 12 digits and six decimals";
}

static shoal_err take_line(parsing *p, const char *name, size_t number, char *line, size_t len)
{
    agg_dictionary *out = p->out;
    char *tab = memchr(line, '\t', len);
    agg_text value = {line, tab != NULL ? (size_t)(tab - line) : len};
    if (value.len == 0) return refuse(p->error, SHOAL_ERR_RANGE, "the value is empty");
    if (memchr(line, 0, len) != NULL) return refuse(p->error, SHOAL_ERR_TYPE, "holds a NUL byte");
    if (p->has_counts && tab == NULL) return refuse(p->error, SHOAL_ERR_TYPE, "a tab and a count are missing");
    if (!agg_recipe_item(&out->items[out->n], p->recipe, value.bytes, value.len))
        return refuse(p->error, SHOAL_ERR_RANGE, why_no_item(p->recipe));
    if (was_seen(&p->seen, out->values, value, (uint32_t)out->n)) {
        if (p->has_counts) return refuse(p->error, SHOAL_ERR_DUPLICATE, "the value came before");
        if (++out->n_repeated <= AGG_TALK_MAX) say(p, name, number, "the value came before; it is counted once");
        return SHOAL_OK;
    }
    shoal_err err = p->has_counts ? add_count(p, tab + 1, len - value.len - 1) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    warn_if_changed(p, name, number, value);
    out->values[out->n++] = value;
    return SHOAL_OK;
}

static shoal_err reserve(parsing *p, size_t lines, const char *bytes, size_t len)
{
    agg_dictionary *out = p->out;
    size_t slots = 16;
    while (slots / 2 < lines) slots *= 2;
    if (lines >= UINT32_MAX) return refuse(p->error, SHOAL_ERR_RANGE, "has too many lines");
    out->pool = agg_alloc(p->error, len, 1);
    out->values = agg_alloc(p->error, lines, sizeof *out->values);
    out->items = agg_alloc(p->error, lines, sizeof *out->items);
    if (p->has_counts) out->counts = agg_alloc(p->error, lines, sizeof *out->counts);
    p->seen.slots = agg_alloc(p->error, slots, sizeof *p->seen.slots);
    p->seen.mask = slots - 1;
    if (out->pool == NULL || out->values == NULL || out->items == NULL || p->seen.slots == NULL ||
        (p->has_counts && out->counts == NULL))
        return AGG_ERR_MEMORY;
    if (len > 0) memcpy(out->pool, bytes, len);
    return SHOAL_OK;
}

static shoal_err take_lines(parsing *p, const char *name, size_t len)
{
    char *at = p->out->pool, *end = at + len;
    if (len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    for (size_t number = 1; at < end; number++) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *stop = newline != NULL ? newline : end;
        size_t line_len = (size_t)(stop - at);
        if (line_len > 0 && at[line_len - 1] == '\r') line_len--;
        shoal_err err = take_line(p, name, number, at, line_len);
        if (err != SHOAL_OK) {
            agg_error_prefix(p->error, "line %zu", number);
            return err;
        }
        at = newline != NULL ? newline + 1 : end;
    }
    return SHOAL_OK;
}

static shoal_err parse_all(parsing *p, const char *name, const char *bytes, size_t len)
{
    size_t lines = 1;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == '\n';
    shoal_err err = reserve(p, lines, bytes, len);
    if (err == SHOAL_OK) err = take_lines(p, name, len);
    if (err != SHOAL_OK) return err;
    if (p->out->n == 0) return refuse(p->error, SHOAL_ERR_RANGE, "holds no value");
    if (p->has_counts && p->out->total == 0) return refuse(p->error, SHOAL_ERR_RANGE, "the counts sum to zero");
    return SHOAL_OK;
}

shoal_err agg_dictionary_parse(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe, const char *name,
                               const char *bytes, size_t len, int has_counts, agg_talk talk, void *talk_context)
{
    parsing p = {dictionary, error, recipe, talk, talk_context, {NULL, 0}, has_counts};
    memset(dictionary, 0, sizeof *dictionary);
    shoal_err err = parse_all(&p, name, bytes, len);
    free(p.seen.slots);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", name);
    agg_dictionary_release(dictionary);
    return err;
}

static shoal_err load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe, const char *path,
                      int has_counts, agg_talk talk, void *talk_context)
{
    agg_bytes bytes;
    shoal_err err = agg_file_read(&bytes, error, path, DICTIONARY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_dictionary_parse(dictionary, error, recipe, path, (const char *)bytes.data, bytes.len, has_counts, talk,
                               talk_context);
    free(bytes.data);
    return err;
}

shoal_err agg_dictionary_load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe, const char *path,
                              agg_talk talk, void *talk_context)
{
    if (recipe->recipe.parts[0].domain == SHOAL_DOMAIN_NUMBER)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "recipe %s gives a mean: a dictionary says nothing to it",
                        recipe->id);
    return load(dictionary, error, recipe, path, 0, talk, talk_context);
}

shoal_err agg_counts_load(agg_dictionary *counts, agg_error *error, const agg_recipe *recipe, const char *path,
                          agg_talk talk, void *talk_context)
{
    return load(counts, error, recipe, path, 1, talk, talk_context);
}

// Writes millionths as a decimal without spare zeros. Returns: characters, at most 21.
static int print_micro(char *out, size_t cap, int64_t micro)
{
    uint64_t size = micro < 0 ? 0 - (uint64_t)micro : (uint64_t)micro;
    int len = snprintf(out, cap, "%s%llu.%06llu", micro < 0 ? "-" : "", (unsigned long long)(size / 1000000),
                       (unsigned long long)(size % 1000000));
    while (out[len - 1] == '0') len--;
    if (out[len - 1] == '.') len--;
    out[len] = '\0';
    return len;
}

// The least number, in millionths, that lies in bucket i: what shoal_recipe_number_item sends there, exactly.
static int64_t lower_end(const shoal_recipe *r, uint32_t i)
{
    uint64_t width = (uint64_t)r->high_micro - (uint64_t)r->low_micro, size = r->parts[0].size;
    uint64_t rest = width % size * i; // below 2^48
    return (int64_t)((uint64_t)r->low_micro + width / size * i + rest / size + (rest % size > 0));
}

int agg_bucket_print(char out[AGG_LABEL_MAX], const shoal_recipe *recipe, uint32_t i)
{
    char low[32], high[32];
    int is_last = i + 1 == recipe->parts[0].size;
    print_micro(low, sizeof low, lower_end(recipe, i));
    print_micro(high, sizeof high, lower_end(recipe, i + 1));
    return snprintf(out, AGG_LABEL_MAX, "[%s, %s%c", low, high, is_last ? ']' : ')');
}

// What a row of an unnamed item is called: its index, its bucket of numbers, or "mean".
static int print_label(char out[AGG_LABEL_MAX], const shoal_recipe *r, uint32_t i)
{
    if (r->parts[0].domain == SHOAL_DOMAIN_NUMBER) return snprintf(out, AGG_LABEL_MAX, "mean");
    if (r->value != SHOAL_VALUE_NUMBER) return snprintf(out, AGG_LABEL_MAX, "%u", i);
    return agg_bucket_print(out, r, i);
}

static shoal_err label_items(agg_dictionary *dictionary, agg_error *error, const shoal_recipe *recipe)
{
    size_t used = 0;
    dictionary->pool = agg_alloc(error, dictionary->n, recipe->value == SHOAL_VALUE_NUMBER ? AGG_LABEL_MAX : 9);
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

shoal_err agg_dictionary_of_recipe(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe)
{
    const shoal_part *part = &recipe->recipe.parts[0];
    shoal_err err = SHOAL_OK;
    if (!agg_recipe_is_closed(recipe))
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                        "the recipe takes any string: a dictionary is needed");
    memset(dictionary, 0, sizeof *dictionary);
    dictionary->n = part->domain == SHOAL_DOMAIN_NUMBER ? 1 : part->size;
    dictionary->values = agg_alloc(error, dictionary->n, sizeof *dictionary->values);
    dictionary->items = agg_alloc(error, dictionary->n, sizeof *dictionary->items);
    if (dictionary->values == NULL || dictionary->items == NULL) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK && recipe->values.n == 0) err = label_items(dictionary, error, &recipe->recipe);
    if (err != SHOAL_OK) {
        agg_dictionary_release(dictionary);
        return err;
    }
    for (uint32_t i = 0; i < recipe->values.n; i++)
        dictionary->values[i] = recipe->values.texts[i]; // the recipe outlives its results
    for (uint32_t i = 0; i < dictionary->n; i++) dictionary->items[i] = i;
    return SHOAL_OK;
}

void agg_dictionary_release(agg_dictionary *dictionary)
{
    free(dictionary->values);
    free(dictionary->items);
    free(dictionary->counts);
    free(dictionary->pool);
    memset(dictionary, 0, sizeof *dictionary);
}
