// SPDX-License-Identifier: Apache-2.0
// Loads known strings and finds guarantees of discoveries; see known_texts.h.
#include "known_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "dictionary.h"
#include "log.h"
#include "ruled_texts.h"
#include "text_rule.h"

#define KNOWN_FILE_MAX ((size_t)1 << 28)

typedef struct known_texts {
    agg_text *texts;
    size_t n, cap;
} known_texts;

static int compare_texts(const void *a, const void *b)
{
    return agg_text_compare(*(const agg_text *)a, *(const agg_text *)b);
}

//   ruled: holds the texts that the recipe's text rule changed
static agg_err take_lines(known_texts *out, agg_ruled_texts *ruled, agg_error *error,
                          const agg_bytes *file, const agg_recipe *recipe)
{
    const char *at = (const char *)file->data;
    size_t left = file->len;
    while (left > 0) {
        const char *newline = memchr(at, '\n', left);
        size_t line = newline != NULL ? (size_t)(newline - at) : left;
        const char *tab = memchr(at, '\t', line);
        size_t len = tab != NULL ? (size_t)(tab - at) : line;
        if (tab == NULL && len > 0 && at[len - 1] == '\r') len--;
        if (len > 0) {
            agg_err err =
                agg_grow((void **)&out->texts, &out->cap, out->n + 1, sizeof *out->texts, error);
            if (err != SHOAL_OK) return err;
            out->texts[out->n] = (agg_text){at, len};
            err = agg_ruled_text(ruled, error, recipe->recipe, &out->texts[out->n++]);
            if (err != SHOAL_OK) return err;
        }
        at += line;
        left -= line;
        if (left > 0) at++, left--;
    }
    return SHOAL_OK;
}

static void drop_repeated(known_texts *out)
{
    size_t kept = 0;
    if (out->n > 1) qsort(out->texts, out->n, sizeof *out->texts, compare_texts);
    for (size_t i = 0; i < out->n; i++)
        if (kept == 0 || agg_text_compare(out->texts[i], out->texts[kept - 1]) != 0)
            out->texts[kept++] = out->texts[i];
    out->n = kept;
}

// Logs the known words that no device sends as they are written, since they exclude nothing.
static void say_changed(const known_texts *known, const agg_recipe *recipe)
{
    char command[] = "discover", text[160];
    size_t n = 0;
    for (size_t i = 0; i < known->n; i++)
        n += !agg_text_is_kept(recipe->recipe, known->texts[i].bytes, known->texts[i].len);
    if (n == 0) return;
    snprintf(
        text, sizeof text,
        "--known: the recipe's text rule would change %zu of %zu lines, so these leave out nothing",
        n, known->n);
    agg_log_line(command, text);
}

agg_err agg_known_texts_load(agg_list *known, agg_error *error, const char *path,
                             const agg_recipe *recipe)
{
    agg_bytes file = {0};
    known_texts texts = {0};
    agg_ruled_texts ruled = {NULL};
    if (path == NULL) return SHOAL_OK;
    agg_err err = agg_file_read(&file, error, path, KNOWN_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = take_lines(&texts, &ruled, error, &file, recipe);
    if (err == SHOAL_OK) {
        drop_repeated(&texts);
        say_changed(&texts, recipe);
        err = agg_list_copy(known, error, path, texts.texts, texts.n);
    }
    free(texts.texts);
    agg_ruled_texts_release(&ruled);
    free(file.data);
    return err;
}

agg_err agg_discover_guarantee(agg_guarantee *guarantee, agg_error *error,
                               const agg_discover_round *rounds, size_t n_rounds,
                               const agg_release *release)
{
    agg_guarantee *out = guarantee;
    for (size_t i = 0; i < n_rounds; i++) {
        agg_guarantee own;
        agg_err err =
            agg_guarantee_run(&own, error, rounds[i].recipe->recipe, rounds[i].acc->n, release);
        if (err != SHOAL_OK) return err;
        double epsilon = own.bound != NULL ? own.central : own.local;
        if (i == 0 || epsilon > (out->bound != NULL ? out->central : out->local)) *out = own;
    }
    return SHOAL_OK;
}
