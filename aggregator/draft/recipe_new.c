// SPDX-License-Identifier: Apache-2.0
// Writing a recipe from options; see recipe_new.h.
#include "recipe_new.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "compound.h"
#include "json_walk.h"
#include "options.h"
#include "policy_json.h"
#include "print_text.h"
#include "recipe_joint.h"
#include "recipe_json.h"
#include "recipe_words.h"
#include "recipe_write.h"

// A parameter that is one number, or a text where is_text: written where it is given, or where the
// mechanism needs it and there is a default.
typedef struct parameter {
    const char *name;
    uint32_t takes; // SHOAL_TAKES_*
    size_t offset;  // of its option
    const char *initial;
    int is_text;
} parameter;

#define AT(member) offsetof(recipe_options, member)

static const parameter parameters[] = {
    {"epsilon", SHOAL_TAKES_EPSILON, AT(epsilon), "4", 0},
    {"k", SHOAL_TAKES_K, AT(k), "65536", 0},
    {"m", SHOAL_TAKES_M, AT(m), "1024", 0},
    {"size", SHOAL_TAKES_LIST, AT(size), NULL, 0},
    {"g", SHOAL_TAKES_G, AT(g), NULL, 0},
    {"bits", SHOAL_TAKES_BITS, AT(bits), "128", 0},
    {"hashes", SHOAL_TAKES_HASHES, AT(hashes), "1", 0},
    {"cohorts", SHOAL_TAKES_COHORTS, AT(cohorts), "64", 0},
    {"p", SHOAL_TAKES_PQF, AT(p), "0.25", 0},
    {"q", SHOAL_TAKES_PQF, AT(q), "0.75", 0},
    {"f", SHOAL_TAKES_PQF, AT(f), "0.5", 0},
    {"low", SHOAL_TAKES_RANGE, AT(low), NULL, 0},
    {"high", SHOAL_TAKES_RANGE, AT(high), NULL, 0},
    {"epsilon_fragment", SHOAL_TAKES_FRAGMENTS, AT(epsilon_fragment), NULL, 0},
    {"k_fragment", SHOAL_TAKES_FRAGMENTS, AT(k_fragment), NULL, 0},
    {"m_fragment", SHOAL_TAKES_FRAGMENTS, AT(m_fragment), NULL, 0},
    {"oracle", SHOAL_TAKES_ORACLE, AT(oracle), "olh", 1},
    {"length", SHOAL_TAKES_LENGTH, AT(length), "10", 0},
    {"n", SHOAL_TAKES_NGRAM, AT(n), "2", 0},
    {"grams", SHOAL_TAKES_GRAMS, AT(grams), NULL, 0},
    {"alphabet", SHOAL_TAKES_NGRAM, AT(alphabet), RECIPE_WORDS_LETTERS, 1},
    {"contributions", SHOAL_TAKES_TRIE, AT(contributions), "1", 0},
    {"sampler", SHOAL_TAKES_TRIE_PASSES, AT(sampler), NULL, 1},
    {"depth", SHOAL_TAKES_TRIE, AT(depth), "15", 0},
    {"max_prefixes", SHOAL_TAKES_TRIE, AT(max_prefixes), "10000", 0},
    {"passes", SHOAL_TAKES_TRIE_PASSES, AT(passes), NULL, 0},
    {"users", SHOAL_TAKES_THRESH, AT(users), NULL, 0},
    {"epochs", SHOAL_TAKES_THRESH, AT(epochs), NULL, 0},
    {"samples", SHOAL_TAKES_THRESH, AT(samples), NULL, 0},
    {"smallest_group", SHOAL_TAKES_THRESH, AT(smallest_group), NULL, 0},
    {"groups", SHOAL_TAKES_THRESH, AT(groups), "1", 0},
    {"delta", SHOAL_TAKES_THRESH, AT(delta), "1e-6", 1},
    {"projection", SHOAL_TAKES_PROJECTION, AT(projection), NULL, 0},
    {"epsilon_estimate", SHOAL_TAKES_ESTIMATE, AT(epsilon_estimate), "0.5", 0},
};
#define N_PARAMETERS (sizeof parameters / sizeof parameters[0])

// What a recipe is about to be.
typedef struct draft {
    const recipe_options *options;
    const char *mechanism, *value;
    shoal_takes takes;
    char k[16], g[16];  // of local hashing, from epsilon
    uint32_t compound;  // its id; 0 for other mechanisms
    recipe_words words; // of a compound
    char group[16];     // users of a group of a run over epochs
} draft;

