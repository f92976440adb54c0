// SPDX-License-Identifier: Apache-2.0
// Dictionaries and counts files; see dictionary.h.
#include "dictionary.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "agg_file.h"
#include "agg_size.h"
#include "event.h"
#include "fingerprint.h"
#include "json_walk.h"

#define DICTIONARY_FILE_MAX ((size_t)1 << 30)
#define COUNT_MAX                                                                                  \
    ((uint64_t)1 << 53) // whole numbers that a double holds exactly, as the results are doubles

static int is_composed(const char *bytes, size_t len)
{
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)len,
                                      &composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
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
    agg_log_fn warn;
    void *warn_context;
    seen_set seen;
    int has_counts;
    int has_words; // in place of events
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

static agg_err add_count(parsing *p, const char *text, size_t len)
{
    uint64_t count = 0;
    agg_err err = read_count(&count, p->error, text, len);
    if (err != SHOAL_OK) return err;
    if (count > COUNT_MAX - p->out->total)
        return refuse(p->error, SHOAL_ERR_OVERFLOW, "the sum of the counts is over 2^53");
    p->out->counts[p->out->n] = count;
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
        agg_text_is_kept(&p->recipe->recipe, value.bytes, value.len))
        return;
    warn_of_rule(p, name, line);
}

static const char *why_no_item(uint32_t kind)
{
    if (kind != SHOAL_VALUE_NUMBER) return "the value is not one of the recipe's";
    return "the value is not a number of at most 12 digits and six decimals";
}

static int has_field_twice(const cJSON *event)
{
    for (const cJSON *item = event->child; item != NULL; item = item->next)
        if (agg_json_came_before(event, item)) return 1;
    return 0;
}

static void take_word(parsing *p, const char *name, size_t line, agg_text word)
{
    agg_dictionary *out = p->out;
    int matches = agg_recipe_word_item(&out->items[out->n], p->recipe, word);
    out->kinds[out->n] = (uint8_t)((matches ? AGG_EVENT_MATCHES : 0) | AGG_EVENT_IN_PART);
    if (!agg_text_is_kept(&p->recipe->recipe, word.bytes, word.len)) warn_of_rule(p, name, line);
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

// One field of a line of several variables; an empty one is an event without that variable.
static agg_err take_field(parsing *p, const char *name, size_t line, uint32_t i, agg_text field)
{
    const agg_recipe *recipe = p->recipe;
    const shoal_variable *variable = &recipe->recipe.variables[i];
    uint64_t *item = &p->out->items[p->out->n * p->out->width + i];
    *item = SHOAL_ITEM_NONE;
    if (field.len == 0) return SHOAL_OK;
    if (!agg_recipe_variable_item(item, recipe, i, field.bytes, field.len))
        return agg_fail(p->error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%.*s: %s",
                        (int)variable->name.len, variable->name.bytes,
                        why_no_item(variable->value));
    if (!agg_recipe_variable_is_closed(recipe, i) &&
        !agg_text_is_kept(&recipe->recipe, field.bytes, field.len))
        warn_of_rule(p, name, line);
    return SHOAL_OK;
}

// The values of all variables, with a tab between two.
static agg_err take_fields(parsing *p, const char *name, size_t line, agg_text value)
{
    uint32_t n = p->recipe->recipe.n_variables;
    const char *at = value.bytes, *end = value.bytes + value.len;
    for (uint32_t i = 0; i < n; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at)), *stop = tab != NULL ? tab : end;
        if ((tab == NULL) != (i + 1 == n))
            return agg_fail(p->error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                            "must hold the %u variables and the count, with a tab between two", n);
        agg_err err = take_field(p, name, line, i, (agg_text){at, (size_t)(stop - at)});
        if (err != SHOAL_OK) return err;
        at = stop + 1;
    }
    return SHOAL_OK;
}

static int is_joint(const agg_recipe *recipe)
{
    return recipe->recipe.value == SHOAL_VALUE_VARIABLES;
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
        return refuse(p->error, SHOAL_ERR_RANGE, why_no_item(p->recipe->recipe.value));
    warn_if_changed(p, name, line, value);
    return SHOAL_OK;
}

static agg_err take_line(parsing *p, const char *name, size_t number, char *line, size_t len)
{
    agg_dictionary *out = p->out;
    int is_last = out->kinds != NULL || is_joint(p->recipe); // the tab before the count
    char *tab = is_last ? memrchr(line, '\t', len) : memchr(line, '\t', len);
    agg_text value = {line, tab != NULL ? (size_t)(tab - line) : len};
    if (value.len == 0) return refuse(p->error, SHOAL_ERR_RANGE, "the value is empty");
    if (memchr(line, 0, len) != NULL) return refuse(p->error, SHOAL_ERR_TYPE, "holds a NUL byte");
    if (p->has_counts && tab == NULL)
        return refuse(p->error, SHOAL_ERR_TYPE, "a tab and a count are missing");
    if (was_seen(&p->seen, out->values, value, (uint32_t)out->n)) {
        if (p->has_counts) return refuse(p->error, SHOAL_ERR_DUPLICATE, "the value came before");
        if (++out->n_repeated <= AGG_LOG_LINES_MAX)
            say(p, name, number, "the value came before; it is counted once");
        return SHOAL_OK;
    }
    agg_err err = p->has_counts ? add_count(p, tab + 1, len - value.len - 1) : SHOAL_OK;
    if (err == SHOAL_OK) err = take_value(p, name, number, value);
    if (err != SHOAL_OK) return err;
    out->values[out->n++] = value;
    return SHOAL_OK;
}

