// SPDX-License-Identifier: Apache-2.0
// Files of a static report; see static_files.h.
#include "static_files.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "discover.h"
#include "domain_dictionary.h"
#include "input_memory.h"
#include "known_texts.h"
#include "log.h"
#include "recipe.h"
#include "recipe_view.h"
#include "static_rounds.h"

#define PERIOD_MAX 100u // bytes of a period's name with a NUL
#define LABEL_MAX 160u  // bytes of a recipe's name among others
#define HEAD_MAX 256u   // bytes that hold an accumulator's recipe hash

struct agg_static_input {
    agg_recipe recipe;
    const agg_recipe *view; // the recipe or one of its variables
    agg_dictionary dictionary;
    const char **paths; // of its accumulators
    char (*periods)[PERIOD_MAX];
    const char **names; // of the periods
    size_t n;
    const char *categories[SHOAL_VARIABLES_MAX]; // files of a joint recipe's variables
    char label[LABEL_MAX];
    agg_wholeness wholeness;
    agg_list known; // strings that are no discovery
};

static agg_err load(void *context, agg_accumulator *acc, agg_error *error, size_t i)
{
    const agg_static_input *in = context;
    return agg_accumulator_load_result(acc, error, in->paths[i], in->recipe.recipe, in->wholeness);
}

// Names a period by its file, without folder and ending.
static void name_period(char name[PERIOD_MAX], const char *file)
{
    const char *slash = strrchr(file, '/'), *start = slash == NULL ? file : slash + 1;
    size_t len = strlen(start);
    if (len > 4 && strcmp(start + len - 4, ".acc") == 0) len -= 4;
    snprintf(name, PERIOD_MAX, "%.*s", (int)(len < 90 ? len : 90), start);
}

// ---- options of one recipe among several ----

// Returns: what follows "ID=" in an option of this recipe; NULL for another one's.
static const char *after_id(const char *text, const agg_recipe *recipe)
{
    size_t len = strlen(recipe->id);
    return strncmp(text, recipe->id, len) == 0 && text[len] == '=' ? text + len + 1 : NULL;
}

// Refuses an option that is of no recipe.
static agg_err check_option(agg_error *error, const agg_static_files *files, const char *option,
                            const char *const *texts, size_t n)
{
    for (size_t i = 0; files->n > 1 && i < n; i++) {
        bool is_known = false;
        for (size_t r = 0; r < files->n; r++)
            is_known |= after_id(texts[i], &files->inputs[r].recipe) != NULL;
        if (!is_known)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "%s %s: with several recipes it is ID=%s, with the id of one of them",
                            option, texts[i], strcmp(option, "--variable") == 0 ? "NAME" : "FILE");
    }
    return SHOAL_OK;
}

// Finds the option of a recipe. Sets `found` to NULL where it has none.
static agg_err find_option(const char **found, agg_error *error, const agg_static_files *files,
                           size_t r, const char *option, const char *const *texts, size_t n)
{
    *found = NULL;
    for (size_t i = 0; i < n; i++) {
        const char *mine = after_id(texts[i], &files->inputs[r].recipe);
        if (mine == NULL && files->n == 1) mine = texts[i];
        if (mine != NULL && *found != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s is given twice for recipe %s",
                            option, files->inputs[r].recipe.id);
        if (mine != NULL) *found = mine;
    }
    return SHOAL_OK;
}

// ---- recipes ----

// Names a recipe among those before it: by its id, with a number where that is taken.
static void label_recipe(agg_static_files *files, size_t r)
{
    size_t same = 1;
    for (size_t i = 0; i < r; i++)
        same += strcmp(files->inputs[i].recipe.id, files->inputs[r].recipe.id) == 0;
    if (same == 1)
        snprintf(files->inputs[r].label, LABEL_MAX, "%.120s", files->inputs[r].recipe.id);
    else
        snprintf(files->inputs[r].label, LABEL_MAX, "%.120s (%zu)", files->inputs[r].recipe.id,
                 same);
}

static agg_err read_recipes(agg_static_files *files, agg_error *error,
                            const agg_static_names *names)
{
    for (size_t r = 0; r < names->n_recipes; r++) {
        agg_static_input *in = &files->inputs[r];
        agg_err err = agg_recipe_from_file(&in->recipe, error, names->recipes[r]);
        if (err != SHOAL_OK) return err;
        files->n = r + 1;
        in->wholeness = names->wholeness;
        label_recipe(files, r);
        for (size_t i = 0; i < r; i++)
            if (memcmp(in->recipe.recipe->recipe_hash, files->inputs[i].recipe.recipe->recipe_hash,
                       32) == 0)
                return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                                "%s is the same recipe as %s: give it once, with all of its "
                                "accumulators in the order of time",
                                names->recipes[r], names->recipes[i]);
    }
    return SHOAL_OK;
}