static const char *given(const recipe_options *o, const parameter *p)
{
    const char *text;
    memcpy(&text, (const char *)o + p->offset, sizeof text);
    return text;
}

static int has_list(const recipe_options *o)
{
    return o->values != NULL || o->size != NULL || o->encoding != NULL;
}

static const char *usual_mechanism(const recipe_options *o, int is_number)
{
    if (o->encoding != NULL) return "onehot-symmetric";
    if (has_list(o)) return "onehot-asymmetric";
    return is_number ? "one-bit-mean" : "cms";
}

static uint32_t domain_of(const shoal_mechanism *mechanism, const draft *d)
{
    if (mechanism->number.needs != 0) return SHOAL_DOMAIN_NUMBER;
    return has_list(d->options) || mechanism->open.needs == 0 ? SHOAL_DOMAIN_CLOSED
                                                              : SHOAL_DOMAIN_OPEN;
}

// Local hashing answers best with g nearest to e^epsilon + 1, and loses nothing that matters to its
// keys with k (g - 1) >= 2^21.
static void choose_g(draft *d)
{
    const char *text = d->options->epsilon != NULL ? d->options->epsilon : "4";
    double best = log2(exp(strtod(text, NULL)) + 1);
    uint32_t g = (uint32_t)1 << (best < 1 ? 1 : best > 20 ? 20 : (uint32_t)lround(best)), k = 1;
    if (d->options->g != NULL) g = (uint32_t)strtoul(d->options->g, NULL, 10);
    while (g > 1 && k < 1u << 24 && (uint64_t)k * (g - 1) < 1u << 21) k *= 2;
    snprintf(d->g, sizeof d->g, "%u", g);
    snprintf(d->k, sizeof d->k, "%u", k);
}

// What the planners say of a compound's parameter; NULL where they say nothing.
static const char *planned(const draft *d, const parameter *p)
{
    const struct {
        const char *name, *text;
    } table[] = {{"epsilon", d->words.epsilon},
                 {"epsilon_fragment", d->words.epsilon_fragment},
                 {"k", d->words.k},
                 {"m", d->words.m},
                 {"k_fragment", d->words.k_fragment},
                 {"m_fragment", d->words.m_fragment},
                 {"p", d->words.p},
                 {"q", d->words.q}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(p->name, table[i].name) == 0 && table[i].text[0] != '\0') return table[i].text;
    return NULL;
}

// Groups of one size, and a share or a bit, unless something else is said.
static const char *initial_of_run(const draft *d, const parameter *p)
{
    if (strcmp(p->name, "smallest_group") == 0 && d->group[0] != '\0') return d->group;
    if (p->takes != SHOAL_TAKES_RANGE) return p->initial;
    return strcmp(p->name, "low") == 0 ? "0" : "1";
}

// Coins of rappor-ngram are of one report each; a filter is shared by few cohorts, whose number a
// device shows.
static const char *initial_of_compound(const draft *d, const parameter *p)
{
    if (p->takes == SHOAL_TAKES_COHORTS) return "8";
    if (strcmp(p->name, "f") == 0) return "0";
    return planned(d, p) != NULL ? planned(d, p) : p->initial;
}

static const char *initial_of(const draft *d, const parameter *p)
{
    if (d->takes.needs & SHOAL_TAKES_THRESH) return initial_of_run(d, p);
    if (d->compound != 0) return initial_of_compound(d, p);
    int is_hashing = (d->takes.needs & SHOAL_TAKES_G) != 0;
    if (is_hashing && p->takes == SHOAL_TAKES_G) return d->g;
    if (is_hashing && p->takes == SHOAL_TAKES_K) return d->k;
    if (strcmp(d->mechanism, "hcms") != 0) return p->initial;
    return p->takes == SHOAL_TAKES_K ? "1024" : p->takes == SHOAL_TAKES_M ? "32768" : p->initial;
}

