// SPDX-License-Identifier: Apache-2.0
// Reads dictionaries and counts files; see dictionary.h.
#include "dictionary.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "event.h"
#include "fingerprint.h"
#include "json_walk.h"
#include "recipe.h"
#include "text_rule.h"

#define DICTIONARY_FILE_MAX ((size_t)1 << 30)
#define COUNT_MAX                                                                                  \
    ((uint64_t)1 << 53) // results are doubles, which represent whole numbers up to here exactly

// The set of the values so far: open addressing by their fingerprints; a slot is index + 1, or 0.
typedef struct seen_set {
    uint32_t *slots;
    size_t mask;
} seen_set;

static bool same(agg_text a, agg_text b)
{
    return a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
}

// Returns: the index of the text in the set; adds it under `index` if the set does not contain it.
static uint32_t find_or_add(seen_set *set, const agg_text *values, agg_text text, uint32_t index)
{
    static const uint8_t key[16] = {0};
    size_t at = (size_t)shoal_fingerprint(key, (const uint8_t *)text.bytes, text.len) & set->mask;
    for (; set->slots[at] != 0; at = (at + 1) & set->mask)
        if (same(values[set->slots[at] - 1], text)) return set->slots[at] - 1;
    set->slots[at] = index + 1;
    return index;
}

typedef struct parsing {
    agg_dictionary *out;
    agg_error *error;
    const agg_recipe *recipe;
    agg_log_fn warn;
    void *warn_context;
    seen_set seen;
    bool has_counts;
    bool has_words; // the values are words, not events
    bool is_ruled;  // the text rule is applied to values, so two lines may have one
} parsing;

static void say(const parsing *p, const char *name, size_t line, const char *what)
{
    char text[512];
    if (p->warn == NULL) return;
    snprintf(text, sizeof text, "%s: line %zu: %s", name, line, what);
    p->warn(p->warn_context, text);
}

static agg_err refuse(agg_error *error, agg_err code, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_USAGE, "%s", why);
}

static agg_err read_count(uint64_t *count, agg_error *error, const char *text, size_t len)
{
    uint64_t sum = 0;
    if (len == 0) return refuse(error, SHOAL_ERR_TYPE, "the count is missing");
    if (text[0] == '-') return refuse(error, SHOAL_ERR_RANGE, "the count is negative");
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return refuse(error, SHOAL_ERR_TYPE, "the count is not a whole number");
        sum = sum * 10 + (uint64_t)(text[i] - '0');
        if (sum > COUNT_MAX) return refuse(error, SHOAL_ERR_OVERFLOW, "the count is over 2^53");
    }
    *count = sum;
    return SHOAL_OK;
}

//   index: of the value; of an earlier one if the text rule makes both the same
static agg_err add_count(parsing *p, uint32_t index, const char *text, size_t len)
{
    uint64_t count = 0;
    agg_err err = read_count(&count, p->error, text, len);
    if (err != SHOAL_OK) return err;
    if (count > COUNT_MAX - p->out->total)
        return refuse(p->error, SHOAL_ERR_OVERFLOW, "the sum of the counts is over 2^53");
    p->out->counts[index] += count;
    p->out->total += count;
    return SHOAL_OK;
}

static void warn_of_rule(parsing *p, const char *name, size_t line)
{
    if (++p->out->n_changed <= AGG_LOG_LINES_MAX)
        say(p, name, line,
            "the recipe's text rule would change this value, so no device sends it as it stands");
}

static void warn_if_changed(parsing *p, const char *name, size_t line, agg_text value)
{
    if (agg_recipe_is_closed(p->recipe) ||
        agg_text_is_kept(p->recipe->recipe, value.bytes, value.len))
        return;
    warn_of_rule(p, name, line);
}

static const char *why_no_item(uint32_t kind)
{
    if (kind != SHOAL_VALUE_NUMBER) return "the value is not one of the recipe's";
    return "the value is not a number of at most 12 digits and six decimals";
}

static bool has_field_twice(const cJSON *event)
{
    for (const cJSON *item = event->child; item != NULL; item = item->next)
        if (agg_json_came_before(event, item)) return true;
    return false;
}

static void take_word(parsing *p, const char *name, size_t line, agg_text word)
{
    agg_dictionary *out = p->out;
    int matches = agg_recipe_word_item(&out->items[out->n], p->recipe, word);
    out->kinds[out->n] = (uint8_t)((matches ? AGG_EVENT_MATCHES : 0) | AGG_EVENT_IN_PART);
    if (!agg_text_is_kept(p->recipe->recipe, word.bytes, word.len)) warn_of_rule(p, name, line);
}

