// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the value's bytes and item are uninitialised memory, so that memcheck reports
// every branch and every index that depends on them, from the string to the finished record. Exit
// code by `valgrind --error-exitcode=9`. With the argument "leak" the program branches on a secret:
// a run that must be reported, or the check itself is blind.
#include <stdio.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "compound.h"
#include "heavythresh.h"
#include "samples.h"
#include "test_runs.h"
#include "thresh.h"

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

// An event of a joint recipe: an item of each variable.
static void randomize_items(uint8_t *record, const shoal_recipe *recipe, const char *value,
                            const shoal_permanent *permanent, shoal_rng *rng)
{
    for (uint32_t i = 0; i < recipe->n_variables; i++) {
        const shoal_part *part = &recipe->parts[i];
        size_t len = strcspn(value, ";");
        uint64_t item = sample_variable_item(recipe, i, value, len);
        VALGRIND_MAKE_MEM_UNDEFINED(&item, sizeof item);
        shoal_mechanism_by_id(part->mechanism)->randomize(record, part, item, permanent, rng);
        record += part->record_size;
        value += len + (value[len] == ';');
    }
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
    if (shoal_recipe_is_permanent(recipe))
        VALGRIND_MAKE_MEM_UNDEFINED(&permanent, sizeof permanent);
    if (recipe->n_variables > 0)
        randomize_items(record, recipe, value, &permanent, &rng);
    else if (recipe->n_parts > 1)
        randomize_secret(record, recipe, value, &permanent, &rng);
    else
        shoal_mechanism_by_id(part->mechanism)
            ->randomize(record, part, secret_item(recipe, value), &permanent, &rng);
    VALGRIND_MAKE_MEM_DEFINED(record, recipe->record_size); // a finished record is public
    for (uint32_t i = 0; i < recipe->record_size; i++) one_bits += record[i] & 1;
}

static void see(const uint8_t *record, uint32_t size)
{
    VALGRIND_MAKE_MEM_DEFINED(record, size);
    for (uint32_t i = 0; i < size; i++) one_bits += record[i] & 1;
}

// Some epochs of a run: means are secret, and so is what the state becomes of them, votes paid for
// included.
static void run_epochs(void)
{
    static const shoal_evolving_plan plan = {4000000, 100000, 100000, 1000, 100000, 1, 6, 0, 0};
    shoal_recipe recipe;
    shoal_thresh state;
    shoal_rng rng;
    uint8_t seed[32] = {3}, record[2];
    if (epoch_recipe(&recipe, &plan, 1, 0, NULL) != SHOAL_OK) return;
    shoal_evolving run = shoal_evolving_of(&recipe);
    shoal_rng_init(&rng, seed);
    shoal_thresh_start(&state);
    for (uint32_t t = 1; t <= 40; t++) {
        uint64_t items[2], mean = t % 2 ? SHOAL_NUMBER_ONE : t * 12345;
        VALGRIND_MAKE_MEM_UNDEFINED(&mean, sizeof mean);
        if (shoal_thresh_step(items, &state, &run, t, t > 1, mean) != SHOAL_EPOCH_ACCEPTED) return;
        for (int i = 0; i < 2; i++)
            shoal_one_bit_mean_mechanism.randomize(record + i, &recipe.parts[i], items[i], NULL,
                                                   &rng);
        see(record, sizeof record);
    }
}

// The same over a dictionary: items are secret, then shares and how many samples there were. Of
// counts it is looked at whether there are any.
static void run_heavy_epochs(void)
{
    enum { W = 256 };
    static const shoal_evolving_plan plan = {4000000, 20000, 100000, 64, 20000, 1, 6, W, 500000};
    shoal_recipe recipe;
    shoal_epoch_ledger ledger = {0, 0, 0};
    shoal_rng rng;
    uint32_t reference[W], previous[W], now[W], key[8];
    uint8_t seed[32] = {4}, record[6];
    if (epoch_recipe(&recipe, &plan, 1, 0, NULL) != SHOAL_OK) return;
    shoal_evolving run = shoal_evolving_of(&recipe);
    shoal_rng_init(&rng, seed);
    shoal_heavythresh_key(key, recipe.seed);
    for (uint32_t j = 0; j < W; j++) reference[j] = previous[j] = SHOAL_HEAVYTHRESH_ONE / 2;
    for (uint32_t t = 1; t <= 10; t++) {
        shoal_counted values[2] = {{t % 3, 50}, {7, 3 * t}};
        uint64_t vote, sends;
        VALGRIND_MAKE_MEM_UNDEFINED(&values[0].item, 8);
        VALGRIND_MAKE_MEM_UNDEFINED(&values[1].item, 8);
        uint32_t total = 1000;
        if (shoal_heavythresh_project(now, W, key, values, 2) != SHOAL_OK) return;
        for (uint32_t j = 0; j < W; j++) now[j] >>= 23;
        VALGRIND_MAKE_MEM_UNDEFINED(now, sizeof now);
        VALGRIND_MAKE_MEM_UNDEFINED(&total, sizeof total);
        shoal_heavythresh_fractions(now, now, W, total);
        if (shoal_heavythresh_step(&vote, &sends, &ledger, reference, previous, &run, W, t,
                                   t % 3 == 2, now) != SHOAL_EPOCH_ACCEPTED)
            return;
        shoal_heavythresh_record(record, &recipe, vote, sends, reference, &rng);
        see(record, sizeof record);
    }
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
            if (sample_recipe(&recipe, all_samples[i].name, &all_samples[i].samples[s]) != SHOAL_OK)
                return 2;
            run(&recipe, all_samples[i].samples[s].value);
        }
    run_epochs();
    run_heavy_epochs();
    printf("%d bits seen\n", one_bits);
    return 0;
}
