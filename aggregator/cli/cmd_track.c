// SPDX-License-Identifier: Apache-2.0
// shoal track: a statistic over the epochs of a run.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "commands.h"
#include "dictionary.h"
#include "epoch_counts.h"
#include "input_memory.h"
#include "json_walk.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "result_options.h"
#include "track_compare.h"
#include "track_print.h"
#include "track_simulation.h"

#define SIMULATION_MAX ((size_t)1 << 24) // bytes of simulation.json
#define NAME_MAX_DIGITS 9

static const char help_text[] =
    "Usage: shoal track FOLDER [OPTION]...\n"
    "       shoal track --recipe R1 ACC1 --recipe R2 ACC2... [OPTION]...\n"
    "       shoal track --compare --recipe R --counts FILE --seed S [OPTION]...\n\n"
    "Reads the epochs of a run of thresh or heavythresh in their order: a folder with "
    "0001.recipe.json and\n"
    "0001.acc, 0002.recipe.json and so on, or each recipe with its accumulator. Prints the "
    "statistic with\n"
    "standard errors and intervals, the updates, how many are left, and which changes are seen how "
    "late.\n"
    "Refuses a missing epoch, records of another recipe, recipes of another run, and (exit 3) an "
    "epoch with\n"
    "fewer reports than the minimum cohort.\n\n"
    "  --recipe FILE       an epoch's recipe (JSON), once for each, in their order\n"
    "  --dictionary FILE   of heavythresh: values to ask about, one a line\n"
    "  --top N             of heavythresh: the N largest at the last update, and all that moved; "
    "default: all\n"
    "  --truth FILE        a simulation's counts (epoch<TAB>value<TAB>count): prints the errors\n"
    "  --confidence C      of the intervals, default 0.95\n"
    "  --all               every epoch in the table, not only those where something happened\n"
    "  --format FORMAT     table (default), json, csv or svg\n"
    "  -o, --output FILE   default: standard output\n"
    "  --compare           simulates thresh, recomputing every epoch, and memoized responses side "
    "by side, and\n"
    "                      prints error and privacy spent against epochs and changes\n"
    "  --counts FILE       with --compare: epoch<TAB>value<TAB>count lines, as of shoal simulate\n"
    "  --seed TEXT         with --compare: any text\n"
    "  --devices N         with --compare: default as many as the recipe has users\n"
    "  --epochs T          with --compare: the first T epochs only\n"
    "  --threads T         default: all cores\n"
    "  --memory SIZE       refuse to take more than this, as 256M or 2G; without it, what is taken "
    "is said where it\n"
    "                      is much\n";

typedef struct arguments {
    const char **recipes, **files; // --recipe, and what is no option
    size_t n_recipes;
    int n_files;
    const char *dictionary, *top, *truth, *confidence, *format, *output, *counts, *seed, *devices,
        *epochs, *threads, *memory;
    int is_compare, has_all;
    uint64_t n_top, n_devices, n_epochs, memory_limit; // 0: none
    double confidence_;
    size_t format_number;
    unsigned n_threads;
} arguments;

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

// ---- the command line ----

static agg_err check_epochs(const arguments *a, agg_error *error)
{
    if (a->counts != NULL || a->seed != NULL || a->devices != NULL || a->epochs != NULL)
        return usage(error, "--counts, --seed, --devices and --epochs go with --compare");
    if (a->n_recipes == 0)
        return a->n_files == 1
                   ? SHOAL_OK
                   : usage(error, "name one folder, or --recipe and an accumulator for each epoch");
    if ((size_t)a->n_files == a->n_recipes) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "%zu recipe%s and %d accumulator%s: each recipe takes one", a->n_recipes,
                    a->n_recipes == 1 ? "" : "s", a->n_files, a->n_files == 1 ? "" : "s");
}

static agg_err check_compare(const arguments *a, agg_error *error)
{
    if (a->n_recipes != 1 || a->n_files != 0)
        return usage(error, "--compare takes one --recipe, of epoch 1");
    if (a->dictionary != NULL || a->truth != NULL || a->top != NULL || a->confidence != NULL)
        return usage(error,
                     "--dictionary, --top, --truth and --confidence do not go with --compare");
    if (a->format_number == AGG_TRACK_SVG)
        return usage(error, "--compare has no picture: --format table, json or csv");
    agg_err err = cli_need(error, "counts", a->counts);
    return err == SHOAL_OK ? cli_need(error, "seed", a->seed) : err;
}