static agg_err take_event(parsing *p, const char *name, size_t line, agg_text value)
{
    agg_dictionary *out = p->out;
    cJSON *event = agg_json_parse(NULL, value.bytes, value.len);
    agg_err err = SHOAL_OK;
    if (!cJSON_IsObject(event)) {
        err = refuse(p->error, SHOAL_ERR_TYPE, "the event is not a JSON object");
    } else if (has_field_twice(event)) {
        err = refuse(p->error, SHOAL_ERR_DUPLICATE, "the event has a field twice");
    } else {
        int matches = agg_recipe_event_item(&out->items[out->n], p->recipe, event);
        out->kinds[out->n] =
            (uint8_t)((matches ? AGG_EVENT_MATCHES : 0) |
                      (agg_recipe_event_is_part(p->recipe, event) ? AGG_EVENT_IN_PART : 0));
        if (!agg_event_is_kept(p->recipe, event)) warn_of_rule(p, name, line);
    }
    cJSON_Delete(event);
    return err;
}

// Takes one field of a line with several variables. An empty field is an event without that
// variable.
static agg_err take_field(parsing *p, const char *name, size_t line, uint32_t i, agg_text field)
{
    const agg_recipe *recipe = p->recipe;
    const shoal_variable *variable = &recipe->recipe->variables[i];
    uint64_t *item = &p->out->items[p->out->n * p->out->width + i];
    *item = SHOAL_ITEM_NONE;
    if (field.len == 0) return SHOAL_OK;
    bool is_listed = variable->value == SHOAL_VALUE_ITEM && recipe->variables[i].n > 0;
    agg_err err = SHOAL_OK;
    if (variable->value != SHOAL_VALUE_NUMBER && !is_listed)
        err = agg_ruled_text(&p->out->ruled, p->error, recipe->recipe, &field);
    if (err != SHOAL_OK) return err;
    if (!agg_recipe_variable_item(item, recipe, i, field.bytes, field.len))
        return agg_fail(p->error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%.*s: %s",
                        (int)variable->name.len, variable->name.bytes,
                        why_no_item(variable->value));
    if (!agg_recipe_variable_is_closed(recipe, i) &&
        !agg_text_is_kept(recipe->recipe, field.bytes, field.len))
        warn_of_rule(p, name, line);
    return SHOAL_OK;
}

// Takes a line with the values of all variables and a tab between two.
static agg_err take_fields(parsing *p, const char *name, size_t line, agg_text value)
{
    uint32_t n = p->recipe->recipe->n_variables;
    const char *at = value.bytes, *end = value.bytes + value.len;
    for (uint32_t i = 0; i < n; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at)), *stop = tab != NULL ? tab : end;
        if ((tab == NULL) != (i + 1 == n))
            return agg_fail(p->error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                            "must hold the %u variables and the count, separated by tabs", n);
        agg_err err = take_field(p, name, line, i, (agg_text){at, (size_t)(stop - at)});
        if (err != SHOAL_OK) return err;
        at = stop + 1;
    }
    return SHOAL_OK;
}

static bool is_joint(const agg_recipe *recipe)
{
    return recipe->recipe->value == SHOAL_VALUE_VARIABLES;
}

static agg_err take_value(parsing *p, const char *name, size_t line, agg_text value)
{
    if (is_joint(p->recipe)) return take_fields(p, name, line, value);
    if (p->out->kinds != NULL && !p->has_words) return take_event(p, name, line, value);
    if (p->has_words) {
        take_word(p, name, line, value);
        return SHOAL_OK;
    }
    if (!agg_recipe_item(&p->out->items[p->out->n], p->recipe, value.bytes, value.len))
        return refuse(p->error, SHOAL_ERR_RANGE, why_no_item(p->recipe->recipe->value));
    warn_if_changed(p, name, line, value);
    return SHOAL_OK;
}

// Takes the text of a value, which may be one that came before.
//   counted: what stands behind the value and its tab; NULL without a count
//   *index: of the value
static agg_err take_text(uint32_t *index, parsing *p, const char *name, size_t number,
                         agg_text value, const agg_text *counted)
{
    agg_dictionary *out = p->out;
    agg_err err = SHOAL_OK;
    if (value.len == 0) return refuse(p->error, SHOAL_ERR_RANGE, "the value is empty");
    if (p->is_ruled) err = agg_ruled_text(&out->ruled, p->error, p->recipe->recipe, &value);
    if (err != SHOAL_OK) return err;
    *index = find_or_add(&p->seen, out->values, value, (uint32_t)out->n);
    if (*index < out->n) {
        if (counted != NULL && p->is_ruled)
            return add_count(p, *index, counted->bytes, counted->len);
        if (counted != NULL) return refuse(p->error, SHOAL_ERR_DUPLICATE, "the value came before");
        if (++out->n_repeated <= AGG_LOG_LINES_MAX)
            say(p, name, number, "the value came before; it is counted once");
        return SHOAL_OK;
    }
    if (counted != NULL) err = add_count(p, *index, counted->bytes, counted->len);
    if (err == SHOAL_OK) err = take_value(p, name, number, value);
    if (err != SHOAL_OK) return err;
    out->values[out->n++] = value;
    return SHOAL_OK;
}

