// SPDX-License-Identifier: Apache-2.0
// Compares two recipes; see recipe_diff.h. Both were read as recipes before, so they hold known
// members only.
#include "recipe_diff.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_streams.h"
#include "front_coded.h"
#include "json_walk.h"
#include "log.h"
#include "recipe.h"
#include "recipe_json.h"

#define PATH_SIZE 256 // a path of json_walk.h, with field names in it

typedef struct diff {
    const agg_recipe *before, *after;
    int n; // members that differ
} diff;

static void print_member(const cJSON *item)
{
    char *text = item != NULL ? cJSON_PrintUnformatted(item) : NULL;
    fputs(text != NULL ? text : "(none)", agg_out());
    cJSON_free(text);
}

// Compares numbers exactly, because cJSON_Compare treats near ones as equal.
static bool is_same_scalar(const cJSON *before, const cJSON *after)
{
    if (before == NULL || after == NULL) return false;
    if (cJSON_IsNumber(before) && cJSON_IsNumber(after))
        return !(before->valuedouble < after->valuedouble ||
                 before->valuedouble > after->valuedouble);
    return cJSON_Compare(before, after, 1);
}

static void print_scalars(diff *d, const char *path, const cJSON *before, const cJSON *after)
{
    if (is_same_scalar(before, after)) return;
    d->n++;
    agg_print("%-19s ", path);
    print_member(before);
    fputs(" -> ", agg_out());
    print_member(after);
    fputc('\n', agg_out());
}

// Returns: how many texts are in both lists.
static uint32_t count_shared(const agg_list *a, const agg_list *b)
{
    uint32_t shared = 0;
    for (uint32_t i = 0; i < a->n; i++) shared += agg_list_find(b, a->texts[i]) != AGG_NOT_LISTED;
    return shared;
}

static bool is_same_list(const agg_list *a, const agg_list *b)
{
    bool is_same = a->n == b->n;
    for (uint32_t i = 0; is_same && i < a->n; i++)
        is_same = agg_text_compare(a->texts[i], b->texts[i]) == 0;
    return is_same;
}

static void print_lists(diff *d, const char *path, const agg_list *before, const agg_list *after)
{
    uint32_t shared = count_shared(before, after);
    if (is_same_list(before, after)) return;
    d->n++;
    agg_print("%-19s %u -> %u: %u added, %u removed%s\n", path, before->n, after->n,
              after->n - shared, before->n - shared,
              after->n == before->n && shared == before->n ? ", another order" : "");
}

static bool is_text_list(const cJSON *item)
{
    return cJSON_IsArray(item) && cJSON_IsString(item->child);
}

// Returns: whether a recipe may write the list as one string (front_coded.h).
static bool is_coded(const char *name)
{
    return strcmp(name, "starts") == 0 || strcmp(name, "characters") == 0 ||
           strcmp(name, "known") == 0;
}

static agg_err take_coded(agg_list *list, const char *path, const char *name, const char *text)
{
    agg_texts texts;
    agg_text coded = {text, strlen(text)};
    agg_err err = strcmp(name, "characters") == 0 ? agg_characters_split(&texts, NULL, path, coded)
                                                  : agg_front_decode(&texts, NULL, path, coded);
    if (err != SHOAL_OK) return err;
    err = agg_list_copy(list, NULL, path, texts.texts, texts.n);
    agg_texts_release(&texts);
    return err;
}

static agg_err take_list(agg_list *list, const char *path, const char *name, const cJSON *item)
{
    if (item == NULL) return SHOAL_OK;
    return cJSON_IsString(item) ? take_coded(list, path, name, item->valuestring)
                                : agg_list_take(list, NULL, path, item);
}