static agg_err draft_run(draft *d, agg_error *error)
{
    static const char *const needed[] = {"users", "epochs", "samples"};
    const recipe_options *o = d->options;
    const char *const texts[] = {o->users, o->epochs, o->samples};
    uint64_t users = 0, groups = 1;
    agg_err err = SHOAL_OK;
    if (o->devices != NULL || o->step != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--devices and --step go with sfp and trie; a run over epochs has --users "
                        "and --epochs");
    for (int i = 0; i < 3 && err == SHOAL_OK; i++) err = cli_need(error, needed[i], texts[i]);
    if (err == SHOAL_OK) err = cli_read_whole(&users, error, "users", o->users, 1, 1000000000);
    if (err == SHOAL_OK && o->groups != NULL)
        err = cli_read_whole(&groups, error, "groups", o->groups, 1, users);
    if (err != SHOAL_OK) return err;
    snprintf(d->group, sizeof d->group, "%u", (uint32_t)(users / groups));
    if (d->takes.needs & SHOAL_TAKES_RANGE && o->value == NULL) d->value = "number";
    return SHOAL_OK;
}

static agg_err draft_compound(draft *d, agg_error *error, const shoal_compound *compound)
{
    const recipe_options *o = d->options;
    d->compound = compound->id;
    d->takes = compound->takes;
    if (d->takes.needs & SHOAL_TAKES_THRESH) return draft_run(d, error);
    if (compound->id == shoal_sfp_id)
        d->takes.needs |= SHOAL_TAKES_ORACLE; // stated: the default of recipes is another
    if (compound->domain == SHOAL_DOMAIN_CLOSED && o->value == NULL) d->value = "fields";
    return recipe_words_fill(&d->words, error, o, compound->id);
}

static agg_err draft_of(draft *d, agg_error *error, const recipe_options *o)
{
    int is_ranged = o->low != NULL || o->high != NULL;
    memset(d, 0, sizeof *d);
    d->options = o;
    d->value = o->value != NULL      ? o->value
               : o->encoding != NULL ? "fields"
               : is_ranged           ? "number"
                                     : "word";
    int is_number = strcmp(d->value, "number") == 0;
    d->mechanism = o->mechanism != NULL ? o->mechanism : usual_mechanism(o, is_number);
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(d->mechanism, strlen(d->mechanism));
    const shoal_compound *compound = shoal_compound_by_name(d->mechanism, strlen(d->mechanism));
    if (compound != NULL) return draft_compound(d, error, compound);
    if (o->devices != NULL || o->step != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--devices and --step go with sfp and trie");
    if (mechanism == NULL)
        return agg_fail(error, SHOAL_ERR_MECHANISM, AGG_EXIT_USAGE,
                        "--mechanism: no mechanism of that name");
    uint32_t domain = domain_of(mechanism, d);
    d->takes = *shoal_mechanism_takes(mechanism, domain);
    if (domain == SHOAL_DOMAIN_NUMBER && o->value == NULL) d->value = "number";
    if (domain == SHOAL_DOMAIN_CLOSED && !has_list(o))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--mechanism %s goes with --values, --size or --encoding", d->mechanism);
    choose_g(d);
    return SHOAL_OK;
}

// Options are quoted as they stand: the recipe is read back before anyone sees it, and refused
// there when one is wrong.
static void print_text(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "  \"%s\": ", name);
    agg_print_json_text(stream, text, strlen(text));
    fputs(",\n", stream);
}

// What is wrong with a value, or NULL. Bytes that are not UTF-8 would be written as another
// character.
static const char *fault_of(const char *text, size_t len)
{
    if (len == 0) return "is empty";
    if (len > SHOAL_VALUE_MAX) return "is over 256 bytes";
    if (memchr(text, 0, len) != NULL) return "holds a NUL character";
    return agg_utf8_is_valid(text, len) ? NULL : "is not UTF-8";
}

static agg_err print_lines(FILE *stream, agg_error *error, const char *path, const char *at,
                           const char *end)
{
    unsigned n = 0;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)),
                   *stop = newline != NULL ? newline : end;
        size_t len = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        const char *fault = fault_of(at, len);
        if (n++ > 0) fputs(", ", stream);
        if (fault != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: line %u: the value %s", path,
                            n, fault);
        agg_print_json_text(stream, at, len);
        at = stop + 1;
    }
    if (n >= 2) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: holds %s: a list has 2 at least",
                    path, n == 0 ? "no value" : "one value");
}

