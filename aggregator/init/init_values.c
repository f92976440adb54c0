// SPDX-License-Identifier: Apache-2.0
// Fills the list of values; see init_values.h.
#include "init_values.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init_origin.h"
#include "init_random.h"
#include "verdict_text.h"

#define TEXT_MAX 1024u

typedef struct maker {
    init_values *values;
    agg_error *error;
    agg_err err; // of the first that failed
    const init_answers *a;
    const init_figures *f;
    const init_recipes *r;
} maker;

// Adds a text that outlives the list.
static void put(maker *m, const char *name, const char *text)
{
    assert(m->values->n + 1 < INIT_VALUES_SIZE);
    m->values->list[m->values->n++] = (init_value){name, text};
}

// Adds a text that the list frees.
static void put_owned(maker *m, const char *name, char *text)
{
    m->values->owned[m->values->n_owned++] = text;
    put(m, name, text);
}

static void put_copy(maker *m, const char *name, const char *format, ...) AGG_PRINTF(3, 4);
static void put_copy(maker *m, const char *name, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *copy = strdup(text);
    if (copy != NULL) {
        put_owned(m, name, copy);
        return;
    }
    put(m, name, "");
    if (m->err == SHOAL_OK)
        m->err = agg_fail(m->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
}

static void put_count(maker *m, const char *name, double number)
{
    char text[32];
    init_put_count(text, number);
    put_copy(m, name, "%s", text);
}

// Adds a text that is filled from a template, with the values that are there already.
static void put_filled(maker *m, const char *name, init_kind kind, const char *const *parts)
{
    char *text = NULL;
    agg_err err = init_fill_text(&text, m->error, kind, parts, m->values->list);
    if (err != SHOAL_OK && m->err == SHOAL_OK) m->err = err;
    if (text != NULL)
        put_owned(m, name, text);
    else
        put(m, name, "");
}

static void put_secret(maker *m, const char *name)
{
    char hex[INIT_HEX] = "";
    agg_err err = init_random(hex, m->error, m->a->options->seed, name);
    if (err != SHOAL_OK && m->err == SHOAL_OK) m->err = err;
    put_copy(m, name, "%s", hex);
}

static void put_verdict(maker *m, const char *name, double epsilon)
{
    shoal_verdict verdict;
    char text[AGG_VERDICT_TEXT_MAX];
    shoal_verdict_of(&verdict, (uint64_t)llround(epsilon * 1e6));
    put_copy(m, name, "%s", agg_verdict_text(text, &verdict));
}

static void put_names(maker *m)
{
    const init_answers *a = m->a;
    const init_what_texts *t = &init_texts[a->what];
    put(m, "id", a->id);
    put(m, "title", t->title);
    put(m, "yours", t->yours);
    put(m, "taken", t->taken);
    put(m, "caveat", t->caveat);
    put(m, "site", a->site);
    put(m, "edge", a->edge);
    put_copy(m, "edge_base", "%s/", a->edge);
    put_copy(m, "gateway", "%s/ohttp", a->edge);
    put(m, "relay_origin", a->relay);
    put(m, "expires", a->expires);
    put(m, "version", a->options->version);
    put(m, "field", a->options->field != NULL ? a->options->field : "#shoal-field");
    put(m, "low", a->low);
    put(m, "high", a->high);
    put_copy(m, "csp",
             "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src "
             "'self'; connect-src 'self' %s; base-uri 'none'; form-action 'none'; frame-ancestors "
             "'none'",
             a->edge);
}

static void put_figures(maker *m)
{
    const init_answers *a = m->a;
    const init_figures *f = m->f;
    char text[TEXT_MAX];
    put_count(m, "visitors", (double)a->visitors);
    init_put_share(text, a->taking_part);
    put_copy(m, "taking_part", "%s", text);
    put_count(m, "devices", f->devices);
    put_count(m, "reports", f->reports);
    put_copy(m, "days", "%u", a->days);
    put_copy(m, "epsilon", "%.10g", m->r->epsilon);
    put_copy(m, "window", "%u", INIT_WINDOW_DAYS);
    put_copy(m, "window_epsilon", "%.10g", m->r->month_epsilon);
    put_verdict(m, "verdict_report", m->r->epsilon);
    put_verdict(m, "verdict_window", m->r->month_epsilon);
    put_copy(m, "promise",
             "A report has epsilon %.10g, %s. All reports of a person in %u days have %.10g: %s.",
             m->r->epsilon, init_values_get(m->values, "verdict_report"), INIT_WINDOW_DAYS,
             m->r->month_epsilon, init_values_get(m->values, "verdict_window"));
    put(m, "mechanism", m->r->mechanism);
    put_count(m, "cohort", f->cohort);
    put_count(m, "batch", f->batch);
    put(m, "pick",
        !f->is_uniform ? "the first of a day. So a report also shows that something happened"
        : a->is_one_page
            ? "one of each visit, drawn by chance, or none. So a report does not show whether "
              "anything happened"
            : "one of each day, drawn by chance, or none. So a report does not show whether "
              "anything happened");
    init_put_sentence(text, sizeof text, a, f);
    put_copy(m, "sentence", "%s", text);
    put(m, "why", f->why != NULL ? f->why : "");
    init_put_needed(text, sizeof text, f);
    put_copy(m, "needed", "%s", text);
    if (f->is_nothing)
        put_filled(m, "nothing", INIT_MARKDOWN, init_readme_nothing);
    else
        put(m, "nothing", "");
}

static void put_recipes(maker *m)
{
    const init_recipes *r = m->r;
    const char *dictionary = init_dictionary(m->a->what);
    put(m, "recipe", r->recipe);
    put(m, "probe", r->probe);
    put(m, "set", r->set);
    put(m, "recipe_hash", r->recipe_hash);
    put(m, "probe_hash", r->probe_hash);
    put(m, "set_hash", r->set_hash);
    put(m, "stream", r->stream);
    put_copy(m, "recipe_file", "recipes/%s.json", m->a->id);
    put(m, "dictionary", dictionary != NULL ? dictionary : "");
    if (dictionary != NULL)
        put_copy(m, "dictionaries", "  \"dictionaries\": {\"%s\": \"dictionaries/%s.tsv\"},\n",
                 m->a->id, m->a->id);
    else
        put(m, "dictionaries", "");
    put(m, "module",
        r->needs_whole_module ? "  wasm: '/shoal/shoal-all.wasm', // carries this mechanism\n"
                              : "");
}

// Writes the buttons of a list.
static void put_buttons(maker *m)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    if (stream == NULL) {
        put(m, "buttons", "");
        m->err = agg_fail(m->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
        return;
    }
    for (uint32_t i = 0; i < m->a->values.n; i++) {
        const agg_text *value = &m->a->values.texts[i];
        fprintf(stream, "        <li><button type=\"button\" data-choice=\"%u\"><bdi>", i);
        init_write_text(stream, INIT_HTML, value->bytes, value->len);
        fputs("</bdi></button></li>\n", stream);
    }
    fclose(stream);
    put_owned(m, "buttons", text);
}

static void put_page(maker *m)
{
    const init_what_texts *t = &init_texts[m->a->what];
    bool has_relay = m->a->relay[0] != '\0';
    put_buttons(m);
    put_filled(m, "body", INIT_HTML, t->body);
    put_filled(m, "script", INIT_JSON, t->script);
    if (has_relay)
        put_filled(m, "relay", INIT_MARKDOWN, init_readme_relay);
    else
        put(m, "relay", "");
    put(m, "edge_row",
        "the edge | records, and the address of a connection, which it does not store | the event");
    put(m, "value_risk",
        m->a->what == INIT_NEW_WORDS ? "a word must be typed by many to be found"
                                     : "only values that you list are counted");
}

// Names where npm finds a package: a version, or a file of a release.
static void put_package(maker *m, const char *value, const char *name)
{
    const char *place = m->a->options->packages, *version = m->a->options->version;
    if (place != NULL && strcmp(place, INIT_REGISTRY) == 0) {
        put(m, value, version);
        return;
    }
    if (place == NULL) { // by name npm would take what a stranger may have put there
        put_copy(m, value, "file:" INIT_PACKAGES "/%s-%s.tgz", name, version);
        return;
    }
    size_t len = strlen(place);
    while (len > 1 && place[len - 1] == '/') len--;
    put_copy(m, value, "%s%.*s/%s-%s.tgz", place[0] == '/' ? "file:" : "", (int)len, place, name,
             version);
}

static void put_packages(maker *m)
{
    static const char *const packages[][2] = {{"package_aggregator", "shoal-aggregator"},
                                              {"package_client", "shoal-client"},
                                              {"package_edge", "shoal-edge"},
                                              {"package_relay", "shoal-relay"},
                                              {"package_dev", "shoal-dev"},
                                              {"package_verify", "shoal-verify"},
                                              {"package_platform", "shoal-linux-x64"}};
    const char *id = m->a->id;
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++)
        put_package(m, packages[i][0], packages[i][1]);
    const char *place = m->a->options->packages;
    put(m, "packages_from",
        place == NULL ? "from the files of a release: put its packages into `" INIT_PACKAGES
                        "/` first"
        : strcmp(place, INIT_REGISTRY) == 0 ? "from the registry that npm asks"
                                            : "from the files that package.json names");
    put_copy(m, "package_name", "shoal-%s", id);
    put(m, "relay_check",
        m->a->relay[0] != '\0' ? " && shoal-relay --check --config relay.json" : "");
}

static void put_secrets(maker *m)
{
    static const char *const names[] = {"batch_secret", "edge_admin",  "aggregator_admin",
                                        "reader",       "relay_token", "relay_admin"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) put_secret(m, names[i]);
}

agg_err init_values_make(init_values *values, agg_error *error, const init_answers *answers,
                         const init_figures *figures, const init_recipes *recipes)
{
    maker m = {values, error, SHOAL_OK, answers, figures, recipes};
    memset(values, 0, sizeof *values);
    put_names(&m);
    put_figures(&m);
    put_recipes(&m);
    put_page(&m);
    put_packages(&m);
    put_secrets(&m);
    return m.err;
}

const char *init_values_get(const init_values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++)
        if (strcmp(values->list[i].name, name) == 0) return values->list[i].text;
    return "";
}

void init_values_release(init_values *values)
{
    while (values->n_owned > 0) free(values->owned[--values->n_owned]);
    values->n = 0;
}