// Prints a long list by its added and removed texts.
// Returns: false if memory ran out and nothing was printed.
static bool print_text_lists(diff *d, const char *path, const char *name, const cJSON *before,
                             const cJSON *after)
{
    agg_list a = {0}, b = {0};
    bool is_read = take_list(&a, path, name, before) == SHOAL_OK &&
                   take_list(&b, path, name, after) == SHOAL_OK;
    if (is_read) print_lists(d, path, &a, &b);
    agg_list_release(&a);
    agg_list_release(&b);
    return is_read;
}

static void walk(diff *d, const char *parent, const cJSON *before, const cJSON *after);

// Returns: the key of an array's entry. Objects are identified by their `field`, variables by their
// `name`.
static const cJSON *key_of(const cJSON *entry)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(entry, "field");
    return field != NULL ? field : cJSON_GetObjectItemCaseSensitive(entry, "name");
}

static const cJSON *entry_of(const cJSON *array, const cJSON *like)
{
    const cJSON *wanted = key_of(like);
    for (const cJSON *item = array != NULL ? array->child : NULL; item != NULL; item = item->next)
        if (cJSON_Compare(key_of(item), wanted, 1)) return item;
    return NULL;
}

static void walk_entry(diff *d, const char *parent, const cJSON *before, const cJSON *after)
{
    char path[PATH_SIZE];
    const cJSON *field = key_of(before != NULL ? before : after);
    if (snprintf(path, sizeof path, "%s[%s]", parent,
                 cJSON_IsString(field) ? field->valuestring : "") < 0)
        return;
    walk(d, path, before, after);
}

// Returns: whether the same fields come in another order.
static bool are_moved(const cJSON *before, const cJSON *after)
{
    bool is_moved = false;
    const cJSON *a = before != NULL ? before->child : NULL,
                *b = after != NULL ? after->child : NULL;
    for (; a != NULL && b != NULL; a = a->next, b = b->next) {
        if (entry_of(after, a) == NULL || entry_of(before, b) == NULL) return false;
        is_moved |= entry_of(after, a) != b;
    }
    return is_moved && a == NULL && b == NULL;
}

static void walk_entries(diff *d, const char *path, const cJSON *before, const cJSON *after)
{
    if (are_moved(before, after)) {
        d->n++;
        agg_print("%-19s another order\n", path);
    }
    for (const cJSON *item = before != NULL ? before->child : NULL; item != NULL; item = item->next)
        walk_entry(d, path, item, entry_of(after, item));
    for (const cJSON *item = after != NULL ? after->child : NULL; item != NULL; item = item->next)
        if (entry_of(before, item) == NULL) walk_entry(d, path, NULL, item);
}

static bool has_objects(const cJSON *item)
{
    return cJSON_IsArray(item) && cJSON_IsObject(item->child);
}

static void print_pair(diff *d, const char *parent, const char *name, const cJSON *before,
                       const cJSON *after)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s%s", parent, *parent != '\0' ? "." : "", name);
    if (has_objects(before) || has_objects(after))
        walk_entries(d, path, before, after);
    else if (cJSON_IsObject(before) || cJSON_IsObject(after))
        walk(d, path, before, after);
    else if (strcmp(path, "part") == 0 ||
             !(is_text_list(before) || is_text_list(after) || is_coded(name)) ||
             !print_text_lists(d, path, name, before, after))
        print_scalars(d, path, before, after);
}

// Visits the members of `before` in order, then those that only `after` has. Either object may be
// missing.
static void walk(diff *d, const char *parent, const cJSON *before, const cJSON *after)
{
    for (const cJSON *item = before != NULL ? before->child : NULL; item != NULL; item = item->next)
        print_pair(d, parent, item->string, item,
                   cJSON_GetObjectItemCaseSensitive(after, item->string));
    for (const cJSON *item = after != NULL ? after->child : NULL; item != NULL; item = item->next)
        if (cJSON_GetObjectItemCaseSensitive(before, item->string) == NULL)
            print_pair(d, parent, item->string, NULL, item);
}

