// SPDX-License-Identifier: Apache-2.0
// shoal recipe: check, hash, write, sign and compare recipes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "commands.h"
#include "log.h"
#include "options.h"
#include "recipe_check.h"
#include "recipe_diff.h"
#include "recipe_new.h"
#include "recipe_part.h"
#include "recipe_policy.h"
#include "recipe_sign.h"
#include "recipe_signer.h"

static const char help_text[] =
    "Usage: shoal recipe check [--policy FILE] FILE...\n"
    "       shoal recipe hash [--query] FILE...\n"
    "       shoal recipe new --id ID --expires DATE [OPTION]...\n"
    "       shoal recipe sign --key FILE [-o FILE] FILE\n"
    "       shoal recipe verify [--key KEY] FILE...\n"
    "       shoal recipe diff FILE FILE\n"
    "       shoal recipe part [-o FILE] FILE VALUE...\n\n"
    "check prints what a recipe costs a person, and with --policy whether a device would answer "
    "it, and\n"
    "exits with 3 where not; hash prints the hash that reports, batches and accumulators carry; "
    "new writes a recipe, "
    "with a fresh random seed where it needs one; sign puts\n"
    "an Ed25519 signature into a recipe, verify exits with 3 where it is missing, bad or of "
    "another\n"
    "key; diff prints the fields in which two recipes differ, and exits with 1 where they do; part "
    "writes the\n"
    "recipe of one part of a split collection, under the same signature.\n\n"
    "  --policy FILE        check: the site's policy, for a query; new: makes a query under it\n"
    "  --query              hash: that of the query, which all parts share and the next round "
    "names\n"
    "  --key KEY            sign: a private key, the PEM file that openssl genpkey -algorithm "
    "ed25519\n"
    "                       writes; verify: the public key, 64 hex digits or a PEM file\n"
    "  --id ID              the collection's id: a-z, 0-9, and . _ - after the first\n"
    "  --expires DATE       last day, YYYY-MM-DD\n"
    "  --mechanism NAME     default cms; with a list onehot-asymmetric, with a range alone "
    "one-bit-mean\n"
    "  --values FILE        a list of values, one a line, in order\n"
    "  --size N             a list of N values known by number only; with a range, N equal "
    "buckets\n"
    "  --low X, --high Y    the range of a number\n"
    "  --epsilon E          cost of one report, default 4; of rappor, no more than this; of "
    "rappor-ngram what p and\n"
    "                       q are made for\n"
    "  --k K                rows of a sketch, default 65536 (hcms: 1024; olh: enough for its g)\n"
    "  --m M                columns, default 1024 (hcms: 32768); an accumulator takes 4 K M bytes\n"
    "  --g G                answers of olh, a power of two; default the nearest to e^E + 1\n"
    "  --bits N             rappor: of its Bloom filter, default 128\n"
    "  --hashes H           rappor: bits that one string sets, default 1\n"
    "  --cohorts C          rappor: default 64\n"
    "  --p P, --q Q, --f F  rappor: chance of a 1 where the permanent bit is 0, where it is 1, and "
    "share of\n"
    "                       permanent bits that are noise; default 0.25, 0.75, 0.5\n"
    "  --devices N          sfp, trie: how many are planned for, default 1000000\n"
    "  --epsilon-fragment E sfp: of the fragment; --epsilon is then of the string alone\n"
    "  --k-fragment K, --m-fragment M, --oracle NAME  sfp: of the fragment; olh (default) or cms\n"
    "  --length N           sfp, rappor-ngram: bytes of a string, default 10\n"
    "  --n N, --grams N, --alphabet LETTERS  rappor-ngram: default 2, 2, a to z\n"
    "  --contributions N, --sampler NAME, --depth N, --max-prefixes N, --passes N, --step N  trie: "
    "default 1,\n"
    "                       random, 15, 10000, 1, as planned\n"
    "  --variable LINE      a variable of a joint recipe, once for each: "
    "NAME=[MECHANISM]:EPSILON[:LIST][:MEMBER=VALUE]...,\n"
    "                       such as age=:1.5:ages.txt (a file of values) or "
    "section=rappor:4:bits=64; LIST may be\n"
    "                       their number, and members are value and the mechanism's parameters\n"
    "  --keep-days N        of a joint recipe: days that records are kept beyond their period, "
    "default 30\n"
    "  --analysis NAME      what the budget is shared over, default the id\n"
    "  --stream NAME        the on-device stream, default typed-words for words, else the id\n"
    "  --value KIND         word (default), host, site, item, number (the default with a range) or "
    "fields\n"
    "  --encoding FILE      a JSON array: the fields of events that a query asks for, and their "
    "buckets\n"
    "  --version N          of a query, default 1\n"
    "  --cohort-minimum N   reports below which nothing is shown\n"
    "  --cohort-epsilon E   what a query claims for that cohort; --cohort-delta D (default 1e-9)\n"
    "  --per-day N          reports a day, default 1\n"
    "  -o, --output FILE    default: standard output\n";

