// SPDX-License-Identifier: Apache-2.0
// The same seed, recipe and value give the same record on every build: vectors/<stem>.json, one
// object a line, of the samples in samples/<stem>.h.
//
//     test_vectors FOLDER          checks every mechanism's file
//     test_vectors --write STEM    prints one file anew (for a new mechanism, or when a format
//     changes on purpose)
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "samples.h"

static char text[200000], line[220000], expected[220000];

typedef struct writer {
    char *at;
    size_t left;
} writer;

static void put(writer *w, const char *format, const char *word, long long number)
{
    int n = snprintf(w->at, w->left, format, word, number);
    CHECK(n >= 0 && (size_t)n < w->left);
    w->at += n;
    w->left -= (size_t)n;
}

static void put_list(writer *w, const char *values)
{
    put(w, "[", "", 0);
    for (const char *comma = "";; comma = ", ") {
        size_t len = strcspn(values, ",");
        put(w, "%s\"", comma, 0);
        for (size_t i = 0; i < len; i++) put(w, "%.1s", values + i, 0);
        put(w, "\"", "", 0);
        if (values[len] == '\0') break;
        values += len + 1;
    }
    put(w, "]", "", 0);
}

// A field's JSON. Micro-units are written with six decimals unless they are whole.
static void put_field(writer *w, const sample_field *f, const char *name)
{
    put(w, ", \"%s\": ", name, 0);
    if (f->text != NULL && sample_is_list(f))
        put_list(w, f->text);
    else if (f->text != NULL)
        put(w, "\"%s\"", f->text, 0);
    else if (f->micro % 1000000 == 0)
        put(w, "%s%lld", "", f->micro / 1000000);
    else {
        put(w, "%s%lld", f->micro < 0 ? "-" : "", llabs(f->micro) / 1000000);
        put(w, "%s.%06lld", "", llabs(f->micro) % 1000000);
    }
}

static int begins_with(const sample_field *f, const char *head)
{
    return strncmp(f->path, head, strlen(head)) == 0;
}

// Writes the fields of a path that begins with `head`, between the two texts; nothing where there
// is none.
static void put_object(writer *w, const sample *s, const char *head, const char *before,
                       const char *after)
{
    size_t n = 0;
    char *start = w->at;
    for (int i = 0; i < SAMPLE_FIELDS && s->fields[i].path != NULL; i++) {
        if (!begins_with(&s->fields[i], head)) continue;
        if (n++ == 0) {
            put(w, "%s", before, 0);
            start = w->at;
        }
        put_field(w, &s->fields[i], s->fields[i].path + strlen(head));
    }
    if (n == 0) return;
    memmove(start, start + 2, (size_t)(w->at - start) + 1 - 2); // the first comma
    w->at -= 2;
    w->left += 2;
    put(w, "%s", after, 0);
}

// A variable's fields under "variables.N.": its name, value and so on, then its parameters.
// Returns: whether there is an N-th.
static int put_variable(writer *w, const sample *s, int n)
{
    char head[32], parameters[48];
    int is_first = 1;
    snprintf(head, sizeof head, "variables.%d.", n);
    snprintf(parameters, sizeof parameters, "%sparameters.", head);
    for (int i = 0; i < SAMPLE_FIELDS && s->fields[i].path != NULL; i++) {
        const sample_field *f = &s->fields[i];
        if (!begins_with(f, head) || begins_with(f, parameters)) continue;
        if (is_first) // its name
            put(w, n == 0 ? "{\"name\": \"%s\"" : ", {\"name\": \"%s\"", f->text, 0);
        else
            put_field(w, f, f->path + strlen(head));
        is_first = 0;
    }
    if (is_first) return 0;
    put_object(w, s, parameters, ", \"parameters\": {", "}");
    put(w, "}", "", 0);
    return 1;
}

static void put_variables(writer *w, const sample *s)
{
    put(w, ", \"variables\": [", "", 0);
    for (int n = 0; put_variable(w, s, n); n++)
        ;
    put(w, "]", "", 0);
}