// ---- accumulators ----

// Finds the recipe of an accumulator by the hash in its head.
static agg_err find_recipe(size_t *r, agg_error *error, const agg_static_files *files,
                           const char *path)
{
    uint8_t head[HEAD_MAX], hash[32];
    uint64_t n = 0;
    *r = 0;
    if (files->n == 1) return SHOAL_OK; // loading it says what does not fit
    FILE *file = fopen(path, "rb");
    if (file == NULL) return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s cannot be read", path);
    size_t len = fread(head, 1, sizeof head, file);
    fclose(file);
    agg_err err = agg_accumulator_read_head(hash, &n, head, len);
    if (err != SHOAL_OK)
        return agg_fail(error, err, AGG_EXIT_RUNTIME, "%s is no accumulator of this version", path);
    while (*r < files->n && memcmp(hash, files->inputs[*r].recipe.recipe->recipe_hash, 32) != 0)
        (*r)++;
    if (*r < files->n) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s is of none of the %zu recipes given",
                    path, files->n);
}

static agg_err sort_accumulators(agg_static_files *files, agg_error *error,
                                 const agg_static_names *names)
{
    for (size_t r = 0; r < files->n; r++) {
        agg_static_input *in = &files->inputs[r];
        in->paths = agg_alloc(error, names->n, sizeof *in->paths);
        in->periods = agg_alloc(error, names->n, sizeof *in->periods);
        in->names = agg_alloc(error, names->n, sizeof *in->names);
        if (in->paths == NULL || in->periods == NULL || in->names == NULL) return AGG_ERR_MEMORY;
    }
    for (size_t i = 0; i < names->n; i++) {
        size_t r;
        agg_err err = find_recipe(&r, error, files, names->accumulators[i]);
        if (err != SHOAL_OK) return err;
        agg_static_input *in = &files->inputs[r];
        name_period(in->periods[in->n], names->accumulators[i]);
        in->names[in->n] = in->periods[in->n];
        in->paths[in->n++] = names->accumulators[i];
    }
    for (size_t r = 0; r < files->n; r++)
        if (files->inputs[r].n == 0 && !agg_discover_takes_rounds(&files->inputs[r].recipe))
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "none of the accumulators is of recipe %s", names->recipes[r]);
    return SHOAL_OK;
}

// ---- reports ----

// Reads VARIABLE=FILE for each variable of a joint recipe that has one.
static agg_err find_categories(agg_static_files *files, agg_error *error,
                               const agg_static_names *names, size_t r)
{
    agg_static_input *in = &files->inputs[r];
    for (size_t i = 0; i < names->n_dictionaries; i++) {
        const char *text = after_id(names->dictionaries[i], &in->recipe);
        if (text == NULL && files->n > 1) continue;
        if (text == NULL) text = names->dictionaries[i];
        const char *equals = strchr(text, '=');
        uint32_t v = equals == NULL
                         ? in->recipe.recipe->n_variables
                         : agg_recipe_find_variable(&in->recipe, text, (size_t)(equals - text));
        if (v == in->recipe.recipe->n_variables)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "--dictionary %s: of recipe %s, which has variables, it is "
                            "VARIABLE=FILE; or name one with --variable",
                            text, in->recipe.id);
        if (in->categories[v] != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "--dictionary is given twice for a variable of recipe %s",
                            in->recipe.id);
        in->categories[v] = equals + 1;
    }
    return SHOAL_OK;
}

static agg_err read_values(agg_static_files *files, agg_error *error, const agg_static_names *names,
                           size_t r, const char *variable)
{
    agg_static_input *in = &files->inputs[r];
    const char *dictionary = NULL;
    if (in->recipe.recipe->n_variables > 0 && variable == NULL) {
        in->view = &in->recipe;
        return find_categories(files, error, names, r);
    }
    agg_err err = find_option(&dictionary, error, files, r, "--dictionary", names->dictionaries,
                              names->n_dictionaries);
    if (err == SHOAL_OK) err = agg_recipe_view_of(&in->view, error, &in->recipe, variable);
    if (err != SHOAL_OK) return err;
    bool finds = agg_discover_finds(&in->recipe);
    if (finds && dictionary != NULL)
        err = agg_known_texts_load(&in->known, error, dictionary, &in->recipe);
    if (err != SHOAL_OK) return err;
    if (finds && (dictionary == NULL || agg_discover_takes_rounds(&in->recipe))) return SHOAL_OK;
    if (dictionary == NULL) return agg_dictionary_of_recipe(&in->dictionary, error, in->view);
    return agg_dictionary_load(&in->dictionary, error, in->view, dictionary, agg_log_line,
                               names->command);
}