static void note(const char *what, double before, double after)
{
    agg_print("%-19s %s: %.10g -> %.10g\n", "note", what, before, after);
}

static bool has_encoded(const shoal_encoding *encoding, const shoal_name *field)
{
    for (uint32_t i = 0; i < encoding->n_fields; i++)
        if (shoal_name_equal(&encoding->fields[i].field, field)) return true;
    return false;
}

// Prints changes that a person or a reviewer should not overlook: the recipe asks for more, costs
// more, or hides less.
static void print_notes(const shoal_recipe *before, const shoal_recipe *after)
{
    uint32_t cells = before->encoding.n_fields > 0 ? before->parts[0].size : 0,
             cells_after = after->parts[0].size;
    for (uint32_t i = 0; i < after->encoding.n_fields; i++)
        if (!has_encoded(&before->encoding, &after->encoding.fields[i].field))
            agg_print("%-19s broader: reads the field %.*s\n", "note",
                      (int)after->encoding.fields[i].field.len,
                      after->encoding.fields[i].field.bytes);
    if (after->encoding.n_fields > 0 && cells_after > cells)
        note("broader: more cells", cells, cells_after);
    if (after->cost_micro > before->cost_micro)
        note("looser: epsilon of one report rises", before->cost_micro / 1e6,
             after->cost_micro / 1e6);
    if (after->contributions > before->contributions && before->contributions > 0)
        note("looser: more reports of one device", before->contributions, after->contributions);
    if (after->cohort_eps_micro > before->cohort_eps_micro && before->cohort_eps_micro > 0)
        note("looser: central epsilon rises", before->cohort_eps_micro / 1e6,
             after->cohort_eps_micro / 1e6);
    if (after->cohort_delta_exp < before->cohort_delta_exp && after->cohort_delta_exp > 0)
        agg_print("%-19s looser: delta rises: 1e-%u -> 1e-%u\n", "note", before->cohort_delta_exp,
                  after->cohort_delta_exp);
    if (after->cohort_minimum < before->cohort_minimum)
        note("looser: a smaller cohort is shown", before->cohort_minimum, after->cohort_minimum);
    if (after->block_minimum < before->block_minimum &&
        (before->block_minimum > before->cohort_minimum ||
         after->block_minimum > after->cohort_minimum)) // else the cohort's note says it
        note("looser: smaller blocks are shown", before->block_minimum, after->block_minimum);
    if (after->per_day > before->per_day)
        note("looser: more reports a day", before->per_day, after->per_day);
}

static int compare(const agg_recipe *before, const agg_recipe *after, agg_error *error)
{
    diff d = {before, after, 0};
    int code = AGG_EXIT_RUNTIME;
    cJSON *a = agg_json_parse(error, before->json, before->json_len);
    cJSON *b = agg_json_parse(error, after->json, after->json_len);
    if (a != NULL && b != NULL) {
        walk(&d, "", a, b);
        if (strcmp(before->hash_hex, after->hash_hex) == 0)
            agg_print("%-19s the same, %s\n", "hash", before->hash_hex);
        else
            agg_print("%-19s %s -> %s\n", "hash", before->hash_hex, after->hash_hex);
        print_notes(before->recipe, after->recipe);
        code = d.n > 0 ? 1 : AGG_EXIT_OK;
    } else {
        code = agg_log_error("recipe", error);
    }
    cJSON_Delete(a);
    cJSON_Delete(b);
    return code;
}

int recipe_diff(const char *before, const char *after)
{
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    agg_recipe a, b;
    if (agg_recipe_from_file(&a, &error, before) != SHOAL_OK)
        return agg_log_error("recipe", &error);
    if (agg_recipe_from_file(&b, &error, after) != SHOAL_OK) {
        agg_recipe_release(&a);
        return agg_log_error("recipe", &error);
    }
    int code = compare(&a, &b, &error);
    agg_recipe_release(&a);
    agg_recipe_release(&b);
    return code;
}
