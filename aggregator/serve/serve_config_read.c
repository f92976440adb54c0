// SPDX-License-Identifier: Apache-2.0
// Strings, paths and lists of a configuration; see serve_config_read.h.
#include "serve_config_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

agg_err serve_config_refuse(serve_config_reader *r, const char *name, const char *why)
{
    return agg_fail(r->error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s: %s", name, why);
}

agg_err serve_config_refuse_repeated(serve_config_reader *r, const cJSON *object, const char *name)
{
    for (const cJSON *a = object->child; a != NULL; a = a->next) {
        for (const cJSON *b = a->next; b != NULL; b = b->next) {
            if (strcmp(a->string, b->string) != 0) continue;
            return agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "%s%s: given twice",
                            name, a->string);
        }
    }
    return SHOAL_OK;
}

char *serve_config_string(serve_config_reader *r, const cJSON *json, const char *name)
{
    if (!cJSON_IsString(json) || json->valuestring[0] == '\0') {
        (void)serve_config_refuse(r, name, "must be a string that is not empty");
        return NULL;
    }
    size_t size = strlen(json->valuestring) + 1;
    char *copy = agg_alloc(r->error, size, 1);
    if (copy != NULL) memcpy(copy, json->valuestring, size);
    return copy;
}

char *serve_config_copy_path(serve_config_reader *r, const cJSON *json, const char *name)
{
    char *text = serve_config_string(r, json, name);
    if (text == NULL || text[0] == '/' || r->folder_len == 0) return text;
    size_t size = r->folder_len + strlen(text) + 1;
    char *path = agg_alloc(r->error, size, 1);
    if (path != NULL) snprintf(path, size, "%.*s%s", (int)r->folder_len, r->folder, text);
    free(text);
    return path;
}

agg_err serve_config_path(serve_config_reader *r, char **out, const cJSON *json, const char *name)
{
    *out = serve_config_copy_path(r, json, name);
    return *out == NULL ? r->error->code : SHOAL_OK;
}

agg_err serve_config_texts(serve_config_reader *r, serve_texts *texts, const cJSON *json,
                           const char *name)
{
    int n = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0;
    if (n == 0) return serve_config_refuse(r, name, "must be a list of texts, at least one");
    texts->list = agg_alloc(r->error, (size_t)n, sizeof *texts->list);
    if (texts->list == NULL) return AGG_ERR_MEMORY;
    for (const cJSON *one = json->child; one != NULL; one = one->next) {
        char *text = serve_config_string(r, one, name);
        if (text == NULL) return r->error->code;
        texts->list[texts->n++] = text;
        for (size_t i = 0; i + 1 < texts->n; i++) {
            if (strcmp(texts->list[i], text) == 0)
                return agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                                "%s: %s is given twice", name, text);
        }
    }
    return SHOAL_OK;
}

void serve_config_release_texts(serve_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++) free(texts->list[i]);
    free(texts->list);
    *texts = (serve_texts){0};
}
