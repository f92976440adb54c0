// SPDX-License-Identifier: Apache-2.0
// Lists of texts with an index; see text_list.h.
#include "text_list.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "json_walk.h"

int agg_text_compare(agg_text a, agg_text b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.bytes, b.bytes, shorter) : 0;
    if (order != 0) return order;
    return (a.len > b.len) - (a.len < b.len);
}

size_t agg_characters_size(agg_text text, uint32_t n)
{
    size_t at = 0;
    for (; n > 0; n--) {
        if (at == text.len) return SIZE_MAX;
        for (at++; at < text.len && ((uint8_t)text.bytes[at] & 0xc0) == 0x80; at++) {
        }
    }
    return at;
}

typedef struct sorted_text {
    agg_text text;
    uint32_t index;
} sorted_text;

// Compares by text, then by index, so that an error names two equal entries in order.
static int compare_sorted(const void *a, const void *b)
{
    const sorted_text *x = a, *y = b;
    int order = agg_text_compare(x->text, y->text);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static agg_err sort(agg_list *list, agg_error *error, const char *path, sorted_text *pairs)
{
    for (uint32_t i = 0; i < list->n; i++) pairs[i] = (sorted_text){list->texts[i], i};
    qsort(pairs, list->n, sizeof *pairs, compare_sorted);
    for (uint32_t i = 0; i < list->n; i++) {
        list->sorted[i] = pairs[i].index;
        if (i == 0 || agg_text_compare(pairs[i].text, pairs[i - 1].text) != 0) continue;
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                        "%s holds one value twice (entries %u and %u)", path,
                        pairs[i - 1].index + 1, pairs[i].index + 1);
    }
    return SHOAL_OK;
}

static agg_err copy(agg_list *list, agg_error *error, const agg_text *texts, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) bytes += texts[i].len;
    list->pool = agg_alloc(error, bytes, 1);
    list->texts = agg_alloc(error, n, sizeof *list->texts);
    list->sorted = agg_alloc(error, n, sizeof *list->sorted);
    if (list->pool == NULL || list->texts == NULL || list->sorted == NULL) return AGG_ERR_MEMORY;
    char *at = list->pool;
    for (size_t i = 0; i < n; i++) {
        if (texts[i].len > 0) memcpy(at, texts[i].bytes, texts[i].len);
        list->texts[list->n++] = (agg_text){at, texts[i].len};
        at += texts[i].len;
    }
    return SHOAL_OK;
}

agg_err agg_list_copy(agg_list *list, agg_error *error, const char *path, const agg_text *texts,
                      size_t n)
{
    sorted_text *pairs = NULL;
    agg_err err = copy(list, error, texts, n);
    if (err == SHOAL_OK && (pairs = agg_alloc(error, list->n, sizeof *pairs)) == NULL)
        err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) err = sort(list, error, path, pairs);
    free(pairs);
    if (err != SHOAL_OK) agg_list_release(list);
    return err;
}

agg_err agg_list_take(agg_list *list, agg_error *error, const char *path, const cJSON *array)
{
    size_t n = 0;
    for (const cJSON *item = array->child; item != NULL; item = item->next) n++;
    agg_text *texts = agg_alloc(error, n, sizeof *texts);
    if (texts == NULL) return AGG_ERR_MEMORY;
    n = 0;
    for (const cJSON *item = array->child; item != NULL; item = item->next)
        texts[n++] = (agg_text){item->valuestring, strlen(item->valuestring)};
    agg_err err = agg_list_copy(list, error, path, texts, n);
    free(texts);
    return err;
}

void agg_list_release(agg_list *list)
{
    free(list->texts);
    free(list->sorted);
    free(list->pool);
    memset(list, 0, sizeof *list);
}

uint32_t agg_list_find(const agg_list *list, agg_text text)
{
    uint32_t low = 0, high = list->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = agg_text_compare(list->texts[list->sorted[middle]], text);
        if (order == 0) return list->sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return AGG_NOT_LISTED;
}
