// SPDX-License-Identifier: Apache-2.0
// Manifest files; see manifest_files.h.
#include "manifest_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg_size.h"
#include "call_streams.h"
#include "log.h"
#include "manifest.h"
#include "manifest_gather.h"
#include "print_text.h"
#include "recipe.h"

// ---- printing ----

static void print_json(const agg_manifest *m, bool with_ids)
{
    char text[AGG_MANIFEST_TEXT];
    fprintf(agg_out(), "{\"manifest\":\"%s\",\"version\":1,", agg_manifest_print(text, m->name));
    fprintf(agg_out(), "\"recipe\":\"%s\",", agg_manifest_print(text, m->recipe_hash));
    fprintf(agg_out(), "\"generation\":%u,\"batches\":%u,\"has_version_1\":%s,\"earlier\":[",
            m->generation, m->n_ids, m->has_version_1 ? "true" : "false");
    for (uint32_t i = 0; i < m->n_earlier; i++)
        fprintf(agg_out(), "%s\"%s\"", i > 0 ? "," : "", agg_manifest_print(text, m->earlier[i]));
    fprintf(agg_out(), "]");
    for (uint32_t i = 0; with_ids && i < m->n_ids; i++)
        fprintf(agg_out(), "%s\"%s\"", i > 0 ? "," : ",\"ids\":[",
                agg_claim_print(text, m->ids[i]));
    fprintf(agg_out(), with_ids ? "]}\n" : "}\n");
}

static void print_table(const agg_manifest *m, bool with_ids)
{
    char text[AGG_MANIFEST_TEXT];
    fprintf(agg_out(), "manifest    %s\n", agg_manifest_print(text, m->name));
    fprintf(agg_out(), "recipe      %s\n", agg_manifest_print(text, m->recipe_hash));
    fprintf(agg_out(), "generation  %u\n", m->generation);
    fprintf(agg_out(), "batches     %s%s\n", agg_whole(m->n_ids).text,
            m->has_version_1 ? ", some of version 1" : "");
    for (uint32_t i = 0; i < m->n_earlier; i++)
        fprintf(agg_out(), "after       %s\n", agg_manifest_print(text, m->earlier[i]));
    for (uint32_t i = 0; with_ids && i < m->n_ids; i++)
        fprintf(agg_out(), "%s\n", agg_claim_print(text, m->ids[i]));
}

// ---- several manifests ----

typedef struct manifests {
    agg_manifest *list;
    size_t n;
} manifests;

static void release_all(manifests *all)
{
    for (size_t i = 0; i < all->n; i++) agg_manifest_release(&all->list[i]);
    free(all->list);
}

static agg_err load_all(manifests *all, agg_error *error, const char *const *paths, size_t n)
{
    *all = (manifests){agg_alloc(error, n, sizeof *all->list), 0};
    agg_err err = all->list != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        err = agg_manifest_load(&all->list[i], error, paths[i]);
        all->n += err == SHOAL_OK;
    }
    return err;
}

agg_err agg_manifest_check_files(agg_error *error, const char *const *files, size_t n_files,
                                 bool is_json)
{
    manifests all = {NULL, 0};
    uint64_t n_ids = 0;
    agg_err err = load_all(&all, error, files, n_files);
    if (err == SHOAL_OK) err = agg_manifest_check_chain(error, all.list, files, all.n);
    for (size_t i = 0; err == SHOAL_OK && i < all.n; i++) n_ids += all.list[i].n_ids;
    if (err == SHOAL_OK && is_json)
        fprintf(agg_out(), "{\"manifests\":%zu,\"batches\":%llu}\n", all.n,
                (unsigned long long)n_ids);
    else if (err == SHOAL_OK)
        fprintf(agg_out(), "%zu %s: good, %s batches\n", all.n,
                all.n == 1 ? "manifest" : "manifests", agg_whole(n_ids).text);
    release_all(&all);
    return err;
}

