// SPDX-License-Identifier: Apache-2.0
// shoal manifest: the list of a generation's batches, by which machines share one collection.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg_size.h"
#include "commands.h"
#include "log.h"
#include "manifest.h"
#include "manifest_gather.h"
#include "print_text.h"
#include "recipe.h"

static const char help_text[] =
    "Usage: shoal manifest make --recipe R -o M [OPTION]... [FILE|FOLDER]...\n"
    "       shoal manifest check [--format table|json] M...\n"
    "       shoal manifest print [--ids] [--format table|json] M\n"
    "\n"
    "A manifest lists the batches of one generation of a collection. Machines fold them in shards\n"
    "(shoal ingest --manifest), and each batch counts once.\n";

static const char make_help[] =
    "Usage: shoal manifest make --recipe R -o M [OPTION]... [FILE|FOLDER]...\n"
    "\n"
    "Lists the batches of files, of folders, or of a list of names, less those that earlier\n"
    "manifests list. The same batches give the same bytes. A FOLDER is searched for NAME.batch,\n"
    "NAME.batch.zst and NAME.batch.gz. Each batch is opened, and its id checked against its hash.\n"
    "\n"
    "  --recipe FILE        the collection's recipe (JSON)\n"
    "  -o, --output M       the manifest to write; - is a pipe. One that exists is left as it is "
    "if\n"
    "                       it is the same, else that is an error\n"
    "  --after M            an earlier manifest, whose batches are left out; give all of them\n"
    "  --ids FILE           names of batches, one a line, which are not opened: ids, or keys of "
    "an\n"
    "                       object store; - is standard input\n"
    "  --allow-version-1    list batches of version 1 too; their ids do not prove their content\n";

static const char check_help[] =
    "Usage: shoal manifest check [--format table|json] M...\n"
    "\n"
    "Checks manifests: each by its hash and its order, and several of one recipe against one\n"
    "another. Two that list the same batch are an error. So are two of which neither was made\n"
    "--after the other.\n"
    "\n"
    "  --format FORMAT      table (default) or json\n";

static const char print_help[] = "Usage: shoal manifest print [--ids] [--format table|json] M\n"
                                 "\n"
                                 "Checks a manifest and prints what it says.\n"
                                 "\n"
                                 "  --ids                print the ids of the batches too\n"
                                 "  --format FORMAT      table (default) or json\n";

typedef struct arguments {
    const char *recipe, *output, *names, *format;
    command_values after;
    bool allow_version_1, ids;
} arguments;

static const char *const formats[] = {"table", "json", NULL};

static agg_err read_format(bool *is_json, agg_error *error, const char *text)
{
    size_t position = 0;
    agg_err err = command_read_name(&position, error, formats, text, "--format is table or json");
    *is_json = position == 1;
    return err;
}

// ---- printing ----

static void print_json(const agg_manifest *m, bool with_ids)
{
    char text[AGG_MANIFEST_TEXT];
    printf("{\"manifest\":\"%s\",\"version\":1,", agg_manifest_print(text, m->name));
    printf("\"recipe\":\"%s\",", agg_manifest_print(text, m->recipe_hash));
    printf("\"generation\":%u,\"batches\":%u,\"has_version_1\":%s,\"earlier\":[", m->generation,
           m->n_ids, m->has_version_1 ? "true" : "false");
    for (uint32_t i = 0; i < m->n_earlier; i++)
        printf("%s\"%s\"", i > 0 ? "," : "", agg_manifest_print(text, m->earlier[i]));
    printf("]");
    for (uint32_t i = 0; with_ids && i < m->n_ids; i++)
        printf("%s\"%s\"", i > 0 ? "," : ",\"ids\":[", agg_claim_print(text, m->ids[i]));
    printf(with_ids ? "]}\n" : "}\n");
}