static agg_err print_values(FILE *stream, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    fputs("\"values\": [", stream);
    err = print_lines(stream, error, path, (const char *)bytes.data,
                      (const char *)bytes.data + bytes.len);
    fputs("]", stream);
    free(bytes.data);
    return err;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

// Is it a number as JSON writes one?
static int is_number(const char *text)
{
    size_t n = count_digits(text += *text == '-');
    if (n == 0 || (n > 1 && *text == '0')) return 0;
    text += n;
    if (*text == '.') {
        if ((n = count_digits(++text)) == 0) return 0;
        text += n;
    }
    if (*text == 'e' || *text == 'E') {
        text += 1 + (text[1] == '-' || text[1] == '+');
        if ((n = count_digits(text)) == 0) return 0;
        text += n;
    }
    return *text == '\0';
}

static agg_err need_number(agg_error *error, const char *name, const char *text)
{
    if (is_number(text)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--%s must be a number, such as 4 or 0.5",
                    name);
}

static agg_err print_parameters(FILE *stream, agg_error *error, const draft *d)
{
    const char *separator = "";
    agg_err err = SHOAL_OK;
    fputs("  \"parameters\": {", stream);
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        const parameter *p = &parameters[i];
        const char *text = given(d->options, p);
        if (text == NULL && d->takes.needs & p->takes) text = initial_of(d, p);
        if (d->compound == shoal_sfp_id && strcmp(p->name, "epsilon") == 0)
            text = d->words.epsilon; // of the string
        if (text == NULL) continue;
        if (err == SHOAL_OK && !p->is_text) err = need_number(error, p->name, text);
        fprintf(stream, "%s\"%s\": ", separator, p->name);
        if (p->is_text)
            agg_print_json_text(stream, text, strlen(text));
        else
            fputs(text, stream);
        separator = ", ";
    }
    if (err == SHOAL_OK && d->options->values != NULL) {
        fputs(separator, stream);
        err = print_values(stream, error, d->options->values);
    }
    fputs("},\n", stream);
    return err;
}

// A file that holds the array, as it stands.
static agg_err print_encoding(FILE *stream, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    cJSON *json = agg_json_parse(error, (const char *)bytes.data, bytes.len);
    if (json == NULL)
        err = AGG_ERR_JSON;
    else if (!cJSON_IsArray(json))
        err = agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "an encoding is a JSON array");
    while (bytes.len > 0 && bytes.data[bytes.len - 1] <= ' ') bytes.len--;
    if (err == SHOAL_OK)
        fprintf(stream, "  \"encoding\": %.*s,\n", (int)bytes.len, (const char *)bytes.data);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", path);
    cJSON_Delete(json);
    free(bytes.data);
    return err;
}

// The first round of a trie: what words begin with, asked of the planned share of devices.
static void print_first_round(FILE *stream, const draft *d)
{
    fprintf(stream,
            "  \"encoding\": [{\"field\": \"word\", \"starts\": \"0\", \"characters\": \"%s\", "
            "\"step\": %u}],\n",
            RECIPE_WORDS_LETTERS, d->words.step);
}

static void print_share(FILE *stream, const draft *d)
{
    double sample = d->words.sample > 0.000001 ? d->words.sample : 0.000001;
    if (d->compound == shoal_trie_id && sample < 0.999999)
        fprintf(stream, "  \"send\": {\"sample\": %.6f},\n", sample);
}

static agg_err print_cohort(FILE *stream, agg_error *error, const recipe_options *o)
{
    const char *separator = "";
    if (o->cohort_minimum == NULL && o->cohort_epsilon == NULL && o->cohort_delta == NULL)
        return SHOAL_OK;
    agg_err err = o->cohort_minimum != NULL
                      ? need_number(error, "cohort-minimum", o->cohort_minimum)
                      : SHOAL_OK;
    if (err == SHOAL_OK && o->cohort_epsilon != NULL)
        err = need_number(error, "cohort-epsilon", o->cohort_epsilon);
    fputs("  \"cohort\": {", stream);
    if (o->cohort_minimum != NULL) {
        fprintf(stream, "\"minimum\": %s", o->cohort_minimum);
        separator = ", ";
    }
    if (o->cohort_epsilon != NULL) {
        fprintf(stream, "%s\"epsilon\": %s, \"delta\": ", separator, o->cohort_epsilon);
        const char *delta = o->cohort_delta != NULL ? o->cohort_delta : "1e-9";
        agg_print_json_text(stream, delta, strlen(delta));
    }
    fputs("},\n", stream);
    return err;
}

