// SPDX-License-Identifier: Apache-2.0
// Writes a recipe from options; see recipe_new.h.
#include "recipe_new.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "policy_json.h"
#include "print_text.h"
#include "recipe_draft.h"
#include "recipe_joint.h"
#include "recipe_json.h"
#include "recipe_judge.h"
#include "recipe_send.h"
#include "recipe_values.h"
#include "recipe_write.h"

// Quotes an option unescaped. The recipe is read back before anyone sees it, and the reader refuses
// an invalid option.
static void print_text(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "  \"%s\": ", name);
    agg_print_json_text(stream, text, strlen(text));
    fputs(",\n", stream);
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

// Returns: whether the text is a number as JSON writes one.
static bool is_number(const char *text)
{
    size_t n = count_digits(text += *text == '-');
    if (n == 0 || (n > 1 && *text == '0')) return false;
    text += n;
    if (*text == '.') {
        if ((n = count_digits(++text)) == 0) return false;
        text += n;
    }
    if (*text == 'e' || *text == 'E') {
        text += 1 + (text[1] == '-' || text[1] == '+');
        if ((n = count_digits(text)) == 0) return false;
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

static agg_err need_parameter(agg_error *error, const recipe_parameter *p, const char *text)
{
    char option[RECIPE_OPTION_SIZE];
    recipe_parameter_option(option, p->name);
    return p->is_text ? SHOAL_OK : need_number(error, option, text);
}

static agg_err print_parameters(FILE *stream, agg_error *error, const recipe_draft *d)
{
    const char *separator = "", *text;
    recipe_parameter p;
    agg_err err = SHOAL_OK;
    fputs("  \"parameters\": {", stream);
    for (size_t i = 0; recipe_draft_parameter(&p, &text, d, i); i++) {
        if (text == NULL) continue;
        if (err == SHOAL_OK) err = need_parameter(error, &p, text);
        fprintf(stream, "%s\"%s\": ", separator, p.name);
        if (p.is_text)
            agg_print_json_text(stream, text, strlen(text));
        else
            fputs(text, stream);
        separator = ", ";
    }
    if (err == SHOAL_OK && d->options->values != NULL) {
        fputs(separator, stream);
        err = recipe_print_values(stream, error, d->options->values);
    }
    fputs("},\n", stream);
    return err;
}

// Writes the first round of a trie, which asks the planned share of devices for the starts of
// words.
static void print_first_round(FILE *stream, const recipe_draft *d)
{
    fprintf(stream,
            "  \"encoding\": [{\"field\": \"word\", \"starts\": \"0\", \"characters\": \"%s\", "
            "\"step\": %u}],\n",
            COMPOUND_LETTERS, d->words.step);
}

static void print_share(FILE *stream, const recipe_draft *d)
{
    double sample = d->words.sample > 0.000001 ? d->words.sample : 0.000001;
    if (d->words.sample > 0 && sample < 0.999999)
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

static agg_err print_block(FILE *stream, agg_error *error, const recipe_options *o)
{
    const char *minimum = o->block_minimum, *tick = o->block_tick;
    if (minimum == NULL && tick == NULL) return SHOAL_OK;
    agg_err err = minimum != NULL ? need_number(error, "block-minimum", minimum) : SHOAL_OK;
    if (err == SHOAL_OK && tick != NULL) err = need_number(error, "block-tick", tick);
    fputs("  \"block\": {", stream);
    if (minimum != NULL) fprintf(stream, "\"minimum\": %s", minimum);
    if (tick != NULL) fprintf(stream, "%s\"tick_s\": %s", minimum != NULL ? ", " : "", tick);
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
    if (o->encoding != NULL && (o->values != NULL || recipe_option(o, "size") != NULL))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--encoding goes without --values and --size");
    return SHOAL_OK;
}

// Writes hash and seed, if the mechanism takes them.
static agg_err print_keys(FILE *stream, agg_error *error, const recipe_draft *d)
{
    char seed_hex[65];
    if (d->takes.needs & SHOAL_TAKES_POLY1) print_text(stream, "hash", "poly1");
    if (d->takes.needs & SHOAL_TAKES_AFFINE1) print_text(stream, "hash", "affine1");
    if (!(d->takes.needs & SHOAL_TAKES_SEED)) return SHOAL_OK;
    agg_err err = recipe_fresh_seed(seed_hex, error);
    if (err == SHOAL_OK) print_text(stream, "seed", seed_hex);
    return err;
}

// Writes a variable like a recipe of one value.
static agg_err print_variable(FILE *stream, agg_error *error, const char *line)
{
    recipe_variable v;
    recipe_draft d;
    agg_err err = recipe_variable_read(&v, error, line);
    if (err != SHOAL_OK) return err;
    err = recipe_draft_make(&d, error, &v.own);
    if (err == SHOAL_OK && d.is_compound)
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

// Copies the members that print_variable wrote, indented further, without the comma after the last.
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

// Writes the members that end both a recipe of one value and a joint recipe.
static agg_err print_end(FILE *stream, agg_error *error, const recipe_options *o)
{
    agg_err err = print_cohort(stream, error, o);
    if (err == SHOAL_OK) err = print_block(stream, error, o);
    if (err == SHOAL_OK && o->policy != NULL) err = print_policy(stream, error, o);
    fputs("  \"expires\": ", stream);
    agg_print_json_text(stream, o->expires, strlen(o->expires));
    fputs("\n}\n", stream);
    return err;
}

static agg_err refuse_joint_option(agg_error *error, const char *name)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--%s beside --variable: each variable says its own mechanism, list "
                    "and parameters in its"
                    " line (such as value=item), and such a recipe is no query",
                    name);
}

static agg_err check_joint_options(agg_error *error, const recipe_options *o)
{
    const struct {
        const char *name, *given;
    } others[] = {{"mechanism", o->mechanism}, {"values", o->values},   {"value", o->value},
                  {"encoding", o->encoding},   {"devices", o->devices}, {"step", o->step},
                  {"policy", o->policy}};
    char option[RECIPE_OPTION_SIZE];
    recipe_parameter p;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given != NULL) return refuse_joint_option(error, others[i].name);
    for (size_t i = 0; recipe_parameter_at(&p, i); i++) {
        if (o->parameters[i] == NULL) continue;
        recipe_parameter_option(option, p.name);
        return refuse_joint_option(error, option);
    }
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

static agg_err print_single(FILE *stream, agg_error *error, const recipe_draft *d)
{
    const recipe_options *o = d->options;
    bool is_words = strcmp(d->value, "word") == 0 || (d->is_compound && !d->is_run);
    const char *stream_name = is_words ? "typed-words" : o->id;
    fputs("{\n", stream);
    print_text(stream, "recipe", o->id);
    print_text(stream, "analysis", o->analysis != NULL ? o->analysis : o->id);
    print_text(stream, "stream", o->stream != NULL ? o->stream : stream_name);
    print_text(stream, "value", d->value);
    agg_err err =
        o->encoding != NULL ? recipe_print_encoding(stream, error, o->encoding) : SHOAL_OK;
    if (o->encoding == NULL && d->words.step > 0) print_first_round(stream, d);
    print_text(stream, "mechanism", d->mechanism);
    if (err == SHOAL_OK) err = print_parameters(stream, error, d);
    if (err == SHOAL_OK && o->per_day != NULL) err = need_number(error, "per-day", o->per_day);
    if (err == SHOAL_OK) err = print_keys(stream, error, d);
    fprintf(stream, "  \"limit\": {\"per_day\": %s},\n", o->per_day != NULL ? o->per_day : "1");
    print_share(stream, d);
    if (d->is_run) fputs("  \"round\": {\"index\": 1},\n", stream);
    return err == SHOAL_OK ? print_end(stream, error, o) : err;
}

static agg_err print_recipe(FILE *stream, agg_error *error, const recipe_options *options)
{
    recipe_draft d;
    if (options->n_variables > 0) return print_joint(stream, error, options);
    if (options->keep_days != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--keep-days goes with --variable");
    agg_err err = recipe_draft_make(&d, error, options);
    return err == SHOAL_OK ? print_single(stream, error, &d) : err;
}

// Writes the recipe's text. Returns: with SHOAL_OK, a text to free.
static agg_err draft_text(char **text, size_t *len, agg_error *error, const recipe_options *options)
{
    FILE *stream = open_memstream(text, len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_err err = print_recipe(stream, error, options);
    if (fclose(stream) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK) return SHOAL_OK;
    free(*text);
    *text = NULL;
    return err;
}

static agg_err read_draft(agg_recipe *recipe, agg_error *error, const char *text, size_t len)
{
    return agg_recipe_from_bytes(recipe, error, "the new recipe", text, len);
}

// Puts `send` in front of the last member. The lists of the options may be pipes, so that nothing
// is read twice.
static agg_err insert_send(char **text, size_t *len, agg_error *error, const char *send)
{
    static const char last[] = "  \"expires\": ";
    char *at = *text, *longer = NULL;
    for (char *next; (next = strstr(at + 1, last)) != NULL;) at = next;
    FILE *stream = open_memstream(&longer, len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    fprintf(stream, "%.*s  \"send\": %s,\n%s", (int)(at - *text), *text, send, at);
    agg_err err = fclose(stream) == 0
                      ? SHOAL_OK
                      : agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    free(*text);
    *text = longer;
    return err;
}

// Chooses `send` by the draft without it, and puts it in.
static agg_err add_send(char **text, size_t *len, agg_error *error, const recipe_options *options)
{
    agg_recipe recipe;
    const char *send = NULL;
    agg_err err = read_draft(&recipe, error, *text, *len);
    if (err != SHOAL_OK) return err;
    err = recipe_send_choose(&send, error, options, recipe.recipe);
    agg_recipe_release(&recipe);
    return err == SHOAL_OK && send != NULL ? insert_send(text, len, error, send) : err;
}

agg_err recipe_new(agg_error *error, const recipe_options *options)
{
    char *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    agg_err err = cli_need(error, "id", options->id);
    if (err == SHOAL_OK) err = cli_need(error, "expires", options->expires);
    if (err == SHOAL_OK) err = check_query_options(error, options);
    if (err == SHOAL_OK) err = draft_text(&text, &len, error, options);
    if (err == SHOAL_OK) err = add_send(&text, &len, error, options);
    if (err == SHOAL_OK) err = read_draft(&recipe, error, text, len);
    if (err == SHOAL_OK) {
        err = recipe_judge(error, &recipe, options);
        agg_recipe_release(&recipe);
    }
    if (err == SHOAL_OK) err = recipe_write(error, options->output, text, len);
    free(text);
    return err;
}