static agg_err read_values(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", "csv", "svg",
                                          NULL}; // in the order of agg_track_format
    a->confidence_ = 0.95;
    agg_err err = cli_read_threads(&a->n_threads, error, a->threads);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK && a->top != NULL)
        err = cli_read_whole(&a->n_top, error, "top", a->top, 1, UINT32_MAX);
    if (err == SHOAL_OK && a->devices != NULL)
        err = cli_read_whole(&a->n_devices, error, "devices", a->devices, 1, 1000000000);
    if (err == SHOAL_OK && a->epochs != NULL)
        err = cli_read_whole(&a->n_epochs, error, "epochs", a->epochs, 1, SHOAL_EPOCHS_MAX);
    if (err == SHOAL_OK && a->confidence != NULL)
        err = cli_read_decimal(&a->confidence_, error, "confidence", a->confidence, 0.000001,
                               0.999999999999);
    if (err == SHOAL_OK)
        err = cli_read_name(&a->format_number, error, formats, a->format,
                            "--format is table, json, csv or svg");
    if (err == SHOAL_OK) err = a->is_compare ? check_compare(a, error) : check_epochs(a, error);
    return err;
}

static agg_err read_rest(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    const cli_option options[] = {{"dictionary", 0, &a->dictionary, NULL},
                                  {"top", 0, &a->top, NULL},
                                  {"truth", 0, &a->truth, NULL},
                                  {"confidence", 0, &a->confidence, NULL},
                                  {"all", 0, NULL, &a->has_all},
                                  {"format", 0, &a->format, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {"compare", 0, NULL, &a->is_compare},
                                  {"counts", 0, &a->counts, NULL},
                                  {"seed", 0, &a->seed, NULL},
                                  {"devices", 0, &a->devices, NULL},
                                  {"epochs", 0, &a->epochs, NULL},
                                  {"threads", 0, &a->threads, NULL},
                                  {"memory", 0, &a->memory, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read(options, error, argc, argv, a->files, &a->n_files, help);
    return err == SHOAL_OK && !*help ? read_values(a, error) : err;
}

static agg_err read_arguments(arguments *a, agg_error *error, int argc, char **argv, int *help)
{
    char **rest = agg_alloc(error, (size_t)argc, sizeof *rest);
    int n_rest = 0;
    a->recipes = agg_alloc(error, (size_t)argc, sizeof *a->recipes);
    a->files = agg_alloc(error, (size_t)argc, sizeof *a->files);
    agg_err err =
        rest == NULL || a->recipes == NULL || a->files == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK)
        err = cli_take_repeated(a->recipes, &a->n_recipes, rest, &n_rest, error, "recipe", argc,
                                argv);
    if (err == SHOAL_OK) err = read_rest(a, error, n_rest, rest, help);
    free(rest);
    return err;
}

// ---- epochs ----

static agg_err add_epoch(agg_track *track, agg_error *error, const char *recipe_path,
                         const char *path)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_err err = agg_recipe_from_file(&recipe, error, recipe_path);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_load(&acc, error, path);
    if (err == SHOAL_OK) {
        err = agg_track_add(track, error, path, &recipe, &acc);
        agg_accumulator_release(&acc);
    }
    agg_recipe_release(&recipe);
    return err;
}

typedef struct folder {
    const char *path;
    char **names; // without ".recipe.json"
    size_t n, cap;
} folder;

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    unsigned long p = strtoul(x, NULL, 10), q = strtoul(y, NULL, 10);
    return p != q ? (p < q ? -1 : 1) : strcmp(x, y);
}

// Names that are a number and ".recipe.json".
static agg_err take_name(folder *f, agg_error *error, const char *name)
{
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > NAME_MAX_DIGITS || strcmp(name + digits, ".recipe.json") != 0)
        return SHOAL_OK;
    agg_err err = agg_grow((void **)&f->names, &f->cap, f->n + 1, sizeof *f->names, error);
    if (err != SHOAL_OK) return err;
    char *own = agg_alloc(error, digits + 1, 1);
    if (own == NULL) return AGG_ERR_MEMORY;
    memcpy(own, name, digits);
    f->names[f->n++] = own;
    return SHOAL_OK;
}

static agg_err list_folder(folder *f, agg_error *error)
{
    agg_err err = SHOAL_OK;
    DIR *dir = opendir(f->path);
    if (dir == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be read: %s", f->path,
                        strerror(errno));
    for (const struct dirent *entry; err == SHOAL_OK && (entry = readdir(dir)) != NULL;)
        err = take_name(f, error, entry->d_name);
    closedir(dir);
    if (err == SHOAL_OK && f->n == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "%s: holds no epoch: nothing like 0001.recipe.json", f->path);
    if (err == SHOAL_OK) qsort(f->names, f->n, sizeof *f->names, by_number);
    return err;
}