// A literal of its own: the standard asks compilers for 4095 characters of one.
static const char help_runs[] =
    "  --users N, --epochs T, --samples L  thresh, heavythresh: devices, epochs of the run, "
    "samples of a device in\n"
    "                       an epoch; --groups M that change apart, default 1; --smallest-group N, "
    "default users/M;\n"
    "                       --delta D, default 1e-6; thresh: the range is 0 to 1 by default\n"
    "  --epsilon-estimate E, --projection W  heavythresh: of one estimate, default 0.5; "
    "coordinates, default 2048\n";

static uint32_t today(void)
{
    return (uint32_t)((uint64_t)time(NULL) / 86400);
}

// What an action takes besides its name.
typedef struct action {
    const char *name;
    int n_files;    // that many; -1: one or more
    int takes_key;  // --key
    int takes_more; // 1: --output, 2: that and what a new recipe holds
} action;

static const action actions[] = {{"check", -1, 0, 0}, {"hash", -1, 0, 0},   {"new", 0, 0, 2},
                                 {"sign", 1, 1, 1},   {"verify", -1, 1, 0}, {"diff", 2, 0, 0},
                                 {"part", -1, 0, 1}};

// What goes with some actions only, besides the options of a new recipe.
typedef struct extras {
    const char *key, *policy;
    int is_query;
} extras;

static const action *find_action(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, name) == 0) return &actions[i];
    return NULL;
}

static int has_options(const recipe_options *o)
{
    static const recipe_options none;
    return memcmp(o, &none, sizeof none) != 0;
}

static agg_err check_extras(agg_error *error, const action *a, const extras *e)
{
    const char *wrong = NULL;
    if (e->key != NULL && !a->takes_key) wrong = "--key goes with sign and verify";
    if (e->policy != NULL && strcmp(a->name, "check") != 0 && strcmp(a->name, "new") != 0)
        wrong = "--policy goes with check and new";
    if (e->is_query && strcmp(a->name, "hash") != 0) wrong = "--query goes with hash";
    return wrong == NULL ? SHOAL_OK : agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", wrong);
}

static agg_err check_action(agg_error *error, const action *a, const recipe_options *o,
                            const extras *e, int n_files)
{
    recipe_options others = *o;
    if (a == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "the actions are check, hash, new, sign, verify, diff and part");
    if (a->takes_more) others.output = NULL;
    if (a->takes_more < 2 && has_options(&others))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s takes %s", a->name,
                        a->takes_more && !a->takes_key ? "--output, a file and values only"
                        : a->takes_more                ? "--key, --output and a file only"
                        : a->takes_key                 ? "--key and files only"
                                                       : "files only");
    agg_err err = check_extras(error, a, e);
    if (err != SHOAL_OK) return err;
    if (a->n_files == 0 && n_files > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s takes options only", a->name);
    if (a->n_files < 0 && n_files == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no recipe to %s", a->name);
    if (a->n_files > 0 && n_files != a->n_files)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s takes %s", a->name,
                        a->n_files == 1 ? "one recipe" : "two recipes");
    return SHOAL_OK;
}

static int show_check(const agg_recipe *recipe, const agg_policy *policy)
{
    recipe_check_print(recipe, today());
    return policy != NULL ? recipe_policy_print(recipe, policy, today())
                          : recipe_signer_print(recipe);
}

static int show_hash(const agg_recipe *recipe, int is_query)
{
    char hex[65];
    agg_hex(hex, is_query ? recipe->recipe.query_hash : recipe->recipe.recipe_hash, 32);
    printf("%s\n", hex);
    return AGG_EXIT_OK;
}

static int show_file(const char *path, int is_check, const agg_policy *policy, int is_query)
{
    agg_error error;
    agg_recipe recipe;
    if (agg_recipe_from_file(&recipe, &error, path) != SHOAL_OK)
        return agg_log_error("recipe", &error);
    int code = is_check ? show_check(&recipe, policy) : show_hash(&recipe, is_query);
    agg_recipe_release(&recipe);
    return code;
}

static int run_files(const action *a, const extras *e, const char *const *files, int n_files,
                     agg_error *error)
{
    int worst = AGG_EXIT_OK, is_verify = strcmp(a->name, "verify") == 0,
        is_check = strcmp(a->name, "check") == 0;
    agg_policy policy;
    if (e->policy != NULL && agg_policy_from_file(&policy, error, e->policy) != SHOAL_OK)
        return agg_log_error("recipe", error);
    for (int i = 0; i < n_files; i++) {
        int code = is_verify ? recipe_verify(files[i], e->key)
                             : show_file(files[i], is_check, e->policy != NULL ? &policy : NULL,
                                         e->is_query);
        if (code != AGG_EXIT_OK) worst = code;
    }
    return worst;
}

