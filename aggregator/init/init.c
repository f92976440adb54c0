// SPDX-License-Identifier: Apache-2.0
// From options to a folder; see init.h.
#include "init.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init_ask.h"
#include "init_folder.h"
#include "init_values.h"
#include "log.h"
#include "print_text.h"

#define SENTENCE_MAX 512u

static void say(const char *text)
{
    char command[] = "init";
    agg_log_line(command, text);
}

// ---- before anything is written ----

static agg_err take_yes(void *context, agg_error *error, const char *answer)
{
    bool *is_yes = context;
    *is_yes = strcmp(answer, "yes") == 0;
    if (*is_yes || strcmp(answer, "no") == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "yes or no");
}

// Stops where the plan sees nothing: to collect would cost people something, for no answer.
static agg_err agree(agg_error *error, const init_answers *a, const init_figures *f)
{
    char needed[SENTENCE_MAX];
    bool is_yes = a->options->is_anyway;
    if (!f->is_nothing || is_yes) return SHOAL_OK;
    init_put_needed(needed, sizeof needed, f);
    if (a->can_ask) {
        fprintf(stderr, "Nothing would be seen: %s. %s\n", f->why, needed);
        agg_err err = init_ask_until(error, "Write the folder nonetheless? yes or no", "no",
                                     take_yes, &is_yes);
        if (err != SHOAL_OK || is_yes) return err;
    }
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_RUNTIME,
                    "nothing would be seen: %s. %s Nothing was written; --anyway writes it", f->why,
                    needed);
}

// ---- writing ----

static bool is_due(const init_answers *a, init_when when)
{
    return when == INIT_ALWAYS || (when == INIT_WITH_RELAY && a->relay[0] != '\0') ||
           (when == INIT_WITH_DICTIONARY && init_dictionary(a->what) != NULL);
}

static agg_err write_file(init_folder *folder, agg_error *error, const init_file *file,
                          const init_values *values)
{
    const char *const path_parts[] = {file->path, NULL};
    char *path = NULL, *text = NULL;
    agg_err err = init_fill_text(&path, error, INIT_PLAIN, path_parts, values->list);
    if (err == SHOAL_OK) err = init_fill_text(&text, error, file->kind, file->parts, values->list);
    if (err == SHOAL_OK)
        err = init_folder_add(folder, error, path, file->is_private, text, strlen(text));
    free(path);
    free(text);
    return err;
}

static agg_err write_all(init_folder *folder, agg_error *error, const init_answers *a,
                         const init_values *values)
{
    agg_err err = init_folder_begin(folder, error, a->options->folder);
    for (const init_dir *dir = init_dirs; dir->path != NULL && err == SHOAL_OK; dir++)
        if (is_due(a, dir->when))
            err = init_folder_add_folder(folder, error, dir->path, dir->is_private);
    for (const init_file *file = init_files; file->path != NULL && err == SHOAL_OK; file++)
        if (is_due(a, file->when)) err = write_file(folder, error, file, values);
    return err == SHOAL_OK ? init_folder_commit(folder, error) : err;
}

// ---- afterwards ----

// Prints a path as one word of a POSIX shell, since people copy the line.
static void print_shell_word(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    const char *lead = word[0] == '-' ? "./" : "";
    fputs(lead, stdout);
    if (word[strspn(word, plain)] == '\0') {
        fputs(word, stdout);
        return;
    }
    fputc('\'', stdout);
    for (const char *rest = word; *rest != '\0';) {
        size_t len = strcspn(rest, "'");
        agg_print_terminal_text(stdout, rest, len);
        rest += len;
        if (*rest != '\'') continue;
        fputs("'\\''", stdout);
        rest++;
    }
    fputc('\'', stdout);
}

static void print_done(const init_answers *a, const init_figures *f, const init_values *values)
{
    const char *folder = a->options->folder;
    char needed[SENTENCE_MAX];
    init_put_needed(needed, sizeof needed, f);
    fputs("Wrote ", stdout);
    agg_print_terminal_text(stdout, folder, strlen(folder));
    printf(": %s, from about %s reports.\n\n", init_whats[a->what],
           init_values_get(values, "reports"));
    if (f->is_nothing) printf("  Nothing will be seen: %s. %s\n\n", f->why, needed);
    init_print_wrapped(stdout, "  ", init_values_get(values, "sentence"));
    fputc('\n', stdout);
    init_print_wrapped(stdout, "  ", init_values_get(values, "promise"));
    fputc('\n', stdout);
    printf("  the recipe   %s, until %s\n", init_values_get(values, "mechanism"), a->expires);
    printf("  page, edge   %s, %s\n\n", a->site, a->edge);
    fputs("Next:\n\n  cd ", stdout);
    print_shell_word(folder);
    if (a->options->packages == NULL)
        fputs("\n  mkdir " INIT_PACKAGES "  and put the packages of a release into it", stdout);
    fputs("\n  npm install\n  npm run dev     a trial on this machine, with a simulated crowd\n\n"
          "README.md says how to run it for people. Read privacy/ before you do.\n",
          stdout);
    if (a->options->seed != NULL)
        say("--seed is for tests: who knows it knows the secrets of this folder");
}

static agg_err write_planned(agg_error *error, const init_answers *a, const init_figures *f,
                             const init_recipes *recipes)
{
    init_values values;
    init_folder folder = {.path = NULL};
    agg_err err = init_values_make(&values, error, a, f, recipes);
    if (err == SHOAL_OK) err = write_all(&folder, error, a, &values);
    if (err == SHOAL_OK) print_done(a, f, &values);
    init_folder_end(&folder);
    init_values_release(&values);
    return err;
}

// Refuses a folder that is in the way before anything is asked.
static agg_err check_folder(agg_error *error, const char *path)
{
    init_folder folder;
    agg_err err = init_folder_begin(&folder, error, path);
    init_folder_end(&folder);
    return err;
}

agg_err init_run(agg_error *error, const init_options *options)
{
    init_answers answers = {.options = options};
    init_figures *figures = NULL;
    init_recipes recipes = {.recipe = NULL};
    agg_err err = check_folder(error, options->folder);
    if (err == SHOAL_OK) err = init_answers_take(&answers, error, options);
    if (err == SHOAL_OK) {
        figures = malloc(sizeof *figures);
        if (figures == NULL) err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    }
    if (err == SHOAL_OK) err = init_figures_make(figures, error, &answers);
    if (err == SHOAL_OK) err = agree(error, &answers, figures);
    if (err == SHOAL_OK) err = init_recipes_make(&recipes, error, &answers, figures);
    if (err == SHOAL_OK) err = write_planned(error, &answers, figures, &recipes);
    init_recipes_release(&recipes);
    init_answers_release(&answers);
    free(figures);
    return err;
}