// "FOLDER/NAME"; release with free.
static char *join(agg_error *error, const char *path, const char *name, const char *end)
{
    size_t size = strlen(path) + strlen(name) + strlen(end) + 2;
    char *out = agg_alloc(error, size, 1);
    if (out != NULL) snprintf(out, size, "%s/%s%s", path, name, end);
    return out;
}

static agg_err add_folder(agg_track *track, agg_error *error, const char *path)
{
    folder f = {.path = path};
    agg_err err = list_folder(&f, error);
    for (size_t i = 0; i < f.n && err == SHOAL_OK; i++) {
        char *recipe = join(error, path, f.names[i], ".recipe.json"),
             *acc = join(error, path, f.names[i], ".acc");
        err = recipe == NULL || acc == NULL ? AGG_ERR_MEMORY : add_epoch(track, error, recipe, acc);
        free(recipe);
        free(acc);
    }
    for (size_t i = 0; i < f.n; i++) free(f.names[i]);
    free(f.names);
    return err;
}

static agg_err add_epochs(agg_track *track, agg_error *error, const arguments *a)
{
    agg_err err = a->n_recipes == 0 ? add_folder(track, error, a->files[0]) : SHOAL_OK;
    for (size_t i = 0; i < a->n_recipes && err == SHOAL_OK; i++)
        err = add_epoch(track, error, a->recipes[i], a->files[i]);
    return err == SHOAL_OK ? agg_track_finish(track, error) : err;
}

// ---- what stands beside them ----

static agg_err load_truth(double **truth, agg_error *error, const agg_track *track,
                          const char *path)
{
    epoch_counts counts;
    if (agg_track_is_heavy(&track->law))
        return usage(error, "--truth is of a mean: a run of thresh");
    agg_err err = epoch_counts_load(&counts, error, path);
    if (err != SHOAL_OK) return err;
    *truth = agg_alloc(error, track->n_rows, sizeof **truth);
    err = *truth == NULL ? AGG_ERR_MEMORY
                         : track_truth(*truth, error, &track->recipe, &counts,
                                       track->law.plan.users, (uint32_t)track->n_rows);
    epoch_counts_release(&counts);
    return err;
}

static size_t read_list(double *out, size_t most, const cJSON *array)
{
    size_t n = 0;
    for (const cJSON *item = cJSON_IsArray(array) ? array->child : NULL; item != NULL && n < most;
         item = item->next)
        out[n++] = item->valuedouble;
    return n;
}

// What `shoal simulate` wrote beside the epochs; a file of another run says nothing.
static agg_err take_simulated(agg_track_simulated *out, double **numbers, agg_error *error,
                              const agg_track *track, const cJSON *root)
{
    size_t n = track->n_rows;
    const char *run = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "run_hash"));
    double devices = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(root, "devices"));
    if (run == NULL || strcmp(run, track->run_hex) != 0 || !(devices >= 1 && devices < 1e15))
        return SHOAL_OK;
    *numbers = agg_alloc(error, 2 * n, sizeof **numbers);
    if (*numbers == NULL) return AGG_ERR_MEMORY;
    out->n_epochs = read_list(*numbers, n, cJSON_GetObjectItemCaseSensitive(root, "votes_spent"));
    size_t n_privacy =
        read_list(*numbers + n, n, cJSON_GetObjectItemCaseSensitive(root, "privacy"));
    out->devices = (uint64_t)devices;
    out->votes_spent = *numbers;
    out->privacy_max = n_privacy > 0 ? (*numbers)[n + n_privacy - 1] : 0;
    return SHOAL_OK;
}

