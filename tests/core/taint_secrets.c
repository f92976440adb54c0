// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the value's bytes and item are uninitialised memory, so that memcheck reports every branch and
// every index that depends on them, from the string to the finished record. Exit code by `valgrind --error-exitcode=9`.
// With the argument "leak" the program branches on a secret: a run that must be reported, or the check itself is blind.
#include <stdio.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "compound.h"
#include "samples.h"

static int one_bits;

// An item of the recipe whose every bit is undefined to memcheck, made the way a host makes it.
static uint64_t secret_item(const shoal_recipe *recipe, const char *value)
{
    static uint8_t word[64];
    size_t len = strlen(value);
    if (recipe->value == SHOAL_VALUE_NUMBER) {
        int64_t micro = strtoll(value, NULL, 10);
        VALGRIND_MAKE_MEM_UNDEFINED(&micro, sizeof micro);
        return shoal_recipe_number_item(recipe, micro);
    }
    if (recipe->parts[0].domain == SHOAL_DOMAIN_OPEN) {
        memcpy(word, value, len);
        VALGRIND_MAKE_MEM_UNDEFINED(word, sizeof word);
        return shoal_part_item(&recipe->parts[0], word, len);
    }
    uint64_t item = sample_item(recipe, value);
    VALGRIND_MAKE_MEM_UNDEFINED(&item, sizeof item);
    return item;
}

// A string of a recipe of several parts.
static void randomize_secret(uint8_t *record, const shoal_recipe *recipe, const char *value,
                             const shoal_permanent *permanent, shoal_rng *rng)
{
    static uint8_t word[64];
    size_t len = strlen(value);
    memcpy(word, value, len);
    VALGRIND_MAKE_MEM_UNDEFINED(word, sizeof word);
    shoal_compound_by_id(recipe->mechanism)->randomize(record, recipe, word, len, permanent, rng);
}

// The device's own secret is undefined too: nothing may branch on what is derived from it.
static void run(const shoal_recipe *recipe, const char *value)
{
    static uint8_t record[131072];
    uint8_t seed[32] = {1};
    shoal_permanent permanent = {{2}};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    const shoal_part *part = &recipe->parts[0];
    if (shoal_recipe_is_permanent(recipe)) VALGRIND_MAKE_MEM_UNDEFINED(&permanent, sizeof permanent);
    if (recipe->n_parts > 1)
        randomize_secret(record, recipe, value, &permanent, &rng);
    else
        shoal_mechanism_by_id(part->mechanism)->randomize(record, part, secret_item(recipe, value), &permanent, &rng);
    VALGRIND_MAKE_MEM_DEFINED(record, recipe->record_size); // a finished record is public
    for (uint32_t i = 0; i < recipe->record_size; i++) one_bits += record[i] & 1;
}

int main(int argc, char **argv)
{
    static shoal_recipe recipe;
    uint8_t word[1] = "h";
    if (!RUNNING_ON_VALGRIND) return fputs("taint_secrets: run under valgrind\n", stderr), 2;
    VALGRIND_MAKE_MEM_UNDEFINED(word, sizeof word);
    if (argc == 2 && strcmp(argv[1], "leak") == 0 && word[0] == 'h') one_bits++;
    for (size_t i = 0; i < N_SAMPLED; i++)
        for (size_t s = 0; s < all_samples[i].n; s++) {
            if (sample_recipe(&recipe, all_samples[i].name, &all_samples[i].samples[s]) != SHOAL_OK) return 2;
            run(&recipe, all_samples[i].samples[s].value);
        }
    printf("%d bits seen\n", one_bits);
    return 0;
}