static agg_err take_line(parsing *p, const char *name, size_t number, char *line, size_t len)
{
    uint32_t index;
    bool is_last = p->out->kinds != NULL || is_joint(p->recipe); // the tab before the count
    char *tab = is_last ? memrchr(line, '\t', len) : memchr(line, '\t', len);
    agg_text value = {line, tab != NULL ? (size_t)(tab - line) : len};
    if (value.len == 0) return refuse(p->error, SHOAL_ERR_RANGE, "the value is empty");
    if (memchr(line, 0, len) != NULL) return refuse(p->error, SHOAL_ERR_TYPE, "holds a NUL byte");
    if (p->has_counts && tab == NULL)
        return refuse(p->error, SHOAL_ERR_TYPE, "a tab and a count are missing");
    const agg_text counted = {line + value.len + 1, len - value.len - (tab != NULL)};
    return take_text(&index, p, name, number, value, p->has_counts ? &counted : NULL);
}

//   len: bytes of the pool
static agg_err reserve(parsing *p, size_t lines, size_t len)
{
    agg_dictionary *out = p->out;
    size_t slots = 16;
    while (slots / 2 < lines) slots *= 2;
    if (lines >= UINT32_MAX / SHOAL_VARIABLES_MAX)
        return refuse(p->error, SHOAL_ERR_RANGE, "has too many lines");
    out->width = is_joint(p->recipe) ? p->recipe->recipe->n_variables : 1;
    out->pool = agg_alloc(p->error, len, 1);
    out->values = agg_alloc(p->error, lines, sizeof *out->values);
    out->items = agg_alloc(p->error, lines * out->width, sizeof *out->items);
    bool has_events = p->has_counts && p->recipe->recipe->encoding.n_fields > 0;
    if (p->has_counts) out->counts = agg_alloc(p->error, lines, sizeof *out->counts);
    if (has_events) out->kinds = agg_alloc(p->error, lines, 1);
    p->seen.slots = agg_alloc(p->error, slots, sizeof *p->seen.slots);
    p->seen.mask = slots - 1;
    if (out->pool == NULL || out->values == NULL || out->items == NULL || p->seen.slots == NULL ||
        (p->has_counts && out->counts == NULL) || (has_events && out->kinds == NULL))
        return AGG_ERR_MEMORY;
    return SHOAL_OK;
}

static agg_err take_lines(parsing *p, const char *name, size_t len)
{
    char *at = p->out->pool, *end = at + len;
    if (len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    for (size_t number = 1; at < end; number++) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *stop = newline != NULL ? newline : end;
        size_t line_len = (size_t)(stop - at);
        if (line_len > 0 && at[line_len - 1] == '\r') line_len--;
        agg_err err = take_line(p, name, number, at, line_len);
        if (err != SHOAL_OK) {
            agg_error_prefix(p->error, "line %zu", number);
            return err;
        }
        at = newline != NULL ? newline + 1 : end;
    }
    return SHOAL_OK;
}

// Returns: whether the file contains plain words. They can stand for events if the encoding is one
// field of characters and there are no parts; the first line tells which the file contains.
static bool holds_words(const agg_recipe *recipe, const char *bytes, size_t len)
{
    const shoal_encoding *encoding = &recipe->recipe->encoding;
    size_t mark = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (encoding->n_fields != 1 || encoding->fields[0].scheme != SHOAL_SCHEME_CHARACTERS)
        return false;
    return recipe->recipe->n_splits == 0 && (len < mark + 2 || memcmp(bytes + mark, "{\"", 2) != 0);
}

// Returns: whether devices apply the text rule to the values of lines: to strings and words, and
// not to listed items, numbers and the fields of events. Joint recipes have theirs applied by
// field.
static bool is_ruled(const parsing *p)
{
    const shoal_recipe *r = p->recipe->recipe;
    if (!agg_text_rule_is_applied(r) || is_joint(p->recipe)) return false;
    if (p->has_words) return true;
    if (r->encoding.n_fields > 0 || r->value == SHOAL_VALUE_NUMBER) return false;
    return !agg_recipe_is_closed(p->recipe) ||
           (p->recipe->values.n > 0 && r->value != SHOAL_VALUE_ITEM);
}