static agg_err load_simulated(agg_track_simulated *out, double **numbers, agg_error *error,
                              const agg_track *track, const char *path)
{
    agg_error unread;
    agg_bytes bytes;
    char *file = join(error, path, "simulation.json", "");
    if (file == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_file_read(&bytes, &unread, file, SIMULATION_MAX);
    if (err == SHOAL_OK) {
        cJSON *root = agg_json_parse(error, (const char *)bytes.data, bytes.len);
        err = root != NULL ? take_simulated(out, numbers, error, track, root) : AGG_ERR_JSON;
        if (root == NULL) agg_error_prefix(error, "%s", file);
        cJSON_Delete(root);
        free(bytes.data);
    } else {
        err = SHOAL_OK; // there is none: it was no simulation
    }
    free(file);
    return err;
}

// ---- the result ----

typedef struct printing {
    const agg_track_result *result;
    agg_track_format format;
} printing;

static agg_err print(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const printing *p = result;
    (void)format;
    return agg_track_print(stream, error, p->result, p->format);
}

static agg_err show(agg_error *error, const arguments *a, agg_track_result *result)
{
    const printing p = {result, (agg_track_format)a->format_number};
    char command[] = "track", note[AGG_TRACK_NOTE_MAX];
    agg_err err = cli_result_write(error, a->output, print, &p, AGG_TABLE);
    for (uint32_t i = 0;
         err == SHOAL_OK && p.format >= AGG_TRACK_CSV && agg_track_note(note, result->track, i);
         i++)
        agg_log_line(command, note);
    if (err == SHOAL_OK && result->items == NULL && agg_track_is_heavy(&result->track->law))
        agg_log_line(
            command,
            "a run of heavythresh: --dictionary names the values whose shares are asked for");
    return err;
}

// Once the epochs are read, whose accumulators are small; what is asked about many values is not.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_track *track,
                            const agg_dictionary *dictionary)
{
    char command[] = "track";
    uint64_t sums =
        agg_track_is_heavy(&track->law) ? track->recipe.recipe.projection * sizeof(int32_t) : 0;
    uint64_t bytes =
        track->n_rows * sizeof *track->rows + track->n_updates * (sizeof *track->updates + sums);
    if (dictionary != NULL)
        bytes += cli_dictionary_memory(dictionary) + agg_track_items_memory(track, dictionary->n);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err show_items(agg_error *error, const arguments *a, agg_track_result *result)
{
    char command[] = "track";
    agg_dictionary dictionary;
    agg_track_items items;
    if (!agg_track_is_heavy(&result->track->law))
        return usage(error, "--dictionary is for heavythresh: this run follows a mean");
    agg_err err = agg_dictionary_load(&dictionary, error, &result->track->recipe, a->dictionary,
                                      agg_log_line, command);
    if (err != SHOAL_OK) return err;
    err = state_memory(error, a, result->track, &dictionary);
    if (err == SHOAL_OK) err = agg_track_items_run(&items, error, result->track, &dictionary);
    if (err == SHOAL_OK) {
        result->items = &items;
        err = show(error, a, result);
        agg_track_items_release(&items);
    }
    agg_dictionary_release(&dictionary);
    return err;
}

static agg_err run(agg_error *error, const arguments *a)
{
    agg_track track;
    agg_track_simulated simulated = {0};
    double *truth = NULL, *numbers = NULL;
    agg_track_init(&track, a->confidence_);
    agg_err err = add_epochs(&track, error, a);
    if (err == SHOAL_OK && a->truth != NULL) err = load_truth(&truth, error, &track, a->truth);
    if (err == SHOAL_OK && a->n_recipes == 0)
        err = load_simulated(&simulated, &numbers, error, &track, a->files[0]);
    agg_track_result result = {.track = &track,
                               .truth = truth,
                               .simulated = simulated.n_epochs > 0 ? &simulated : NULL,
                               .top = (size_t)a->n_top,
                               .has_all_epochs = a->has_all};
    if (err == SHOAL_OK && a->dictionary == NULL) err = state_memory(error, a, &track, NULL);
    if (err == SHOAL_OK)
        err = a->dictionary != NULL ? show_items(error, a, &result) : show(error, a, &result);
    agg_track_release(&track);
    free(truth);
    free(numbers);
    return err;
}

static agg_err compare(agg_error *error, const arguments *a)
{
    const track_compare_options options = {.recipe = a->recipes[0],
                                           .counts = a->counts,
                                           .seed = a->seed,
                                           .output = a->output,
                                           .n_devices = a->n_devices,
                                           .n_epochs = (uint32_t)a->n_epochs,
                                           .format = (agg_track_format)a->format_number,
                                           .has_all_epochs = a->has_all,
                                           .n_threads = a->n_threads,
                                           .memory_limit = a->memory_limit};
    return track_compare(error, &options);
}

int cmd_track(int argc, char **argv)
{
    arguments a = {0};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0;
    agg_err err = read_arguments(&a, &error, argc, argv, &help);
    if (err == SHOAL_OK && help)
        fputs(help_text, stdout);
    else if (err == SHOAL_OK)
        err = a.is_compare ? compare(&error, &a) : run(&error, &a);
    free(a.recipes);
    free(a.files);
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("track", &error);
}
