// SPDX-License-Identifier: Apache-2.0
// Property: however a host's parser calls the setters, a recipe that finishes has parts, a hash
// that is that of its canonical bytes, an epsilon of at most what is stated, and makes records that
// it accepts; a query has the same signed bytes without its part. Input: the lines of
// field_lines.h.
#include "field_lines.h"
#include "fuzz_recipe.h"
#include "record.h"
#include "sha256.h"

static size_t put_line(uint8_t *out, size_t cap, const char *path, const char *text, int64_t micro)
{
    int n = text != NULL ? snprintf((char *)out, cap, "%s=%s\n", path, text)
                         : snprintf((char *)out, cap, "%s:%lld\n", path, (long long)micro);
    PROPERTY(n > 0 && (size_t)n < cap);
    return (size_t)n;
}

static size_t put_field(uint8_t *out, size_t cap, const sample_field *f)
{
    if (!sample_is_list(f)) return put_line(out, cap, f->path, f->text, f->micro);
    const char *path = strcmp(f->path, "parameters.values") == 0 ? "" : f->path, *text = f->text;
    size_t len = 0;
    for (;;) {
        size_t entry = strcspn(text, ",");
        int n = snprintf((char *)out + len, cap - len, "%s+%.*s\n", path, (int)entry, text);
        PROPERTY(n > 0 && (size_t)n < cap - len);
        len += (size_t)n;
        if (text[entry] == '\0') return len;
        text += entry + 1;
    }
}

// The first and the last sample of every mechanism, as the setters are called for it.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static const sample_field head[] = {{"recipe", "r", 0},
                                        {"analysis", "a", 0},
                                        {"stream", "s", 0},
                                        {"limit.per_day", NULL, 1000000},
                                        {"expires", "2030-01-01", 0}};
    if (index == 2 * N_SAMPLED)
        return (size_t)snprintf((char *)out, cap,
                                "%spolicy=" KEY_A
                                "\nround.index:1000000\naggregation.protocol=sum\n"
                                "split_by.0.field=locale\nsplit_by.0.values+de\npart+de\n",
                                keyboard_query);
    if (index > 2 * N_SAMPLED) return 0;
    const sampled *m = &all_samples[index / 2];
    const sample *s = &m->samples[index % 2 == 0 ? 0 : m->n - 1];
    size_t len = 0;
    if (strcmp(s->kind, "variables") != 0) {
        len = put_line(out, cap, "mechanism", m->name, 0);
        len += put_line(out + len, cap - len, "value", s->kind, 0);
    }
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        len += put_field(out + len, cap - len, &head[i]);
    for (int i = 0; i < SAMPLE_FIELDS && s->fields[i].path != NULL; i++)
        len += put_field(out + len, cap - len, &s->fields[i]);
    return len;
}

static void use(const shoal_recipe *recipe)
{
    static const shoal_permanent permanent = {{3}};
    static uint8_t record[65536], canonical[SHOAL_CANONICAL_MAX];
    uint8_t seed[32] = {1}, digest[32];
    uint32_t eps = 0;
    size_t len = 0;
    shoal_rng rng;
    shoal_sha256 sha;
    PROPERTY(whole_bytes(canonical, sizeof canonical, &len, recipe) == SHOAL_OK);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, canonical, len);
    shoal_sha256_final(digest, &sha);
    PROPERTY(memcmp(digest, recipe->recipe_hash, 32) == 0);
    PROPERTY(recipe->n_part > 0 || memcmp(recipe->query_hash, recipe->recipe_hash, 32) == 0);
    PROPERTY(shoal_recipe_signed(canonical, sizeof canonical, &len, recipe) == SHOAL_OK);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, canonical, len);
    shoal_sha256_final(digest, &sha);
    PROPERTY(memcmp(digest, recipe->query_hash, 32) == 0);
    PROPERTY(shoal_recipe_epsilon(&eps, recipe) == SHOAL_OK && eps <= recipe->cost_micro);
    PROPERTY(recipe->eps_micro == 0 ||
             recipe->cost_micro <= recipe->eps_micro + recipe->eps_fragment_micro);
    PROPERTY(recipe->record_size <= sizeof record);
    shoal_rng_init(&rng, seed);
    PROPERTY(sample_randomize(record, recipe, "1", &permanent, &rng) == SHOAL_OK);
    PROPERTY(shoal_record_check(recipe, record) == SHOAL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    shoal_recipe recipe;
    shoal_err err = SHOAL_OK;
    const char *text = (const char *)data;
    field_line line;
    shoal_builder_init(&building);
    while (err == SHOAL_OK && next_line(&line, &text, &len)) err = recipe_line(&line);
    if (err != SHOAL_OK) {
        PROPERTY(building.error_text != NULL && building.recipe.n_parts == 0);
        PROPERTY(finish_recipe(&recipe) != SHOAL_OK);
    } else if (finish_recipe(&recipe) == SHOAL_OK) {
        use(&recipe);
    }
    return 0;
}
