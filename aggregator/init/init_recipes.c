// SPDX-License-Identifier: Apache-2.0
// Recipes of a new installation; see init_recipes.h.
#include "init_recipes.h"
#include "compound.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init_random.h"
#include "part_recipe.h"
#include "recipe.h"
#include "recipe_json.h"
#include "recipe_judge.h"
#include "set_json.h"

// A text that is being written.
typedef struct memory {
    FILE *stream;
    char *text;
    size_t len;
} memory;

static agg_err begin(memory *m, agg_error *error)
{
    m->stream = open_memstream(&m->text, &m->len);
    return m->stream != NULL ? SHOAL_OK
                             : agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
}

static agg_err end(memory *m, agg_error *error)
{
    if (fclose(m->stream) == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
}

static const char *stream_of(const init_answers *a)
{
    return a->what == INIT_SITES                                ? "visits"
           : a->what == INIT_CHOICES || a->what == INIT_NUMBERS ? a->id
                                                                : "typed-words";
}

static const char *value_of(const init_answers *a)
{
    return a->what == INIT_SITES     ? "site"
           : a->what == INIT_CHOICES ? "item"
           : a->what == INIT_NUMBERS ? "number"
                                     : "word";
}

static const char *send_of(const init_answers *a, const init_figures *f)
{
    if (!f->is_uniform) return NULL;
    return a->is_one_page ? AGG_SEND_VISIT : AGG_SEND_DAY;
}

static void print_planned(FILE *stream, const init_answers *a, const init_figures *f,
                          const char *seed_hex)
{
    const agg_recipe_frame frame = {.id = a->id,
                                    .analysis = a->id,
                                    .stream = stream_of(a),
                                    .value = value_of(a),
                                    .seed_hex = seed_hex,
                                    .low = a->low,
                                    .high = a->high,
                                    .expires = a->expires,
                                    .per_day = 1,
                                    .batch_minimum = f->batch,
                                    .cohort_minimum = f->cohort,
                                    .send = send_of(a, f),
                                    .text = a->what == INIT_SITES ? "{\"max\": 64}" : NULL,
                                    .values = a->values.texts};
    agg_part_recipe_print(stream, &f->plan.candidates[0].part, &frame);
}

static void print_discovery(FILE *stream, const init_answers *a, const init_figures *f,
                            const char *seed_hex)
{
    const agg_sfp_plan *s = &f->sfp;
    fprintf(stream,
            "{\n  \"recipe\": \"%s\",\n  \"analysis\": \"%s\",\n  \"stream\": \"typed-words\",\n"
            "  \"value\": \"word\",\n  \"mechanism\": \"sfp\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"epsilon_fragment\": %.10g, \"k\": %u, "
            "\"m\": %u, \"k_fragment\": %u, \"m_fragment\": %u, \"length\": %u, "
            "\"oracle\": \"olh\"},\n"
            "  \"hash\": \"poly1\",\n  \"seed\": \"%s\",\n  \"limit\": {\"per_day\": 1},\n"
            "  \"batch\": {\"minimum\": %u},\n  \"cohort\": {\"minimum\": %u},\n"
            "  \"expires\": \"%s\"\n}\n",
            a->id, a->id, s->eps_micro / 1e6, s->eps_fragment_micro / 1e6, s->k, s->m,
            s->k_fragment, s->m_fragment, INIT_NEW_WORD_BYTES, seed_hex, f->batch, f->cohort,
            a->expires);
}

// The probe has a list of its own, so that no report of it can be about a person.
static void print_probe(FILE *stream, const init_answers *a)
{
    fprintf(stream,
            "{\n  \"recipe\": \"" INIT_PROBE_ID "\",\n  \"analysis\": \"" INIT_PROBE_ID "\",\n"
            "  \"stream\": \"" INIT_PROBE_ID "\",\n  \"value\": \"item\",\n"
            "  \"mechanism\": \"grr\",\n"
            "  \"parameters\": {\"epsilon\": 1, \"values\": [\"probe-a\", \"probe-b\"]},\n"
            "  \"limit\": {\"per_day\": 10},\n"
            "  \"send\": {\"delay_s\": 0, \"fresh\": \"allow\"},\n"
            "  \"batch\": {\"minimum\": 1, \"max_age_s\": 1},\n"
            "  \"cohort\": {\"minimum\": 1},\n  \"block\": {\"tick_s\": 1},\n"
            "  \"expires\": \"%s\"\n}\n",
            a->expires);
}

// Reads a recipe back. Returns: SHOAL_ERR_EXPIRED if its last day has passed.
static agg_err check(char hash[65], init_recipes *out, agg_error *error, const char *name,
                     const memory *m)
{
    agg_recipe recipe;
    agg_err err = agg_recipe_from_bytes(&recipe, error, name, m->text, m->len);
    if (err != SHOAL_OK) return err;
    const shoal_recipe *r = recipe.recipe;
    err = recipe_judge_day(error, &recipe);
    memcpy(hash, recipe.hash_hex, sizeof recipe.hash_hex);
    if (out != NULL) {
        snprintf(out->stream, sizeof out->stream, "%.*s", r->stream.len, r->stream.bytes);
        out->mechanism = shoal_recipe_mechanism_name(r); // of a table
    }
    agg_recipe_release(&recipe);
    return err;
}

static agg_err make_recipe(init_recipes *r, agg_error *error, const init_answers *a,
                           const init_figures *f)
{
    char seed_hex[INIT_HEX];
    memory m = {NULL, NULL, 0};
    agg_err err = init_random(seed_hex, error, a->options->seed, "recipe");
    if (err == SHOAL_OK) err = begin(&m, error);
    if (err != SHOAL_OK) return err;
    if (a->what == INIT_NEW_WORDS)
        print_discovery(m.stream, a, f, seed_hex);
    else
        print_planned(m.stream, a, f, seed_hex);
    err = end(&m, error);
    r->recipe = m.text;
    return err == SHOAL_OK ? check(r->recipe_hash, r, error, "the new recipe", &m) : err;
}

static agg_err make_probe(init_recipes *r, agg_error *error, const init_answers *a)
{
    memory m = {NULL, NULL, 0};
    agg_err err = begin(&m, error);
    if (err != SHOAL_OK) return err;
    print_probe(m.stream, a);
    err = end(&m, error);
    r->probe = m.text;
    return err == SHOAL_OK ? check(r->probe_hash, NULL, error, "the probe's recipe", &m) : err;
}

// Writes the recipe a level deeper, as the one member of the set's list.
static void print_indented(FILE *stream, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n') len--;
    for (size_t i = 0; i < len; i++) {
        fputc(text[i], stream);
        if (text[i] == '\n') fputs("    ", stream);
    }
}

static agg_err make_set(init_recipes *r, agg_error *error)
{
    agg_set set;
    memory m = {NULL, NULL, 0};
    agg_err err = begin(&m, error);
    if (err != SHOAL_OK) return err;
    fprintf(m.stream,
            "{\n  \"budget\": {\"epsilon\": %.10g, \"days\": %u},\n  \"recipes\": [\n    ",
            r->month_epsilon, INIT_WINDOW_DAYS);
    print_indented(m.stream, r->recipe);
    fputs("\n  ]\n}\n", m.stream);
    err = end(&m, error);
    r->set = m.text;
    if (err == SHOAL_OK) err = agg_set_from_bytes(&set, error, "the new set", m.text, m.len);
    if (err == SHOAL_OK) memcpy(r->set_hash, set.hash_hex, sizeof set.hash_hex);
    return err;
}

agg_err init_recipes_make(init_recipes *recipes, agg_error *error, const init_answers *answers,
                          const init_figures *figures)
{
    init_recipes *r = recipes;
    bool is_discovery = answers->what == INIT_NEW_WORDS;
    memset(r, 0, sizeof *r);
    if (!is_discovery && figures->plan.n_candidates == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_RUNTIME, "%s", figures->plan.why);
    r->epsilon = answers->eps_micro / 1e6;
    r->month_epsilon = r->epsilon * INIT_WINDOW_DAYS;
    r->needs_whole_module = is_discovery;
    r->record_bytes = is_discovery ? 0 : figures->plan.candidates[0].report_bytes;
    agg_err err = make_recipe(r, error, answers, figures);
    if (err == SHOAL_OK) err = make_probe(r, error, answers);
    if (err == SHOAL_OK) err = make_set(r, error);
    return err;
}

void init_recipes_release(init_recipes *recipes)
{
    free(recipes->recipe);
    free(recipes->probe);
    free(recipes->set);
    recipes->recipe = recipes->probe = recipes->set = NULL;
}
