// SPDX-License-Identifier: Apache-2.0
// shoal recipe: check, hash and write recipes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef __wasi__
#include <sys/random.h>
#endif

#include "agg_file.h"
#include "agg_size.h"
#include "commands.h"
#include "dictionary.h"
#include "estimate_print.h"
#include "options.h"
#include "report_json.h"
#include "talk.h"

static const char help_text[] =
    "Usage: shoal recipe check FILE...\n"
    "       shoal recipe hash FILE...\n"
    "       shoal recipe new --id ID --expires DATE [OPTION]...\n\n"
    "check prints what a recipe costs a person; hash prints the hash that reports, batches and\n"
    "accumulators carry; new writes a recipe with a fresh random seed.\n\n"
    "  --id ID              the collection's id: a-z, 0-9, and . _ - after the first\n"
    "  --expires DATE       last day, YYYY-MM-DD\n"
    "  --mechanism NAME     cms (default), hcms or onehot-asymmetric (the default with --values)\n"
    "  --epsilon E          cost of one report, default 4\n"
    "  --k K                rows of a sketch, default 65536 (hcms: 1024)\n"
    "  --m M                columns, default 1024 (hcms: 32768); an accumulator takes 4 K M bytes\n"
    "  --values FILE        onehot-asymmetric: the list of values, one a line, in order\n"
    "  --analysis NAME      what the budget is shared over, default the id\n"
    "  --stream NAME        the on-device stream, default typed-words\n"
    "  --value KIND         word (default), host, site, item or number\n"
    "  --per-day N          reports a day, default 1\n"
    "  -o, --output FILE    default: standard output\n";

typedef struct arguments {
    const char *id, *mechanism, *epsilon, *k, *m, *values, *analysis, *stream, *value, *per_day, *expires, *output;
} arguments;

static uint64_t today(void)
{
    return (uint64_t)time(NULL) / 86400;
}

static const char *mechanism_name(const shoal_recipe *r)
{
    return shoal_mechanism_by_id(r->mechanism)->name;
}

static void print_parameters(const agg_recipe *recipe)
{
    const shoal_recipe *r = &recipe->recipe;
    const char *name = NULL;
    int64_t micro = 0;
    printf("mechanism           %s", mechanism_name(r));
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &micro, r, i); i++)
        if (strcmp(name, "epsilon") != 0) printf(", %s=%.10g", name, (double)micro / 1e6);
    printf("\nrecord              %u bytes in a batch, %zu in a JSON report\n", r->record_size,
           agg_report_size(recipe));
}

static void print_cost(const agg_recipe *recipe)
{
    const shoal_recipe *r = &recipe->recipe;
    uint32_t drawn = 0;
    double each = r->cost_micro / 1e6;
    uint64_t days = r->expires_day >= today() ? r->expires_day - today() + 1 : 0;
    if (shoal_recipe_epsilon(&drawn, r) != SHOAL_OK) drawn = 0;
    printf("epsilon per report  %g (as drawn: %g)\n", each, drawn / 1e6);
    printf("epsilon per day     %g (%u report%s)\n", each * r->per_day, r->per_day, r->per_day == 1 ? "" : "s");
    printf("epsilon per person  %g (%llu days until it expires, every report sent)\n", each * r->per_day * (double)days,
           (unsigned long long)days);
    printf("minimum cohort      %u reports", r->cohort_minimum);
    if (r->cohort_eps_micro > 0)
        printf(", claims central epsilon %g at delta 1e-%u", r->cohort_eps_micro / 1e6, r->cohort_delta_exp);
    printf("\n");
}

static void warn_of_values(const agg_recipe *recipe)
{
    char command[] = "recipe", text[160];
    for (uint32_t i = 0; i < recipe->n_values; i++) {
        if (agg_text_is_kept(&recipe->recipe, recipe->values[i].bytes, recipe->values[i].len)) continue;
        snprintf(text, sizeof text, "entry %u of parameters.values: the text rule changes it, so no device reports it",
                 i + 1);
        cli_talk(command, text);
    }
}