static agg_err parse_all(parsing *p, const char *name, const char *bytes, size_t len)
{
    size_t lines = 1;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == '\n';
    p->has_words = p->has_counts && holds_words(p->recipe, bytes, len);
    p->is_ruled = is_ruled(p);
    agg_err err = reserve(p, lines, len);
    if (err != SHOAL_OK) return err;
    if (len > 0) memcpy(p->out->pool, bytes, len);
    err = take_lines(p, name, len);
    if (err != SHOAL_OK) return err;
    if (p->out->n == 0) return refuse(p->error, SHOAL_ERR_RANGE, "holds no value");
    if (p->has_counts && p->out->total == 0)
        return refuse(p->error, SHOAL_ERR_RANGE, "the counts sum to zero");
    return SHOAL_OK;
}

agg_err agg_dictionary_parse(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                             const char *name, const char *bytes, size_t len, bool has_counts,
                             agg_log_fn warn, void *warn_context)
{
    parsing p = {dictionary, error,      recipe, warn, warn_context,
                 {NULL, 0},  has_counts, false,  false};
    memset(dictionary, 0, sizeof *dictionary);
    agg_err err = parse_all(&p, name, bytes, len);
    free(p.seen.slots);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", name);
    agg_dictionary_release(dictionary);
    return err;
}

static agg_err load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                    const char *path, bool has_counts, agg_log_fn warn, void *warn_context)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, DICTIONARY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_dictionary_parse(dictionary, error, recipe, path, (const char *)bytes.data, bytes.len,
                               has_counts, warn, warn_context);
    free(bytes.data);
    return err;
}

agg_err agg_dictionary_check(agg_error *error, const agg_recipe *recipe)
{
    if (!is_joint(recipe)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "recipe %s has %u variables, and a dictionary lists values of one", recipe->id,
                    recipe->recipe->n_variables);
}

// Refuses recipes whose counts have no list of values.
static agg_err check_listed(agg_error *error, const agg_recipe *recipe)
{
    agg_err err = agg_dictionary_check(error, recipe);
    if (err != SHOAL_OK) return err;
    if (recipe->recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER && agg_recipe_is_closed(recipe))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s estimates a mean, which has no dictionary", recipe->id);
    return SHOAL_OK;
}

agg_err agg_dictionary_load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                            const char *path, agg_log_fn warn, void *warn_context)
{
    agg_err err = check_listed(error, recipe);
    if (err != SHOAL_OK) return err;
    return load(dictionary, error, recipe, path, false, warn, warn_context);
}

static agg_err take_texts(parsing *p, uint32_t *places, const agg_text *texts, size_t n)
{
    char *at = p->out->pool;
    for (size_t i = 0; i < n; i++) {
        const agg_text value = {at, texts[i].len};
        if (texts[i].len > 0) at = mempcpy(at, texts[i].bytes, texts[i].len);
        agg_err err = take_text(&places[i], p, "", i + 1, value, NULL);
        if (err != SHOAL_OK) {
            agg_error_prefix(p->error, "value %zu", i);
            return err;
        }
    }
    return n > 0 ? SHOAL_OK : refuse(p->error, SHOAL_ERR_RANGE, "no value is asked about");
}

agg_err agg_dictionary_of_texts(agg_dictionary *dictionary, uint32_t *places, agg_error *error,
                                const agg_recipe *recipe, const agg_text *texts, size_t n)
{
    parsing p = {.out = dictionary, .error = error, .recipe = recipe};
    size_t len = 0;
    memset(dictionary, 0, sizeof *dictionary);
    agg_err err = check_listed(error, recipe);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < n; i++) {
        if (texts[i].len > SIZE_MAX - len)
            return refuse(error, SHOAL_ERR_RANGE, "the values are too long");
        len += texts[i].len;
    }
    p.is_ruled = is_ruled(&p);
    err = reserve(&p, n, len);
    if (err == SHOAL_OK) err = take_texts(&p, places, texts, n);
    free(p.seen.slots);
    if (err != SHOAL_OK) agg_dictionary_release(dictionary);
    return err;
}

agg_err agg_counts_load(agg_dictionary *counts, agg_error *error, const agg_recipe *recipe,
                        const char *path, agg_log_fn warn, void *warn_context)
{
    return load(counts, error, recipe, path, true, warn, warn_context);
}

void agg_dictionary_release(agg_dictionary *dictionary)
{
    free(dictionary->values);
    free(dictionary->items);
    free(dictionary->counts);
    free(dictionary->kinds);
    free(dictionary->pool);
    agg_ruled_texts_release(&dictionary->ruled);
    memset(dictionary, 0, sizeof *dictionary);
}