static void put_recipe(writer *w, const char *mechanism, const sample *s)
{
    int is_joint = strcmp(s->kind, "variables") == 0;
    put(w, "{\"recipe\": {\"recipe\": \"vector\", \"analysis\": \"test\", \"stream\": \"s\"", "",
        0);
    if (!is_joint) put(w, ", \"value\": \"%s\"", s->kind, 0);
    if (!is_joint) put(w, ", \"mechanism\": \"%s\"", mechanism, 0);
    for (int i = 0; i < SAMPLE_FIELDS && s->fields[i].path != NULL; i++)
        if (!begins_with(&s->fields[i], "parameters.") &&
            !begins_with(&s->fields[i], "encoding.") && !begins_with(&s->fields[i], "variables."))
            put_field(w, &s->fields[i], s->fields[i].path);
    if (is_joint) put_variables(w, s);
    put_object(w, s, "encoding.0.", ", \"encoding\": [{", "}]");
    put_object(w, s, "parameters.", ", \"parameters\": {", "}");
    put(w, ", \"limit\": {\"per_day\": 1}, \"expires\": \"2030-01-01\"}", "", 0);
}

// Writes the sample's line into `expected`.
static void make_line(const char *mechanism, const sample *s, int is_last)
{
    static uint8_t record[20000];
    shoal_recipe recipe;
    shoal_permanent permanent;
    shoal_rng rng;
    uint8_t seed[32];
    char hash[65] = "";
    writer w = {expected, sizeof expected};
    for (uint32_t i = 0; i < 32; i++) seed[i] = (uint8_t)(s->number * 32 + i);
    for (uint32_t i = 0; i < 32; i++) permanent.secret[i] = (uint8_t)~seed[i];
    if (!CHECK(sample_recipe(&recipe, mechanism, s) == SHOAL_OK))
        fprintf(stderr, "%s: %s\n", mechanism, s->value);
    for (int i = 0; i < 32; i++) snprintf(hash + 2 * i, 3, "%02x", recipe.recipe_hash[i]);
    shoal_rng_init(&rng, seed);
    CHECK(sample_randomize(record, &recipe, s->value, &permanent, &rng) == SHOAL_OK);
    memset(text, 0, sizeof text);
    CHECK(shoal_record_to_text(text, sizeof text, &recipe, record) == SHOAL_OK);
    put_recipe(&w, mechanism, s);
    put(&w, ", \"value\": \"%s\", \"first_seed_byte\": %lld", s->value, seed[0]);
    put(&w, ", \"recipe_hash\": \"%s\"", hash, 0);
    put(&w, is_last ? ", \"record\": \"%s\"}\n" : ", \"record\": \"%s\"},\n", text, 0);
}

static void write_file(const sampled *m)
{
    puts("[");
    for (size_t i = 0; i < m->n; i++) {
        make_line(m->name, &m->samples[i], i + 1 == m->n);
        fputs(expected, stdout);
    }
    puts("]");
}

static void check_file(const char *folder, const sampled *m)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.json", folder, m->stem);
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, "[\n") == 0))
        return;
    for (size_t i = 0; i < m->n; i++) {
        make_line(m->name, &m->samples[i], i + 1 == m->n);
        if (!CHECK(fgets(line, sizeof line, file) != NULL && strcmp(line, expected) == 0))
            fprintf(stderr, "%s: line %zu\n", path, i + 2);
    }
    CHECK(fgets(line, sizeof line, file) != NULL && strcmp(line, "]\n") == 0);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        for (size_t i = 0; i < N_SAMPLED; i++)
            if (strcmp(all_samples[i].stem, argv[2]) == 0) write_file(&all_samples[i]);
        return 0;
    }
    if (!CHECK(argc == 2)) return check_summary();
    for (size_t i = 0; i < N_SAMPLED; i++) check_file(argv[1], &all_samples[i]);
    return check_summary();
}
