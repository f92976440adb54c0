// SPDX-License-Identifier: Apache-2.0
// shoal plan --discover; see plan_discover.h. What is planned is discover/sfp_plan.h's and
// discover/trie_plan.h's; here they are put side by side.
#include "plan_discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utf8proc.h>
#ifndef __wasi__
#include <sys/random.h>
#endif

#include "log.h"
#include "options.h"
#include "policy_json.h"
#include "print_text.h"
#include "probability.h"
#include "recipe_json.h"
#include "recipe_new.h"
#include "result_options.h"
#include "sfp_plan.h"
#include "trie_plan.h"

#define EXPIRES_DAYS 180
#define MAX_PREFIXES 10000u
#define LETTERS "abcdefghijklmnopqrstuvwxyz"

enum { WAY_SFP = 0, WAY_TRIE = 1 };
static const char *const ways[] = {"sfp", "trie", NULL};
static const char *const oracles[] = {"olh", "cms", NULL};
static const uint32_t oracle_ids[] = {SHOAL_ORACLE_OLH, SHOAL_ORACLE_CMS};

typedef struct arguments {
    const char *devices, *epsilon, *method, *oracle, *length, *depth, *characters, *contributions,
        *policy, *format, *recipe_out, *id, *expires, *output;
    int is_discover;
} arguments;

typedef struct discovery_plan {
    arguments a;
    double devices, epsilon;
    uint32_t eps_micro, length, depth, n_characters, contributions;
    size_t oracle;              // of `oracles`
    int way, is_json, is_asked; // the answer; whether --method says so
    agg_sfp_plan sfp;
    agg_trie_plan trie;
    double share[2]; // found as often as not, of the devices, by way; 1 where nothing is
} discovery_plan;

int plan_is_discover(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--discover") == 0) return 1;
    return 0;
}

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

// ---- the command line ----

static agg_err read_whole(uint32_t *out, agg_error *error, const char *name, const char *text,
                          uint32_t otherwise, uint32_t low, uint32_t high)
{
    uint64_t number = otherwise;
    agg_err err = text != NULL ? cli_read_whole(&number, error, name, text, low, high) : SHOAL_OK;
    if (err == SHOAL_OK) *out = (uint32_t)number;
    return err;
}

static agg_err read_epsilon(discovery_plan *p, agg_error *error)
{
    int64_t micro = 0;
    if (!agg_decimal_micro(&micro, p->a.epsilon, strlen(p->a.epsilon)) || micro < 100000 ||
        micro > SHOAL_EPS_MICRO_MAX)
        return usage(error, "--epsilon must be from 0.1 to 16, with at most 6 decimals");
    p->eps_micro = (uint32_t)micro;
    p->epsilon = (double)micro / 1e6;
    return SHOAL_OK;
}

// Characters are code points, in any order; the recipe's reader refuses one that comes twice.
static agg_err count_characters(discovery_plan *p, agg_error *error)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)p->a.characters;
    size_t left = strlen(p->a.characters);
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0 || point <= 0x20 || point == '"' || point == '\\' ||
            (point >= 0x7f && point < 0xa0))
            return usage(error,
                         "--characters takes UTF-8 text without blanks, quotes and backslashes");
        at += used;
        left -= (size_t)used;
        p->n_characters++;
    }
    return p->n_characters > 0 ? SHOAL_OK : usage(error, "--characters holds none");
}