static agg_err make_report(agg_static_files *files, agg_error *error, const agg_static_names *names,
                           size_t r, const agg_static_report *like)
{
    agg_static_input *in = &files->inputs[r];
    const char *variable = NULL;
    agg_err err =
        find_option(&variable, error, files, r, "--variable", names->variables, names->n_variables);
    bool is_joint = in->recipe.recipe->n_variables > 0 && variable == NULL;
    if (err == SHOAL_OK) err = read_values(files, error, names, r, variable);
    if (err != SHOAL_OK && files->n > 1) agg_error_prefix(error, "recipe %s", in->recipe.id);
    agg_static_report *report = &files->reports[r];
    *report = *like;
    report->recipe = in->view;
    report->dictionary = &in->dictionary;
    report->categories = is_joint ? in->categories : NULL;
    report->finds = agg_discover_finds(&in->recipe) && variable == NULL;
    report->known = &in->known;
    report->names = in->names;
    report->n = in->n;
    report->load = load;
    report->context = in;
    report->among = files->n > 1 ? in->label : NULL;
    if (report->title == NULL) report->title = in->recipe.id;
    return err;
}

agg_err agg_static_files_open(agg_static_files *files, agg_error *error,
                              const agg_static_names *names, const agg_static_report *like)
{
    *files =
        (agg_static_files){.inputs = agg_alloc(error, names->n_recipes, sizeof *files->inputs),
                           .reports = agg_alloc(error, names->n_recipes, sizeof *files->reports),
                           .rounds = agg_alloc(error, names->n_recipes, sizeof *files->rounds)};
    agg_err err = files->inputs == NULL || files->reports == NULL || files->rounds == NULL
                      ? AGG_ERR_MEMORY
                      : SHOAL_OK;
    if (err == SHOAL_OK) {
        memset(files->inputs, 0, names->n_recipes * sizeof *files->inputs);
        err = read_recipes(files, error, names);
    }
    if (err == SHOAL_OK)
        err =
            check_option(error, files, "--dictionary", names->dictionaries, names->n_dictionaries);
    if (err == SHOAL_OK)
        err = check_option(error, files, "--variable", names->variables, names->n_variables);
    if (err == SHOAL_OK) err = sort_accumulators(files, error, names);
    for (size_t r = 0; err == SHOAL_OK && r < files->n; r++)
        err = make_report(files, error, names, r, like);
    files->n_reports = files->n;
    if (err == SHOAL_OK)
        err = agg_static_rounds_join(files->reports, &files->n_reports, files->rounds, error);
    if (err == SHOAL_OK && files->n_reports == 1) files->reports[0].among = NULL;
    if (err != SHOAL_OK) agg_static_files_release(files);
    return err;
}

void agg_static_files_release(agg_static_files *files)
{
    for (size_t r = 0; r < files->n; r++) {
        agg_static_input *in = &files->inputs[r];
        agg_dictionary_release(&in->dictionary);
        agg_list_release(&in->known);
        if (in->view != NULL) agg_recipe_view_release(in->view, &in->recipe);
        agg_recipe_release(&in->recipe);
        free(in->paths);
        free(in->periods);
        free(in->names);
    }
    free(files->inputs);
    free(files->reports);
    free(files->rounds);
    *files = (agg_static_files){0};
}

// Returns: the bytes that one report takes; `rounds` are in memory together.
static uint64_t report_memory(const agg_static_report *report)
{
    const size_t n_rounds = report->n_rounds > 0 ? report->n_rounds : 1;
    uint64_t bytes = agg_static_report_memory(report), most = 0;
    for (size_t i = 0; i < n_rounds; i++) {
        const agg_static_report *round = report->n_rounds > 0 ? &report->rounds[i] : report;
        const agg_static_input *in = round->context;
        uint64_t accumulator = cli_accumulator_memory(in->paths[0], in->recipe.recipe),
                 finding = round->finds ? agg_discover_memory(&in->recipe, accumulator,
                                                              round->options.n_threads)
                                        : 0;
        bytes += accumulator;
        if (accumulator + finding > most) most = accumulator + finding;
    }
    return bytes + most;
}

uint64_t agg_static_files_memory(const agg_static_files *files)
{
    uint64_t most = 0, dictionaries = 0;
    for (size_t r = 0; r < files->n_reports; r++) {
        uint64_t one = report_memory(&files->reports[r]);
        if (one > most) most = one;
    }
    for (size_t r = 0; r < files->n; r++)
        dictionaries += cli_dictionary_memory(&files->inputs[r].dictionary);
    return most + dictionaries;
}