static int check_file(const char *path)
{
    char command[] = "recipe", expired[] = "the recipe has expired: devices send nothing";
    agg_error error;
    agg_recipe recipe;
    if (agg_recipe_from_file(&recipe, &error, path) != SHOAL_OK) return cli_failed(command, &error);
    printf("recipe              %s\nhash                %s\n", recipe.id, recipe.hash_hex);
    print_parameters(&recipe);
    print_cost(&recipe);
    warn_of_values(&recipe);
    if (shoal_recipe_check_day(&recipe.recipe, (uint32_t)today()) != SHOAL_OK) cli_talk(command, expired);
    agg_recipe_release(&recipe);
    return AGG_EXIT_OK;
}

static int hash_file(const char *path)
{
    agg_error error;
    agg_recipe recipe;
    if (agg_recipe_from_file(&recipe, &error, path) != SHOAL_OK) return cli_failed("recipe", &error);
    printf("%s\n", recipe.hash_hex);
    agg_recipe_release(&recipe);
    return AGG_EXIT_OK;
}

static shoal_err print_values(FILE *stream, agg_error *error, const char *path)
{
    agg_bytes bytes;
    shoal_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    char *at = (char *)bytes.data, *end = at + bytes.len;
    for (int i = 0; at < end; i++) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = newline != NULL ? (size_t)(newline - at) : (size_t)(end - at);
        if (i > 0) fputs(", ", stream);
        agg_print_json_text(stream, at, len > 0 && at[len - 1] == '\r' ? len - 1 : len);
        at += len + 1;
    }
    free(bytes.data);
    return SHOAL_OK;
}

// Options are quoted as they stand: the recipe is read back before anyone sees it, and refused there when one is wrong.
static void print_text(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "  \"%s\": ", name);
    agg_print_json_text(stream, text, strlen(text));
    fputs(",\n", stream);
}

static shoal_err print_recipe(FILE *stream, agg_error *error, const arguments *a, const char *seed_hex)
{
    int is_list = a->values != NULL;
    const char *mechanism = a->mechanism != NULL ? a->mechanism : is_list ? "onehot-asymmetric" : "cms";
    int is_hcms = strcmp(mechanism, "hcms") == 0;
    const char *k = a->k != NULL ? a->k : is_hcms ? "1024" : "65536";
    const char *m = a->m != NULL ? a->m : is_hcms ? "32768" : "1024";
    shoal_err err = SHOAL_OK;
    fputs("{\n", stream);
    print_text(stream, "recipe", a->id);
    print_text(stream, "analysis", a->analysis != NULL ? a->analysis : a->id);
    print_text(stream, "stream", a->stream != NULL ? a->stream : "typed-words");
    print_text(stream, "value", a->value != NULL ? a->value : "word");
    print_text(stream, "mechanism", mechanism);
    fprintf(stream, "  \"parameters\": {\"epsilon\": %s, ", a->epsilon != NULL ? a->epsilon : "4");
    if (is_list) {
        fputs("\"values\": [", stream);
        err = print_values(stream, error, a->values);
        fputs("]},\n", stream);
    } else {
        fprintf(stream, "\"k\": %s, \"m\": %s},\n", k, m);
        fprintf(stream, "  \"hash\": \"poly1\",\n  \"seed\": \"%s\",\n", seed_hex);
    }
    fprintf(stream, "  \"limit\": {\"per_day\": %s},\n", a->per_day != NULL ? a->per_day : "1");
    fputs("  \"expires\": ", stream);
    agg_print_json_text(stream, a->expires, strlen(a->expires));
    fputs("\n}\n", stream);
    return err;
}

static shoal_err write_text(agg_error *error, const char *path, const char *text, size_t len)
{
    agg_file file;
    if (path == NULL || strcmp(path, "-") == 0) {
        fwrite(text, 1, len, stdout);
        return fflush(stdout) == 0 ? SHOAL_OK : agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the recipe");
    }
    shoal_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    fwrite(text, 1, len, file.stream);
    return agg_file_commit(&file, error);
}

