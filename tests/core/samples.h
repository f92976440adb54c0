// SPDX-License-Identifier: Apache-2.0
// Sample recipes and values of every mechanism, for the tests that hold for all of them: vectors,
// guard pages, taint, fuzzing. Each mechanism's own are in samples/<stem>.h; `samples_list.h` is
// made by CMake from core/mechanism/mechanisms.def and core/compound/compounds.def.
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "test_recipes.h"

// A field behind those that every recipe has: a number in micro-units where `text` is NULL. That of
// a list is a text whose commas separate its entries.
typedef struct sample_field {
    const char *path, *text;
    int64_t micro;
} sample_field;

#define SAMPLE_FIELDS 24

typedef struct sample {
    uint32_t number; // of its vector: the seed's first byte is 32 times this; a mechanism's are its
                     // id * 16 and on
    const char *kind;  // the recipe's `value`; "variables" where each variable has its own
    const char *value; // a string (open domain), an index or "none" (closed), micro-units (number);
                       // of several variables joined by ';'
    sample_field fields[SAMPLE_FIELDS];
} sample;

#define SAMPLE_EPSILON(micro)                                                                      \
    {                                                                                              \
        "parameters.epsilon", NULL, micro                                                          \
    }
#define SAMPLE_NUMBER(name, number)                                                                \
    {                                                                                              \
        "parameters." name, NULL, (int64_t)(number)*1000000                                        \
    }
#define SAMPLE_HASH(family)                                                                        \
    {"hash", family, 0},                                                                           \
    {                                                                                              \
        "seed", TEST_SEED, 0                                                                       \
    }

#include "samples_list.h" // all_samples[]: {mechanism name, stem, samples, how many}; N_SAMPLED

static inline int sample_is_list(const sample_field *f)
{
    static const char *const lists[] = {"parameters.values", "parameters.known",
                                        "encoding.0.starts", "encoding.0.characters"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(f->path, lists[i]) == 0) return 1;
    return strncmp(f->path, "variables.", 10) == 0 && strstr(f->path, ".parameters.values") != NULL;
}

static inline shoal_err sample_entry(const char *path, const char *text, size_t len)
{
    return shoal_builder_add_text(&building, path, strlen(path), text, len);
}

static inline shoal_err sample_list(const char *path, const char *text)
{
    shoal_err err = SHOAL_OK;
    for (;;) {
        size_t len = strcspn(text, ",");
        if (err == SHOAL_OK) err = sample_entry(path, text, len);
        if (text[len] == '\0') return err;
        text += len + 1;
    }
}

static inline shoal_err sample_set(const sample_field *f)
{
    if (f->text == NULL) return set_micro(f->path, f->micro);
    return sample_is_list(f) ? sample_list(f->path, f->text) : set_text(f->path, f->text);
}

// Makes the finished recipe of a sample.
static inline shoal_err sample_recipe(shoal_recipe *recipe, const char *mechanism, const sample *s)
{
    int is_joint = strcmp(s->kind, "variables") == 0;
    shoal_err err = is_joint ? start_joint_recipe() : start_any_recipe(mechanism, s->kind);
    for (int i = 0; i < SAMPLE_FIELDS && err == SHOAL_OK && s->fields[i].path != NULL; i++)
        err = sample_set(&s->fields[i]);
    return end_recipe(recipe, err);
}

// Returns: the item of a sample's value, where a record is made of an item; see sample_randomize.
static inline uint64_t sample_item(const shoal_recipe *recipe, const char *value)
{
    const shoal_part *part = &recipe->parts[0];
    if (recipe->value == SHOAL_VALUE_NUMBER)
        return shoal_recipe_number_item(recipe, strtoll(value, NULL, 10));
    if (part->domain == SHOAL_DOMAIN_OPEN)
        return shoal_part_item(part, (const uint8_t *)value, strlen(value));
    return strcmp(value, "none") == 0 ? SHOAL_ITEM_NONE : strtoull(value, NULL, 10);
}

// The item of one variable's value.
static inline uint64_t sample_variable_item(const shoal_recipe *recipe, uint32_t i,
                                            const char *value, size_t len)
{
    const shoal_part *part = &recipe->parts[i];
    if (recipe->variables[i].value == SHOAL_VALUE_NUMBER)
        return shoal_variable_number_item(recipe, i, strtoll(value, NULL, 10));
    if (part->domain == SHOAL_DOMAIN_OPEN)
        return shoal_part_item(part, (const uint8_t *)value, len);
    return strncmp(value, "none", len) == 0 ? SHOAL_ITEM_NONE : strtoull(value, NULL, 10);
}

static inline shoal_err sample_randomize_joint(uint8_t *record, const shoal_recipe *recipe,
                                               const char *value, const shoal_permanent *permanent,
                                               shoal_rng *rng)
{
    uint64_t items[SHOAL_PARTS_MAX];
    for (uint32_t i = 0; i < recipe->n_variables; i++) {
        size_t len = strcspn(value, ";");
        items[i] = sample_variable_item(recipe, i, value, len);
        value += len + (value[len] == ';');
    }
    return shoal_record_randomize(record, recipe, items, recipe->n_variables, permanent, rng);
}

// Writes a record of a sample's value, the way that a host makes it.
static inline shoal_err sample_randomize(uint8_t *record, const shoal_recipe *recipe,
                                         const char *value, const shoal_permanent *permanent,
                                         shoal_rng *rng)
{
    if (recipe->n_variables > 0)
        return sample_randomize_joint(record, recipe, value, permanent, rng);
    uint64_t item = sample_item(recipe, value);
    if (shoal_recipe_value_part(recipe)->domain != SHOAL_DOMAIN_OPEN)
        return shoal_record_randomize(record, recipe, &item, 1, permanent, rng);
    return shoal_record_randomize_string(record, recipe, (const uint8_t *)value, strlen(value),
                                         permanent, rng);
}

// One sample of one mechanism.
typedef struct sample_at {
    const char *mechanism;
    const sample *sample;
} sample_at;

// Returns: the index-th sample of all; its `sample` is NULL behind the last.
static inline sample_at sample_number(size_t index)
{
    for (size_t i = 0; i < N_SAMPLED; i++) {
        if (index < all_samples[i].n)
            return (sample_at){all_samples[i].name, &all_samples[i].samples[index]};
        index -= all_samples[i].n;
    }
    return (sample_at){NULL, NULL};
}

#endif