static int run(const char *name, const recipe_options *o, const extras *e, const char *const *files,
               int n_files, agg_error *error)
{
    const action *a = find_action(name);
    agg_err err = check_action(error, a, o, e, n_files);
    if (err != SHOAL_OK) return agg_log_error("recipe", error);
    if (strcmp(name, "diff") == 0) return recipe_diff(files[0], files[1]);
    if (a->takes_more == 0) return run_files(a, e, files, n_files, error);
    if (strcmp(name, "new") == 0) {
        recipe_options all = *o;
        all.policy = e->policy;
        err = recipe_new(error, &all);
    } else if (strcmp(name, "sign") == 0) {
        err = recipe_sign(error, files[0], e->key, o->output);
    } else {
        err = recipe_part(error, files[0], files + 1, n_files - 1, o->output);
    }
    return err == SHOAL_OK ? AGG_EXIT_OK : agg_log_error("recipe", error);
}

int cmd_recipe(int argc, char **argv)
{
    recipe_options o = {0};
    extras e = {NULL, NULL, 0};
    const cli_option options[] = {{"id", 0, &o.id, NULL},
                                  {"expires", 0, &o.expires, NULL},
                                  {"mechanism", 0, &o.mechanism, NULL},
                                  {"values", 0, &o.values, NULL},
                                  {"size", 0, &o.size, NULL},
                                  {"low", 0, &o.low, NULL},
                                  {"high", 0, &o.high, NULL},
                                  {"epsilon", 0, &o.epsilon, NULL},
                                  {"k", 0, &o.k, NULL},
                                  {"m", 0, &o.m, NULL},
                                  {"g", 0, &o.g, NULL},
                                  {"bits", 0, &o.bits, NULL},
                                  {"hashes", 0, &o.hashes, NULL},
                                  {"cohorts", 0, &o.cohorts, NULL},
                                  {"p", 0, &o.p, NULL},
                                  {"q", 0, &o.q, NULL},
                                  {"f", 0, &o.f, NULL},
                                  {"epsilon-fragment", 0, &o.epsilon_fragment, NULL},
                                  {"k-fragment", 0, &o.k_fragment, NULL},
                                  {"m-fragment", 0, &o.m_fragment, NULL},
                                  {"oracle", 0, &o.oracle, NULL},
                                  {"length", 0, &o.length, NULL},
                                  {"n", 0, &o.n, NULL},
                                  {"grams", 0, &o.grams, NULL},
                                  {"alphabet", 0, &o.alphabet, NULL},
                                  {"contributions", 0, &o.contributions, NULL},
                                  {"sampler", 0, &o.sampler, NULL},
                                  {"depth", 0, &o.depth, NULL},
                                  {"max-prefixes", 0, &o.max_prefixes, NULL},
                                  {"passes", 0, &o.passes, NULL},
                                  {"users", 0, &o.users, NULL},
                                  {"epochs", 0, &o.epochs, NULL},
                                  {"samples", 0, &o.samples, NULL},
                                  {"smallest-group", 0, &o.smallest_group, NULL},
                                  {"groups", 0, &o.groups, NULL},
                                  {"delta", 0, &o.delta, NULL},
                                  {"projection", 0, &o.projection, NULL},
                                  {"epsilon-estimate", 0, &o.epsilon_estimate, NULL},
                                  {"devices", 0, &o.devices, NULL},
                                  {"step", 0, &o.step, NULL},
                                  {"analysis", 0, &o.analysis, NULL},
                                  {"stream", 0, &o.stream, NULL},
                                  {"value", 0, &o.value, NULL},
                                  {"per-day", 0, &o.per_day, NULL},
                                  {"encoding", 0, &o.encoding, NULL},
                                  {"version", 0, &o.version, NULL},
                                  {"keep-days", 0, &o.keep_days, NULL},
                                  {"cohort-minimum", 0, &o.cohort_minimum, NULL},
                                  {"cohort-epsilon", 0, &o.cohort_epsilon, NULL},
                                  {"cohort-delta", 0, &o.cohort_delta, NULL},
                                  {"output", 'o', &o.output, NULL},
                                  {"key", 0, &e.key, NULL},
                                  {"policy", 0, &e.policy, NULL},
                                  {"query", 0, NULL, &e.is_query},
                                  {NULL, 0, NULL, NULL}};
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    int help = 0, n_rest = 0, code = AGG_EXIT_OK;
    int n_words = 0;
    const char **rest = agg_alloc(&error, (size_t)argc, sizeof *rest);
    const char **variables = agg_alloc(&error, (size_t)argc, sizeof *variables);
    char **words = agg_alloc(&error, (size_t)argc, sizeof *words);
    agg_err err = rest == NULL || variables == NULL || words == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK)
        err = cli_take_repeated(variables, &o.n_variables, words, &n_words, &error, "variable",
                                argc, argv);
    if (err == SHOAL_OK && o.n_variables > 0) o.variables = variables;
    if (err == SHOAL_OK)
        err = cli_options_read(options, &error, n_words, words, rest, &n_rest, &help);
    if (err != SHOAL_OK)
        code = agg_log_error("recipe", &error);
    else if (help)
        printf("%s%s", help_text, help_runs);
    else
        code = run(n_rest > 0 ? rest[0] : "", &o, &e, rest + 1, n_rest - 1, &error);
    free(rest);
    free(variables);
    free(words);
    return code;
}