static agg_err read_numbers(discovery_plan *p, agg_error *error)
{
    static const char *const formats[] = {"table", "json", NULL};
    const arguments *a = &p->a;
    uint64_t devices = 0;
    size_t way = 0, format = 0;
    agg_err err = cli_need(error, "devices", a->devices);
    if (err == SHOAL_OK) err = cli_need(error, "epsilon", a->epsilon);
    if (err == SHOAL_OK)
        err = cli_read_whole(&devices, error, "devices", a->devices, 1, 4000000000);
    if (err == SHOAL_OK) err = read_epsilon(p, error);
    if (err == SHOAL_OK)
        err = cli_read_name(&way, error, ways, a->method, "--method is sfp or trie");
    if (err == SHOAL_OK)
        err = cli_read_name(&p->oracle, error, oracles, a->oracle, "--oracle is olh or cms");
    if (err == SHOAL_OK)
        err = cli_read_name(&format, error, formats, a->format, "--format is table or json");
    if (err == SHOAL_OK) err = read_whole(&p->length, error, "length", a->length, 10, 2, 32);
    if (err == SHOAL_OK && p->length % 2 == 1)
        err = usage(error, "--length is even: a fragment has two bytes");
    if (err == SHOAL_OK)
        err = read_whole(&p->depth, error, "depth", a->depth, 15, 1, SHOAL_DEPTH_MAX);
    if (err == SHOAL_OK)
        err = read_whole(&p->contributions, error, "contributions", a->contributions, 1, 1, 64);
    if (err == SHOAL_OK && p->eps_micro / p->contributions < SHOAL_EPS_MICRO_MIN)
        err = usage(
            error,
            "--epsilon is shared out over the contributions, and leaves less than 0.01 for each");
    p->devices = (double)devices;
    p->way = (int)way;
    p->is_asked = a->method != NULL;
    p->is_json = format == 1;
    return err == SHOAL_OK ? count_characters(p, error) : err;
}

static agg_err read_arguments(discovery_plan *p, agg_error *error, int argc, char **argv, int *help)
{
    arguments *a = &p->a;
    const cli_option options[] = {{"discover", 0, NULL, &a->is_discover},
                                  {"devices", 0, &a->devices, NULL},
                                  {"epsilon", 0, &a->epsilon, NULL},
                                  {"method", 0, &a->method, NULL},
                                  {"oracle", 0, &a->oracle, NULL},
                                  {"length", 0, &a->length, NULL},
                                  {"depth", 0, &a->depth, NULL},
                                  {"characters", 0, &a->characters, NULL},
                                  {"contributions", 0, &a->contributions, NULL},
                                  {"policy", 0, &a->policy, NULL},
                                  {"format", 0, &a->format, NULL},
                                  {"recipe-out", 0, &a->recipe_out, NULL},
                                  {"id", 0, &a->id, NULL},
                                  {"expires", 0, &a->expires, NULL},
                                  {"output", 'o', &a->output, NULL},
                                  {NULL, 0, NULL, NULL}};
    agg_err err = cli_options_read_only(options, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    if (a->characters == NULL) a->characters = LETTERS;
    if (a->id == NULL) a->id = "planned";
    return read_numbers(p, error);
}

// ---- planning ----

static uint32_t contribution_micro(const discovery_plan *p)
{
    return p->eps_micro / p->contributions;
}

static double worst_share(const agg_trie_plan *trie)
{
    double share = trie->n_rounds > 0 ? 0 : 1;
    for (uint32_t i = 0; i < trie->n_rounds; i++)
        if (trie->rounds[i].share > share) share = trie->rounds[i].share;
    return share < 1 ? share : 1;
}

static agg_err make_plan(discovery_plan *p, agg_error *error)
{
    const agg_trie_wish wish = {.devices = p->devices,
                                .epsilon = contribution_micro(p) / 1e6,
                                .contributions = p->contributions,
                                .depth = p->depth,
                                .characters = p->n_characters,
                                .max_prefixes = MAX_PREFIXES};
    agg_err err = agg_sfp_plan_run(&p->sfp, error, oracle_ids[p->oracle], p->devices, p->eps_micro,
                                   p->length);
    if (err != SHOAL_OK) return err;
    agg_trie_plan_run(&p->trie, &wish);
    p->share[WAY_SFP] = p->sfp.least < p->devices ? p->sfp.least / p->devices : 1;
    p->share[WAY_TRIE] = worst_share(&p->trie);
    if (!p->is_asked) p->way = p->share[WAY_TRIE] < p->share[WAY_SFP] ? WAY_TRIE : WAY_SFP;
    if (p->way == WAY_TRIE && p->trie.n_rounds == 0)
        return usage(error, "not even one of so many characters fits a record: fewer --characters");
    return SHOAL_OK;
}

// ---- printing ----

static void print_whole(FILE *stream, double x)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", x);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) fputc(',', stream);
        fputc(digits[i], stream);
    }
}