static shoal_err check_needed(agg_error *error, const arguments *a)
{
    shoal_err err = cli_need(error, "id", a->id);
    if (err == SHOAL_OK) err = cli_need(error, "expires", a->expires);
    if (err != SHOAL_OK || a->mechanism == NULL) return err;
    int takes_list = strcmp(a->mechanism, "onehot-asymmetric") == 0;
    if (takes_list == (a->values != NULL)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--mechanism onehot-asymmetric and --values go together");
}

static shoal_err write_new(agg_error *error, const arguments *a)
{
    uint8_t seed[32];
    char seed_hex[65], *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    shoal_err err = check_needed(error, a);
    if (err != SHOAL_OK) return err;
    if (getentropy(seed, sizeof seed) != 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no random bytes");
    agg_hex(seed_hex, seed, sizeof seed);
    FILE *stream = open_memstream(&text, &len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    err = print_recipe(stream, error, a, seed_hex);
    if (fclose(stream) != 0 && err == SHOAL_OK) err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK) err = agg_recipe_from_bytes(&recipe, error, "the new recipe", text, len);
    if (err == SHOAL_OK) {
        agg_recipe_release(&recipe);
        err = write_text(error, a->output, text, len);
    }
    free(text);
    return err;
}

static int has_options(const arguments *a)
{
    static const arguments none;
    return memcmp(a, &none, sizeof none) != 0;
}

static shoal_err check_action(agg_error *error, const char *action, const arguments *a, int n_files)
{
    int is_new = strcmp(action, "new") == 0;
    if (!is_new && strcmp(action, "check") != 0 && strcmp(action, "hash") != 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "the actions are check, hash and new");
    if (is_new && n_files > 0) return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "new takes options only");
    if (!is_new && has_options(a)) return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s takes files only", action);
    if (!is_new && n_files == 0) return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no recipe to %s", action);
    return SHOAL_OK;
}

static int run(const char *action, const arguments *a, const char *const *files, int n_files, agg_error *error)
{
    int worst = AGG_EXIT_OK;
    int is_check = strcmp(action, "check") == 0;
    if (check_action(error, action, a, n_files) != SHOAL_OK) return cli_failed("recipe", error);
    if (strcmp(action, "new") == 0) return write_new(error, a) == SHOAL_OK ? AGG_EXIT_OK : cli_failed("recipe", error);
    for (int i = 0; i < n_files; i++) {
        int code = is_check ? check_file(files[i]) : hash_file(files[i]);
        if (code != AGG_EXIT_OK) worst = code;
    }
    return worst;
}

int cmd_recipe(int argc, char **argv)
{
    arguments a = {0};
    const cli_option options[] = {{"id", 0, &a.id, NULL},
                                  {"mechanism", 0, &a.mechanism, NULL},
                                  {"epsilon", 0, &a.epsilon, NULL},
                                  {"k", 0, &a.k, NULL},
                                  {"m", 0, &a.m, NULL},
                                  {"values", 0, &a.values, NULL},
                                  {"analysis", 0, &a.analysis, NULL},
                                  {"stream", 0, &a.stream, NULL},
                                  {"value", 0, &a.value, NULL},
                                  {"per-day", 0, &a.per_day, NULL},
                                  {"expires", 0, &a.expires, NULL},
                                  {"output", 'o', &a.output, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0, n_rest = 0, code = AGG_EXIT_OK;
    const char **rest = agg_alloc(&error, (size_t)argc, sizeof *rest);
    if (rest == NULL || cli_options_read(options, &error, argc, argv, rest, &n_rest, &help) != SHOAL_OK)
        code = cli_failed("recipe", &error);
    else if (help)
        fputs(help_text, stdout);
    else
        code = run(n_rest > 0 ? rest[0] : "", &a, rest + 1, n_rest - 1, &error);
    free(rest);
    return code;
}
