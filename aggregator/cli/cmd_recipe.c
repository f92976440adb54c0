// SPDX-License-Identifier: Apache-2.0
// shoal recipe: check, hash, write, sign and compare recipes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "parameter_help.h"
#include "recipe_check_files.h"
#include "recipe_diff.h"
#include "recipe_new.h"
#include "recipe_part.h"
#include "recipe_sign.h"
#include "recipe_signer.h"
#include "set_check.h"

static const char help_text[] =
    "Usage: shoal recipe check [--policy FILE | --budget EPSILON/DAYS] FILE...\n"
    "       shoal recipe hash [--query] FILE...\n"
    "       shoal recipe new --id ID --expires DATE [OPTION]...\n"
    "       shoal recipe sign --key FILE [-o FILE] FILE\n"
    "       shoal recipe verify [--key KEY] FILE...\n"
    "       shoal recipe diff FILE FILE\n"
    "       shoal recipe part [-o FILE] FILE VALUE...\n"
    "\n"
    "A recipe is the contract of one collection: what is taken from an event, by which mechanism,\n"
    "at which cost in privacy, and until when.\n";

static const char check_help[] =
    "Usage: shoal recipe check [--policy FILE | --budget EPSILON/DAYS] FILE...\n"
    "\n"
    "Prints what a recipe costs a person, and who signed it. Of a site's recipe set, prints what\n"
    "it costs on a day and in its budget's window, and exits with 1 if that exceeds the budget.\n"
    "\n"
    "  --budget EPSILON/DAYS  the cap on all these recipes together, in any so many days: prints\n"
    "                  what they cost together, and exits with 1 if that exceeds it\n"
    "  --policy FILE   the site's policy, for a query: prints whether a device would answer the\n"
    "                  query, and exits with 3 if it would not\n"
    "  --format FORMAT  table (default) or json\n";

static const char hash_help[] =
    "Usage: shoal recipe hash [--query] FILE...\n"
    "\n"
    "Prints the hash that reports, batches and accumulators carry, 64 hex digits. Of a site's\n"
    "recipe set, prints the hash that pages pin.\n"
    "\n"
    "  --query   print the hash of the query, which all parts of a collection share and which the\n"
    "            next round names\n";

static const char sign_help[] =
    "Usage: shoal recipe sign --key FILE [-o FILE] FILE\n"
    "\n"
    "Writes the recipe with an Ed25519 signature in it.\n"
    "\n"
    "  --key FILE          the private key, a PEM file as openssl genpkey writes it\n"
    "  -o, --output FILE   default: standard output; it may be the recipe's own file\n";

static const char verify_help[] = "Usage: shoal recipe verify [--key KEY] FILE...\n"
                                  "\n"
                                  "Prints who signed each recipe. Exits with 3 if a signature is "
                                  "missing, bad, or by another key.\n"
                                  "\n"
                                  "  --key KEY   the public key that must have signed, 64 hex "
                                  "digits or a PEM file; default: any\n";

static const char diff_help[] =
    "Usage: shoal recipe diff FILE FILE\n"
    "\n"
    "Prints the fields in which two recipes differ. Exits with 1 if they do.\n";

static const char part_help[] =
    "Usage: shoal recipe part [-o FILE] FILE VALUE...\n"
    "\n"
    "Writes the recipe of one part of a split collection. Takes one value for each field that the\n"
    "collection is split by. The signature stays good.\n"
    "\n"
    "  -o, --output FILE   default: standard output\n";

static const char new_help[] =
    "Usage: shoal recipe new --id ID --expires DATE [OPTION]...\n"
    "\n"
    "Writes a recipe, with a fresh random seed if its mechanism needs one.\n"
    "\n"
    "  --id ID              the collection's id: a-z, 0-9, and . _ - after the first character\n"
    "  --expires DATE       the last day, YYYY-MM-DD\n"
    "  --mechanism NAME     default cms; with a list onehot-asymmetric, with a range one-bit-mean\n"
    "  --values FILE        a list of values, one a line, in order\n"
    "  --devices N          sfp, trie, olh: how many devices to plan for, default 1000000\n"
    "  --step N             trie: characters of the first round; default: as planned\n"
    "  --variable LINE      a variable of a joint recipe, once for each, as\n"
    "                       NAME=[MECHANISM]:EPSILON[:LIST][:MEMBER=VALUE]...; LIST is a file of\n"
    "                       values or their number, MEMBER is `value` or a parameter of the\n"
    "                       mechanism: age=:1.5:ages.txt or section=rappor:4:bits=64\n"
    "  --keep-days N        joint recipes: days to keep records after a block closed, default 30\n"
    "  --analysis NAME      recipes of one analysis share a budget; default: the id\n"
    "  --stream NAME        the stream of events on the device; default: typed-words for words,\n"
    "                       else the id\n"
    "  --value KIND         word (default), host, site, item, number (default with a range), "
    "fields\n"
    "  --encoding FILE      the fields of events that a query asks for, and their buckets: a JSON\n"
    "                       array\n";