static agg_err print_policy(FILE *stream, agg_error *error, const recipe_options *o)
{
    agg_policy policy;
    agg_err err = agg_policy_from_file(&policy, error, o->policy);
    if (err == SHOAL_OK && o->version != NULL) err = need_number(error, "version", o->version);
    if (err != SHOAL_OK) return err;
    print_text(stream, "policy", policy.hash_hex);
    fprintf(stream, "  \"version\": %s,\n", o->version != NULL ? o->version : "1");
    return SHOAL_OK;
}

static agg_err check_query_options(agg_error *error, const recipe_options *o)
{
    if (o->version != NULL && o->policy == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--version goes with --policy");
    if (o->cohort_delta != NULL && o->cohort_epsilon == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--cohort-delta goes with --cohort-epsilon");
    if (o->encoding != NULL && (o->values != NULL || o->size != NULL))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--encoding goes without --values and --size");
    return SHOAL_OK;
}

// Hash and seed, where the mechanism takes them.
static agg_err print_keys(FILE *stream, agg_error *error, const draft *d)
{
    char seed_hex[65];
    if (d->takes.needs & SHOAL_TAKES_POLY1) print_text(stream, "hash", "poly1");
    if (d->takes.needs & SHOAL_TAKES_AFFINE1) print_text(stream, "hash", "affine1");
    if (!(d->takes.needs & SHOAL_TAKES_SEED)) return SHOAL_OK;
    agg_err err = recipe_fresh_seed(seed_hex, error);
    if (err == SHOAL_OK) print_text(stream, "seed", seed_hex);
    return err;
}

// A variable is written as a recipe of one value is.
static agg_err print_variable(FILE *stream, agg_error *error, const char *line)
{
    recipe_variable v;
    draft d;
    agg_err err = recipe_variable_read(&v, error, line);
    if (err != SHOAL_OK) return err;
    err = draft_of(&d, error, &v.own);
    if (err == SHOAL_OK && d.compound != 0)
        err = agg_fail(error, SHOAL_ERR_MECHANISM, AGG_EXIT_USAGE,
                       "has parts of its own and is of no variable");
    if (err == SHOAL_OK) {
        print_text(stream, "name", v.name);
        print_text(stream, "value", d.value);
        print_text(stream, "mechanism", d.mechanism);
        err = print_parameters(stream, error, &d);
    }
    if (err == SHOAL_OK) err = print_keys(stream, error, &d);
    if (err != SHOAL_OK) agg_error_prefix(error, "--variable %.64s", v.name);
    recipe_variable_release(&v);
    return err;
}

// Members as print_variable writes them, further in, without the comma after the last.
static void print_members(FILE *stream, const char *text, size_t len)
{
    for (size_t i = 0; i + 2 < len; i++) {
        if (i == 0 || text[i - 1] == '\n') fputs("  ", stream);
        fputc(text[i], stream);
    }
}

static agg_err print_members_of(FILE *stream, agg_error *error, const char *line)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_err err = print_variable(memory, error, line);
    if (fclose(memory) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK) print_members(stream, text, len);
    free(text);
    return err;
}

static agg_err print_variables(FILE *stream, agg_error *error, const recipe_options *o)
{
    agg_err err = SHOAL_OK;
    fputs("  \"variables\": [", stream);
    for (size_t i = 0; i < o->n_variables && err == SHOAL_OK; i++) {
        fputs(i > 0 ? ", {\n" : "{\n", stream);
        err = print_members_of(stream, error, o->variables[i]);
        fputs("\n  }", stream);
    }
    fputs("],\n", stream);
    return err;
}

// What a recipe of one value and a joint one both end with.
static agg_err print_end(FILE *stream, agg_error *error, const recipe_options *o)
{
    agg_err err = print_cohort(stream, error, o);
    if (err == SHOAL_OK && o->policy != NULL) err = print_policy(stream, error, o);
    fputs("  \"expires\": ", stream);
    agg_print_json_text(stream, o->expires, strlen(o->expires));
    fputs("\n}\n", stream);
    return err;
}

static agg_err check_joint_options(agg_error *error, const recipe_options *o)
{
    const struct {
        const char *name, *given;
    } others[] = {{"mechanism", o->mechanism},
                  {"values", o->values},
                  {"value", o->value},
                  {"encoding", o->encoding},
                  {"epsilon", o->epsilon},
                  {"k", o->k},
                  {"m", o->m},
                  {"size", o->size},
                  {"g", o->g},
                  {"bits", o->bits},
                  {"hashes", o->hashes},
                  {"cohorts", o->cohorts},
                  {"p", o->p},
                  {"q", o->q},
                  {"f", o->f},
                  {"low", o->low},
                  {"high", o->high},
                  {"devices", o->devices},
                  {"step", o->step},
                  {"policy", o->policy}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "--%s beside --variable: each variable says its own mechanism, list "
                            "and parameters in its"
                            " line (such as value=item), and such a recipe is no query",
                            others[i].name);
    return SHOAL_OK;
}

static agg_err print_joint(FILE *stream, agg_error *error, const recipe_options *o)
{
    agg_err err = check_joint_options(error, o);
    if (err == SHOAL_OK && o->per_day != NULL) err = need_number(error, "per-day", o->per_day);
    if (err == SHOAL_OK && o->keep_days != NULL)
        err = need_number(error, "keep-days", o->keep_days);
    if (err != SHOAL_OK) return err;
    fputs("{\n", stream);
    print_text(stream, "recipe", o->id);
    print_text(stream, "analysis", o->analysis != NULL ? o->analysis : o->id);
    print_text(stream, "stream", o->stream != NULL ? o->stream : o->id);
    err = print_variables(stream, error, o);
    fprintf(stream, "  \"limit\": {\"per_day\": %s},\n", o->per_day != NULL ? o->per_day : "1");
    if (o->keep_days != NULL)
        fprintf(stream, "  \"records\": {\"keep_days\": %s},\n", o->keep_days);
    return err == SHOAL_OK ? print_end(stream, error, o) : err;
}

static agg_err print_single(FILE *stream, agg_error *error, const draft *d)
{
    const recipe_options *o = d->options;
    int is_run = (d->takes.needs & SHOAL_TAKES_THRESH) != 0;
    int is_words = strcmp(d->value, "word") == 0 || (d->compound != 0 && !is_run);
    const char *stream_name = is_words ? "typed-words" : o->id;
    fputs("{\n", stream);
    print_text(stream, "recipe", o->id);
    print_text(stream, "analysis", o->analysis != NULL ? o->analysis : o->id);
    print_text(stream, "stream", o->stream != NULL ? o->stream : stream_name);
    print_text(stream, "value", d->value);
    agg_err err = o->encoding != NULL ? print_encoding(stream, error, o->encoding) : SHOAL_OK;
    if (o->encoding == NULL && d->compound == shoal_trie_id) print_first_round(stream, d);
    print_text(stream, "mechanism", d->mechanism);
    if (err == SHOAL_OK) err = print_parameters(stream, error, d);
    if (err == SHOAL_OK && o->per_day != NULL) err = need_number(error, "per-day", o->per_day);
    if (err == SHOAL_OK) err = print_keys(stream, error, d);
    fprintf(stream, "  \"limit\": {\"per_day\": %s},\n", o->per_day != NULL ? o->per_day : "1");
    print_share(stream, d);
    if (is_run) fputs("  \"round\": {\"index\": 1},\n", stream);
    return err == SHOAL_OK ? print_end(stream, error, o) : err;
}

static agg_err print_recipe(FILE *stream, agg_error *error, const recipe_options *options)
{
    draft d;
    if (options->n_variables > 0) return print_joint(stream, error, options);
    if (options->keep_days != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--keep-days goes with --variable");
    agg_err err = draft_of(&d, error, options);
    return err == SHOAL_OK ? print_single(stream, error, &d) : err;
}

static agg_err check_and_write(agg_error *error, const char *path, const char *text, size_t len)
{
    agg_recipe recipe;
    agg_err err = agg_recipe_from_bytes(&recipe, error, "the new recipe", text, len);
    if (err != SHOAL_OK) return err;
    agg_recipe_release(&recipe);
    return recipe_write(error, path, text, len);
}

agg_err recipe_new(agg_error *error, const recipe_options *options)
{
    char *text = NULL;
    size_t len = 0;
    agg_err err = cli_need(error, "id", options->id);
    if (err == SHOAL_OK) err = cli_need(error, "expires", options->expires);
    if (err == SHOAL_OK) err = check_query_options(error, options);
    if (err != SHOAL_OK) return err;
    FILE *stream = open_memstream(&text, &len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    err = print_recipe(stream, error, options);
    if (fclose(stream) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK) err = check_and_write(error, options->output, text, len);
    free(text);
    return err;
}
