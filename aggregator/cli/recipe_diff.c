// SPDX-License-Identifier: Apache-2.0
// Two recipes side by side; see recipe_diff.h. Both were read as recipes before, so that they hold known members only.
#include "recipe_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_walk.h"
#include "recipe_json.h"
#include "talk.h"

#define PATH_SIZE 96 // recipe_json.c takes no longer path
static const char values_path[] = "parameters.values";

typedef struct diff {
    const agg_recipe *before, *after;
    int n; // members that differ
} diff;

static void print_member(const cJSON *item)
{
    char *text = item != NULL ? cJSON_PrintUnformatted(item) : NULL;
    fputs(text != NULL ? text : "(none)", stdout);
    cJSON_free(text);
}

// Numbers exactly: cJSON_Compare takes near ones for the same.
static int is_same_scalar(const cJSON *before, const cJSON *after)
{
    if (before == NULL || after == NULL) return 0;
    if (cJSON_IsNumber(before) && cJSON_IsNumber(after))
        return !(before->valuedouble < after->valuedouble || before->valuedouble > after->valuedouble);
    return cJSON_Compare(before, after, 1);
}

static void print_scalars(diff *d, const char *path, const cJSON *before, const cJSON *after)
{
    if (is_same_scalar(before, after)) return;
    d->n++;
    printf("%-19s ", path);
    print_member(before);
    fputs(" -> ", stdout);
    print_member(after);
    putchar('\n');
}

// How many values of both; the values are sorted, and none comes twice.
static uint32_t count_shared(const agg_recipe *a, const agg_recipe *b)
{
    uint32_t shared = 0;
    for (uint32_t i = 0, j = 0; i < a->values.n && j < b->values.n;) {
        int order = agg_text_compare(a->values.texts[a->values.sorted[i]], b->values.texts[b->values.sorted[j]]);
        shared += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return shared;
}

static void print_values(diff *d)
{
    uint32_t before = d->before->values.n, after = d->after->values.n;
    uint32_t shared = count_shared(d->before, d->after);
    int is_same = before == after && shared == before;
    for (uint32_t i = 0; is_same && i < before; i++)
        is_same = agg_text_compare(d->before->values.texts[i], d->after->values.texts[i]) == 0;
    if (is_same) return;
    d->n++;
    printf("%-19s %u -> %u: %u added, %u removed%s\n", values_path, before, after, after - shared, before - shared,
           after == before && shared == before ? ", another order" : "");
}

static void walk(diff *d, const char *parent, const cJSON *before, const cJSON *after);

static void print_pair(diff *d, const char *parent, const char *name, const cJSON *before, const cJSON *after)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s%s", parent, *parent != '\0' ? "." : "", name);
    if (strcmp(path, values_path) == 0)
        print_values(d);
    else if (cJSON_IsObject(before) || cJSON_IsObject(after))
        walk(d, path, before, after);
    else
        print_scalars(d, path, before, after);
}

// The members of `before` in its order, then those that only `after` has; either object may be missing.
static void walk(diff *d, const char *parent, const cJSON *before, const cJSON *after)
{
    for (const cJSON *item = before != NULL ? before->child : NULL; item != NULL; item = item->next)
        print_pair(d, parent, item->string, item, cJSON_GetObjectItemCaseSensitive(after, item->string));
    for (const cJSON *item = after != NULL ? after->child : NULL; item != NULL; item = item->next)
        if (cJSON_GetObjectItemCaseSensitive(before, item->string) == NULL)
            print_pair(d, parent, item->string, NULL, item);
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
            printf("%-19s the same, %s\n", "hash", before->hash_hex);
        else
            printf("%-19s %s -> %s\n", "hash", before->hash_hex, after->hash_hex);
        code = d.n > 0 ? 1 : AGG_EXIT_OK;
    } else {
        code = cli_failed("recipe", error);
    }
    cJSON_Delete(a);
    cJSON_Delete(b);
    return code;
}

int recipe_diff(const char *before, const char *after)
{
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    agg_recipe a, b;
    if (agg_recipe_from_file(&a, &error, before) != SHOAL_OK) return cli_failed("recipe", &error);
    if (agg_recipe_from_file(&b, &error, after) != SHOAL_OK) {
        agg_recipe_release(&a);
        return cli_failed("recipe", &error);
    }
    int code = compare(&a, &b, &error);
    agg_recipe_release(&a);
    agg_recipe_release(&b);
    return code;
}