// A second literal, since the standard guarantees 4095 characters of one only.
static const char new_help_more[] =
    "  --policy FILE        write a query under this site's policy\n"
    "  --version N          version of a query, default 1\n"
    "  --cohort-minimum N   show no result of fewer reports\n"
    "  --cohort-epsilon E   the central epsilon that a query claims for that cohort\n"
    "  --cohort-delta D     the delta of that claim, default 1e-9\n"
    "  --block-minimum N    release results in blocks of N reports or more; default: the minimum\n"
    "                       cohort\n"
    "  --block-tick S       let a block close every S seconds at most, default 86400\n"
    "  --per-day N          reports of a device in a day, default 1\n"
    "  --active SHARE       share of windows (visits, or days of a person) in which something\n"
    "                       happens: from 0.3 on a report answers for one event of a window, "
    "drawn\n"
    "                       uniformly (send.pick), and below for the first. On a terminal it is\n"
    "                       asked for\n"
    "  --pages KIND         with --active: one (a single-page app, windows are visits) or many\n"
    "                       (default, windows are days)\n"
    "  -o, --output FILE    default: standard output\n";

typedef struct arguments {
    recipe_options recipe; // options of a new recipe
    command_values variables;
    const char *key, *policy, *budget, *format, *output;
    bool is_query;
} arguments;

static uint32_t today(void)
{
    return (uint32_t)((uint64_t)time(NULL) / 86400);
}

// ---- actions on every file ----

// Does one file and logs its errors. Returns: an exit code.
typedef int (*each_file)(const char *path, const void *context);

// Does every file, also after one that fails; the exit code is that of the last one that failed.
static agg_err do_files(agg_error *error, const command_words *words, each_file each,
                        const void *context)
{
    int last = AGG_EXIT_OK;
    for (int i = 0; i < words->n; i++) {
        int code = each(words->texts[i], context);
        if (code != AGG_EXIT_OK) last = code;
    }
    return last == AGG_EXIT_OK ? SHOAL_OK : command_end(error, last);
}

static agg_err run_check(agg_error *error, void *context, const command_words *words)
{
    agg_set set;
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = context;
    agg_policy policy;
    size_t format = 0;
    agg_set_init(&set);
    agg_err err =
        command_read_name(&format, error, formats, a->format, "--format is table or json");
    if (err == SHOAL_OK && a->policy != NULL) err = agg_policy_from_file(&policy, error, a->policy);
    if (err == SHOAL_OK && a->budget != NULL) err = agg_set_budget(&set, error, a->budget);
    if (err != SHOAL_OK) return err;
    const recipe_checking checking = {.policy = a->policy != NULL ? &policy : NULL,
                                      .set = &set,
                                      .is_json = format == 1,
                                      .today = today()};
    int code = recipe_check_files(&checking, words->texts, (size_t)words->n);
    return code == AGG_EXIT_OK ? SHOAL_OK : command_end(error, code);
}

//   context: the arguments
static int hash_file(const char *path, const void *context)
{
    const arguments *a = context;
    return recipe_hash_print(path, a->is_query);
}

static agg_err run_hash(agg_error *error, void *context, const command_words *words)
{
    return do_files(error, words, hash_file, context);
}

//   context: the arguments
static int verify_file(const char *path, const void *context)
{
    const arguments *a = context;
    return recipe_verify(path, a->key);
}

static agg_err run_verify(agg_error *error, void *context, const command_words *words)
{
    return do_files(error, words, verify_file, context);
}

// ---- the other actions ----

static agg_err run_new(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    (void)words;
    a->recipe.variables = a->variables.n > 0 ? a->variables.texts : NULL;
    a->recipe.n_variables = a->variables.n;
    a->recipe.today = today();
    return recipe_new(error, &a->recipe);
}

static agg_err run_sign(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    return recipe_sign(error, words->texts[0], a->key, a->output);
}

static agg_err run_diff(agg_error *error, void *context, const command_words *words)
{
    (void)context;
    int code = recipe_diff(words->texts[0], words->texts[1]);
    return code == AGG_EXIT_OK ? SHOAL_OK : command_end(error, code);
}

static agg_err run_part(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    return recipe_part(error, words->texts[0], words->texts + 1, words->n - 1, a->output);
}

// ---- the tables ----

static const command_option check_options[] = {OPTION("policy", policy), OPTION("budget", budget),
                                               OPTION("format", format), LAST_OPTION};
static const command_option hash_options[] = {OPTION("query", is_query), LAST_OPTION};
static const command_option sign_options[] = {OPTION("key", key), OUTPUT_OPTION(output),
                                              LAST_OPTION};