static void print_share(FILE *stream, double share)
{
    if (share >= 1)
        fputs("nothing", stream);
    else
        fprintf(stream, "%.2g %%", 100 * share);
}

static void print_sfp(FILE *stream, const discovery_plan *p)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "sfp                 oracle=%s, epsilon %g = %g of the string + %g of its fragment\n",
            oracles[p->oracle], p->epsilon, s->eps_micro / 1e6, s->eps_fragment_micro / 1e6);
    fprintf(
        stream,
        "                    k=%u m=%u k_fragment=%u m_fragment=%u, strings of %u bytes at most\n",
        s->k, s->m, s->k_fragment, s->m_fragment, p->length);
    fputs("                    finds what ", stream);
    print_share(stream, p->share[WAY_SFP]);
    fputs(p->share[WAY_SFP] < 1 ? " of the devices send, as often as not; one round, any alphabet\n"
                                : "\n",
          stream);
}

static void print_trie(FILE *stream, const discovery_plan *p)
{
    const agg_trie_plan *t = &p->trie;
    fprintf(stream,
            "trie                %u round%s, epsilon %g a contribution (item), %g a device\n",
            t->n_rounds, t->n_rounds == 1 ? "" : "s", contribution_micro(p) / 1e6, p->epsilon);
    fputs("                    finds what ", stream);
    print_share(stream, p->share[WAY_TRIE]);
    fprintf(stream,
            " of the contributions are, as often as not; about %.0f words, were they English\n",
            t->words);
    fputs("\n  round  characters  step       devices    starts     cells  set of   finds from\n",
          stream);
    for (uint32_t i = 0; i < t->n_rounds; i++) {
        const agg_trie_round *r = &t->rounds[i];
        fprintf(stream, "  %5u  %10u  %4u  %12.0f  %8.0f  %8.0f  %6.0f  %9.2g %%\n", i + 1,
                r->depth, r->step, r->devices, r->starts, r->cells, r->set, 100 * r->share);
    }
}

static void print_table(FILE *stream, const discovery_plan *p)
{
    fputs("devices             ", stream);
    print_whole(stream, p->devices);
    fprintf(stream, "\nepsilon             %g a device\nanswer              %s%s\n", p->epsilon,
            ways[p->way], p->share[p->way] < 1 ? "" : ", though nothing will be found");
    print_sfp(stream, p);
    print_trie(stream, p);
}

static void print_json(FILE *stream, const discovery_plan *p)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "{\"schema\":1,\"answer\":\"%s\",\"devices\":%.0f,\"epsilon\":%g,\"sfp\":{\"oracle\":"
            "\"%s\",\"epsilon\":%g,"
            "\"epsilon_fragment\":%g,\"k\":%u,\"m\":%u,\"k_fragment\":%u,\"m_fragment\":%u,"
            "\"length\":%u,\"share\":",
            ways[p->way], p->devices, p->epsilon, oracles[p->oracle], s->eps_micro / 1e6,
            s->eps_fragment_micro / 1e6, s->k, s->m, s->k_fragment, s->m_fragment, p->length);
    agg_print_number(stream, p->share[WAY_SFP]);
    fprintf(stream, "},\"trie\":{\"epsilon\":%g,\"contributions\":%u,\"share\":",
            contribution_micro(p) / 1e6, p->contributions);
    agg_print_number(stream, p->share[WAY_TRIE]);
    fputs(",\"words\":", stream);
    agg_print_number(stream, p->trie.words);
    fputs(",\"rounds\":[", stream);
    for (uint32_t i = 0; i < p->trie.n_rounds; i++) {
        const agg_trie_round *r = &p->trie.rounds[i];
        fprintf(stream,
                "%s{\"depth\":%u,\"step\":%u,\"devices\":%.0f,\"starts\":%.0f,\"cells\":%.0f,"
                "\"share\":",
                i > 0 ? "," : "", r->depth, r->step, r->devices, r->starts, r->cells);
        agg_print_number(stream, r->share);
        fputc('}', stream);
    }
    fputs("]}}\n", stream);
}

static agg_err print_plan(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    const discovery_plan *p = result;
    (void)format;
    (p->is_json ? print_json : print_table)(stream, p);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the plan");
}

// ---- the recipe ----