static void print_table(const agg_manifest *m, bool with_ids)
{
    char text[AGG_MANIFEST_TEXT];
    printf("manifest    %s\n", agg_manifest_print(text, m->name));
    printf("recipe      %s\n", agg_manifest_print(text, m->recipe_hash));
    printf("generation  %u\n", m->generation);
    printf("batches     %s%s\n", agg_whole(m->n_ids).text,
           m->has_version_1 ? ", some of version 1" : "");
    for (uint32_t i = 0; i < m->n_earlier; i++)
        printf("after       %s\n", agg_manifest_print(text, m->earlier[i]));
    for (uint32_t i = 0; with_ids && i < m->n_ids; i++)
        printf("%s\n", agg_claim_print(text, m->ids[i]));
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

static agg_err run_check(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    manifests all = {NULL, 0};
    bool is_json = false;
    uint64_t n_ids = 0;
    agg_err err = read_format(&is_json, error, a->format);
    if (err == SHOAL_OK) err = load_all(&all, error, words->texts, (size_t)words->n);
    if (err == SHOAL_OK) err = agg_manifest_check_chain(error, all.list, words->texts, all.n);
    for (size_t i = 0; err == SHOAL_OK && i < all.n; i++) n_ids += all.list[i].n_ids;
    if (err == SHOAL_OK && is_json)
        printf("{\"manifests\":%zu,\"batches\":%llu}\n", all.n, (unsigned long long)n_ids);
    else if (err == SHOAL_OK)
        printf("%zu %s: good, %s batches\n", all.n, all.n == 1 ? "manifest" : "manifests",
               agg_whole(n_ids).text);
    release_all(&all);
    return err;
}

static agg_err run_print(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    agg_manifest manifest;
    bool is_json = false;
    agg_err err = read_format(&is_json, error, a->format);
    if (err == SHOAL_OK) err = agg_manifest_load(&manifest, error, words->texts[0]);
    if (err != SHOAL_OK) return err;
    if (is_json)
        print_json(&manifest, a->ids);
    else
        print_table(&manifest, a->ids);
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
        if (fwrite(m->file.data, 1, m->file.len, stdout) == m->file.len && fflush(stdout) == 0)
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

static void say_made(const arguments *a, const agg_manifest *m, const agg_generation *g,
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
    printf("%s: generation %u, %s batches\n", agg_manifest_print(name, m->name), m->generation,
           agg_whole(m->n_ids).text);
}

static agg_err gather(agg_gathered *found, agg_error *error, const arguments *a,
                      const agg_recipe *recipe, const command_words *words)
{
    agg_err err = agg_manifest_check_recipe(error, recipe);
    if (err == SHOAL_OK && a->names != NULL) err = agg_gather_names(found, error, recipe, a->names);
    for (int i = 0; err == SHOAL_OK && i < words->n; i++)
        err = agg_gather_path(found, error, recipe, words->texts[i], a->allow_version_1);
    return err;
}

static agg_err run_make(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    agg_recipe recipe;
    agg_manifest made = {.n_ids = 0};
    manifests earlier = {NULL, 0};
    agg_gathered found = {.n = 0};
    if (words->n == 0 && a->names == NULL)
        return command_refuse(error, "no batches: give files, folders or --ids FILE");
    agg_err err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err = load_all(&earlier, error, a->after.texts, a->after.n);
    if (err == SHOAL_OK) err = gather(&found, error, a, &recipe, words);
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

// ---- the rows ----

#define MAKE_EXAMPLE "  shoal manifest make --recipe fish.json -o day1.man fish.batches\n"

static const command_option make_options[] = {REQUIRED_OPTION("recipe", recipe),
                                              REQUIRED_OUTPUT_OPTION(output),
                                              OPTION("after", after),
                                              OPTION("ids", names),
                                              OPTION("allow-version-1", allow_version_1),
                                              LAST_OPTION};
static const command_option check_options[] = {OPTION("format", format), LAST_OPTION};
static const command_option print_options[] = {OPTION("ids", ids), OPTION("format", format),
                                               LAST_OPTION};

static const cli_command make_action = {.name = "make",
                                        .summary = "list the batches of a generation",
                                        .help = make_help,
                                        .example = MAKE_EXAMPLE,
                                        .options = make_options,
                                        .arguments_size = sizeof(arguments),
                                        .most_words = COMMAND_WORDS_MAX,
                                        .run = run_make};

static const cli_command check_action = {.name = "check",
                                         .summary = "check manifests, also against one another",
                                         .help = check_help,
                                         .example =
                                             MAKE_EXAMPLE "  shoal manifest check day1.man\n",
                                         .options = check_options,
                                         .arguments_size = sizeof(arguments),
                                         .least_words = 1,
                                         .most_words = COMMAND_WORDS_MAX,
                                         .words_refused = "no manifest to check",
                                         .run = run_check};

static const cli_command print_action = {.name = "print",
                                         .summary = "print what a manifest says",
                                         .help = print_help,
                                         .example =
                                             MAKE_EXAMPLE "  shoal manifest print day1.man\n",
                                         .options = print_options,
                                         .arguments_size = sizeof(arguments),
                                         .least_words = 1,
                                         .most_words = 1,
                                         .words_refused = "one manifest is needed",
                                         .run = run_print};

static const cli_command *const actions[] = {&make_action, &check_action, &print_action, NULL};

const cli_command cmd_manifest = {.name = "manifest",
                                  .summary =
                                      "lists of batches, for machines that share a collection",
                                  .help = help_text,
                                  .example = MAKE_EXAMPLE "  shoal manifest check day1.man\n",
                                  .actions = actions};