static const command_option verify_options[] = {OPTION("key", key), LAST_OPTION};
static const command_option part_options[] = {OUTPUT_OPTION(output), LAST_OPTION};
static const command_option new_fixed[] = {OPTION("id", recipe.id),
                                           OPTION("expires", recipe.expires),
                                           OPTION("mechanism", recipe.mechanism),
                                           OPTION("values", recipe.values),
                                           OPTION("devices", recipe.devices),
                                           OPTION("step", recipe.step),
                                           OPTION("analysis", recipe.analysis),
                                           OPTION("stream", recipe.stream),
                                           OPTION("value", recipe.value),
                                           OPTION("per-day", recipe.per_day),
                                           OPTION("encoding", recipe.encoding),
                                           OPTION("version", recipe.version),
                                           OPTION("keep-days", recipe.keep_days),
                                           OPTION("cohort-minimum", recipe.cohort_minimum),
                                           OPTION("cohort-epsilon", recipe.cohort_epsilon),
                                           OPTION("cohort-delta", recipe.cohort_delta),
                                           OPTION("block-minimum", recipe.block_minimum),
                                           OPTION("block-tick", recipe.block_tick),
                                           OPTION("active", recipe.active),
                                           OPTION("pages", recipe.pages),
                                           OUTPUT_OPTION(recipe.output),
                                           OPTION("policy", recipe.policy),
                                           OPTION("variable", variables)};
#define N_FIXED (sizeof new_fixed / sizeof new_fixed[0])

// The fixed options, one for each parameter, and the end of the list; then the names of those of
// parameters.
static command_option *make_new_options(void)
{
    size_t n = 0;
    recipe_parameter p;
    while (recipe_parameter_at(&p, n)) n++;
    command_option *options =
        calloc(1, (N_FIXED + n + 1) * sizeof *options + n * RECIPE_OPTION_SIZE);
    if (options == NULL) return NULL;
    char *name = (char *)(options + N_FIXED + n + 1);
    memcpy(options, new_fixed, sizeof new_fixed);
    for (size_t i = 0; i < n && recipe_parameter_at(&p, i); i++, name += RECIPE_OPTION_SIZE) {
        recipe_parameter_option(name, p.name);
        options[N_FIXED + i] = (command_option){.name = name,
                                                .kind = COMMAND_TEXT,
                                                .at = offsetof(arguments, recipe.parameters) +
                                                      i * sizeof(const char *)};
    }
    return options;
}

static const cli_command check_row = {.name = "check",
                                      .summary = "print what recipes cost a person",
                                      .help = check_help,
                                      .example = "  shoal recipe check fish.json\n",
                                      .options = check_options,
                                      .arguments_size = sizeof(arguments),
                                      .least_words = 1,
                                      .most_words = COMMAND_WORDS_MAX,
                                      .words_refused = "no recipe to check",
                                      .run = run_check};

static const cli_command hash_row = {
    .name = "hash",
    .summary = "print the hash that reports, batches and accumulators carry",
    .help = hash_help,
    .example = "  shoal recipe hash fish.json\n",
    .options = hash_options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = COMMAND_WORDS_MAX,
    .words_refused = "no recipe to hash",
    .run = run_hash};

#define NEW_EXAMPLE                                                                                \
    "  shoal recipe new --id fish --value item --k 1024 --expires 2099-12-31 -o fish-1.json\n"

static const cli_command new_row = {.name = "new",
                                    .summary = "write a recipe",
                                    .help = new_help,
                                    .more_help = new_help_more,
                                    .print_rows = parameter_help_print,
                                    .example = NEW_EXAMPLE,
                                    .make_options = make_new_options,
                                    .arguments_size = sizeof(arguments),
                                    .words_refused = "new takes options only",
                                    .run = run_new};

static const cli_command sign_row = {
    .name = "sign",
    .summary = "put an Ed25519 signature into a recipe",
    .help = sign_help,
    .example = "  openssl genpkey -algorithm ed25519 -out recipes.pem\n"
               "  shoal recipe sign --key recipes.pem -o signed.json fish.json\n",
    .options = sign_options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = 1,
    .words_refused = "sign takes one recipe",
    .run = run_sign};

static const cli_command verify_row = {.name = "verify",
                                       .summary = "print who signed recipes, and refuse the others",
                                       .help = verify_help,
                                       .example =
                                           "  shoal recipe verify --key recipes.pub signed.json\n",
                                       .options = verify_options,
                                       .arguments_size = sizeof(arguments),
                                       .least_words = 1,
                                       .most_words = COMMAND_WORDS_MAX,
                                       .words_refused = "no recipe to verify",
                                       .run = run_verify};

static const cli_command diff_row = {.name = "diff",
                                     .summary = "print how two recipes differ",
                                     .help = diff_help,
                                     .example = "  shoal recipe diff fish.json fish.json\n",
                                     .least_words = 2,
                                     .most_words = 2,
                                     .words_refused = "diff takes two recipes",
                                     .run = run_diff};

static const cli_command part_row = {
    .name = "part",
    .summary = "write the recipe of one part of a split collection",
    .help = part_help,
    .example = "  shoal recipe part -o german.json phrases.json de\n",
    .options = part_options,
    .arguments_size = sizeof(arguments),
    .least_words = 1,
    .most_words = COMMAND_WORDS_MAX,
    .words_refused = "no recipe to part",
    .run = run_part};

static const cli_command *const actions[] = {&check_row,  &hash_row, &new_row,  &sign_row,
                                             &verify_row, &diff_row, &part_row, NULL};

const cli_command cmd_recipe = {.name = "recipe",
                                .summary = "write, check, diff, sign and verify recipes",
                                .help = help_text,
                                .example = NEW_EXAMPLE,
                                .actions = actions};