static agg_err reserve(parsing *p, size_t lines, const char *bytes, size_t len)
{
    agg_dictionary *out = p->out;
    size_t slots = 16;
    while (slots / 2 < lines) slots *= 2;
    if (lines >= UINT32_MAX / SHOAL_VARIABLES_MAX)
        return refuse(p->error, SHOAL_ERR_RANGE, "has too many lines");
    out->width = is_joint(p->recipe) ? p->recipe->recipe.n_variables : 1;
    out->pool = agg_alloc(p->error, len, 1);
    out->values = agg_alloc(p->error, lines, sizeof *out->values);
    out->items = agg_alloc(p->error, lines * out->width, sizeof *out->items);
    int has_events = p->has_counts && p->recipe->recipe.encoding.n_fields > 0;
    if (p->has_counts) out->counts = agg_alloc(p->error, lines, sizeof *out->counts);
    if (has_events) out->kinds = agg_alloc(p->error, lines, 1);
    p->seen.slots = agg_alloc(p->error, slots, sizeof *p->seen.slots);
    p->seen.mask = slots - 1;
    if (out->pool == NULL || out->values == NULL || out->items == NULL || p->seen.slots == NULL ||
        (p->has_counts && out->counts == NULL) || (has_events && out->kinds == NULL))
        return AGG_ERR_MEMORY;
    if (len > 0) memcpy(out->pool, bytes, len);
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

// One field of characters and no parts: plain words say all that an event would. The first line
// tells which the file holds.
static int holds_words(const agg_recipe *recipe, const char *bytes, size_t len)
{
    const shoal_encoding *encoding = &recipe->recipe.encoding;
    size_t mark = len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (encoding->n_fields != 1 || encoding->fields[0].scheme != SHOAL_SCHEME_CHARACTERS) return 0;
    return recipe->recipe.n_splits == 0 && (len < mark + 2 || memcmp(bytes + mark, "{\"", 2) != 0);
}

static agg_err parse_all(parsing *p, const char *name, const char *bytes, size_t len)
{
    size_t lines = 1;
    for (size_t i = 0; i < len; i++) lines += bytes[i] == '\n';
    p->has_words = p->has_counts && holds_words(p->recipe, bytes, len);
    agg_err err = reserve(p, lines, bytes, len);
    if (err == SHOAL_OK) err = take_lines(p, name, len);
    if (err != SHOAL_OK) return err;
    if (p->out->n == 0) return refuse(p->error, SHOAL_ERR_RANGE, "holds no value");
    if (p->has_counts && p->out->total == 0)
        return refuse(p->error, SHOAL_ERR_RANGE, "the counts sum to zero");
    return SHOAL_OK;
}

agg_err agg_dictionary_parse(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                             const char *name, const char *bytes, size_t len, int has_counts,
                             agg_log_fn warn, void *warn_context)
{
    parsing p = {dictionary, error, recipe, warn, warn_context, {NULL, 0}, has_counts, 0};
    memset(dictionary, 0, sizeof *dictionary);
    agg_err err = parse_all(&p, name, bytes, len);
    free(p.seen.slots);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", name);
    agg_dictionary_release(dictionary);
    return err;
}

static agg_err load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                    const char *path, int has_counts, agg_log_fn warn, void *warn_context)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, DICTIONARY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_dictionary_parse(dictionary, error, recipe, path, (const char *)bytes.data, bytes.len,
                               has_counts, warn, warn_context);
    free(bytes.data);
    return err;
}

static agg_err refuse_joint(agg_error *error, const agg_recipe *recipe)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "recipe %s has %u variables, and a dictionary is of one", recipe->id,
                    recipe->recipe.n_variables);
}

agg_err agg_dictionary_load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                            const char *path, agg_log_fn warn, void *warn_context)
{
    if (is_joint(recipe)) return refuse_joint(error, recipe);
    if (recipe->recipe.parts[0].domain == SHOAL_DOMAIN_NUMBER && agg_recipe_is_closed(recipe))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s gives a mean: a dictionary says nothing to it", recipe->id);
    return load(dictionary, error, recipe, path, 0, warn, warn_context);
}

agg_err agg_counts_load(agg_dictionary *counts, agg_error *error, const agg_recipe *recipe,
                        const char *path, agg_log_fn warn, void *warn_context)
{
    return load(counts, error, recipe, path, 1, warn, warn_context);
}

// The least number, in millionths, that lies in bucket i: what shoal_recipe_number_item sends
// there, exactly.
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
    int is_last = i + 1 == shoal_recipe_value_part(recipe)->size;
    agg_micro_print(low, lower_end(recipe, i));
    agg_micro_print(high, lower_end(recipe, i + 1));
    return snprintf(out, AGG_LABEL_MAX, "[%s, %s%c", low, high, is_last ? ']' : ')');
}

// What a row of an unnamed item is called: its index, its bucket of numbers, or "mean".
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

// The labels of all buckets of one field, behind one another.
typedef struct bucket_labels {
    agg_text *texts;
    char *pool;
    size_t len; // of all of them together
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

// Every cell of the domain by agg_recipe_label. A bucket's label is made once, however many cells
// it is part of.
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
        dictionary->values[i] = values->texts[i]; // the recipe outlives its results
}

// Room for n items, 0 to n - 1.
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
    if (is_joint(recipe)) return refuse_joint(error, recipe);
    if (!agg_recipe_is_closed(recipe))
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                        "the recipe takes any string: a dictionary is needed");
    agg_err err =
        reserve_items(dictionary, error, part->domain == SHOAL_DOMAIN_NUMBER ? 1 : part->size);
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

void agg_dictionary_release(agg_dictionary *dictionary)
{
    free(dictionary->values);
    free(dictionary->items);
    free(dictionary->counts);
    free(dictionary->kinds);
    free(dictionary->pool);
    memset(dictionary, 0, sizeof *dictionary);
}