agg_err agg_manifest_print_file(agg_error *error, const char *file, bool with_ids, bool is_json)
{
    agg_manifest manifest;
    agg_err err = agg_manifest_load(&manifest, error, file);
    if (err != SHOAL_OK) return err;
    if (is_json)
        print_json(&manifest, with_ids);
    else
        print_table(&manifest, with_ids);
    agg_manifest_release(&manifest);
    return SHOAL_OK;
}

// ---- making ----

static agg_err write_manifest(agg_error *error, const agg_manifest *m, const char *path)
{
    agg_file file;
    agg_manifest old;
    agg_err err = SHOAL_OK;
    if (strcmp(path, "-") == 0) {
        if (fwrite(m->file.data, 1, m->file.len, agg_out()) == m->file.len &&
            fflush(agg_out()) == 0)
            return SHOAL_OK;
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the manifest");
    }
    if (!agg_file_is_special(path) && access(path, F_OK) == 0) {
        err = agg_manifest_load(&old, error, path);
        if (err == SHOAL_OK && memcmp(old.name, m->name, 32) != 0)
            err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                           "%s exists and is another manifest; one never changes", path);
        agg_manifest_release(&old);
        return err;
    }
    err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    if (fwrite(m->file.data, 1, m->file.len, file.stream) == m->file.len)
        return agg_file_commit(&file, error);
    agg_file_abandon(&file);
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot write", path);
}

static void say_made(const agg_manifest_options *a, const agg_manifest *m, const agg_generation *g,
                     uint64_t n_other)
{
    char name[AGG_MANIFEST_TEXT], line[160], command[] = "manifest";
    if (g->n_repeated > 0) {
        snprintf(line, sizeof line, "%llu batches came more than once and are listed once",
                 (unsigned long long)g->n_repeated);
        agg_log_line(command, line);
    }
    if (g->n_known > 0) {
        snprintf(line, sizeof line, "%llu batches are of earlier manifests and were left out",
                 (unsigned long long)g->n_known);
        agg_log_line(command, line);
    }
    if (n_other > 0) {
        snprintf(line, sizeof line, "%llu files do not have the name of a batch and were not read",
                 (unsigned long long)n_other);
        agg_log_line(command, line);
    }
    if (strcmp(a->output, "-") == 0) return;
    fprintf(agg_out(), "%s: generation %u, %s batches\n", agg_manifest_print(name, m->name),
            m->generation, agg_whole(m->n_ids).text);
}

static agg_err gather(agg_gathered *found, agg_error *error, const agg_manifest_options *a,
                      const agg_recipe *recipe)
{
    agg_err err = agg_manifest_check_recipe(error, recipe);
    if (err == SHOAL_OK && a->names != NULL) err = agg_gather_names(found, error, recipe, a->names);
    for (int i = 0; err == SHOAL_OK && i < a->n_paths; i++)
        err = agg_gather_path(found, error, recipe, a->paths[i], a->allows_version_1);
    return err;
}

agg_err agg_manifest_make_file(agg_error *error, const agg_manifest_options *a)
{
    agg_recipe recipe;
    agg_manifest made = {.n_ids = 0};
    manifests earlier = {NULL, 0};
    agg_gathered found = {.n = 0};
    agg_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = load_all(&earlier, error, a->after, a->n_after);
    if (err == SHOAL_OK) err = gather(&found, error, a, &recipe);
    agg_generation g = {.recipe_hash = recipe.recipe->recipe_hash,
                        .has_version_1 = found.has_version_1,
                        .earlier = earlier.list,
                        .n_earlier = earlier.n,
                        .ids = found.ids,
                        .n_ids = found.n};
    if (err == SHOAL_OK) err = agg_manifest_make(&made, error, &g);
    if (err == SHOAL_OK) err = write_manifest(error, &made, a->output);
    if (err == SHOAL_OK) say_made(a, &made, &g, found.n_other);
    agg_manifest_release(&made);
    agg_gathered_release(&found);
    release_all(&earlier);
    agg_recipe_release(&recipe);
    return err;
}