// Options stand in the text as they were given: what is written was read back first.
static void print_sfp_recipe(FILE *stream, const discovery_plan *p, const char *seed_hex)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "\"stream\": \"typed-words\",\n  \"value\": \"word\",\n  \"mechanism\": \"sfp\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"epsilon_fragment\": %.10g, \"k\": %u, \"m\": "
            "%u, \"k_fragment\": %u, "
            "\"m_fragment\": %u, \"length\": %u, \"oracle\": \"%s\"},\n  \"hash\": \"poly1\",\n  "
            "\"seed\": \"%s\",\n",
            s->eps_micro / 1e6, s->eps_fragment_micro / 1e6, s->k, s->m, s->k_fragment,
            s->m_fragment, p->length, oracles[p->oracle], seed_hex);
}

static void print_trie_recipe(FILE *stream, const discovery_plan *p, const char *policy_hash)
{
    const agg_trie_round *first = &p->trie.rounds[0];
    double sample = first->devices / p->devices;
    fprintf(stream,
            "\"stream\": \"typed-words\",\n  \"value\": \"fields\",\n"
            "  \"encoding\": [{\"field\": \"word\", \"starts\": [\"\"], \"characters\": \"%s\", "
            "\"step\": %u}],\n"
            "  \"mechanism\": \"trie\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"contributions\": %u, \"sampler\": "
            "\"random\", \"depth\": %u, "
            "\"max_prefixes\": %u, \"passes\": 1, \"pass\": 1},\n  \"round\": {\"index\": 1},\n",
            p->a.characters, first->step, contribution_micro(p) / 1e6, p->contributions, p->depth,
            MAX_PREFIXES);
    if (sample < 0.999999)
        fprintf(stream, "  \"send\": {\"sample\": %.6f},\n", sample > 0.000001 ? sample : 0.000001);
    if (policy_hash != NULL)
        fprintf(stream, "  \"policy\": \"%s\",\n  \"version\": 1,\n", policy_hash);
}

static agg_err print_text(FILE *stream, agg_error *error, const discovery_plan *p)
{
    uint8_t seed[32];
    char seed_hex[65], date[16];
    agg_policy policy;
    time_t last = time(NULL) + (time_t)86400 * EXPIRES_DAYS;
    struct tm day;
    if (getentropy(seed, sizeof seed) != 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no random bytes");
    agg_hex(seed_hex, seed, sizeof seed);
    if (gmtime_r(&last, &day) == NULL || strftime(date, sizeof date, "%Y-%m-%d", &day) == 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no date");
    agg_err err =
        p->a.policy != NULL ? agg_policy_from_file(&policy, error, p->a.policy) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    fprintf(stream, "{\n  \"recipe\": \"%s\",\n  \"analysis\": \"%s\",\n  ", p->a.id, p->a.id);
    if (p->way == WAY_SFP)
        print_sfp_recipe(stream, p, seed_hex);
    else
        print_trie_recipe(stream, p, p->a.policy != NULL ? policy.hash_hex : NULL);
    fprintf(stream, "  \"limit\": {\"per_day\": 1},\n  \"expires\": \"%s\"\n}\n",
            p->a.expires != NULL ? p->a.expires : date);
    return SHOAL_OK;
}

static agg_err write_recipe(const discovery_plan *p, agg_error *error)
{
    char *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    if (p->a.recipe_out == NULL) return SHOAL_OK;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_err err = print_text(memory, error, p);
    if (fclose(memory) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK)
        err = agg_recipe_from_bytes(&recipe, error, "the planned recipe", text, len);
    if (err == SHOAL_OK) {
        agg_recipe_release(&recipe);
        err = recipe_write(error, p->a.recipe_out, text, len);
    }
    free(text);
    return err;
}

agg_err plan_discover(agg_error *error, int argc, char **argv, int *help)
{
    discovery_plan p = {.oracle = 0};
    agg_err err = read_arguments(&p, error, argc, argv, help);
    if (err != SHOAL_OK || *help) return err;
    err = make_plan(&p, error);
    if (err == SHOAL_OK) err = write_recipe(&p, error);
    if (err == SHOAL_OK) err = cli_result_write(error, p.a.output, print_plan, &p, AGG_TABLE);
    return err;
}
