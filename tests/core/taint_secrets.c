// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: the value's bytes and item are uninitialised memory, so that memcheck reports every branch and
// every index that depends on them, from the string to the finished record. Exit code by `valgrind --error-exitcode=9`.
// With the argument "leak" the program branches on a secret: a run that must be reported, or the check itself is blind.
#include <stdio.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "record.h"
#include "test_recipes.h"

static int one_bits;

static void run(const shoal_recipe *recipe, uint64_t item)
{
    static uint8_t record[16384];
    uint8_t seed[32] = {1};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    const shoal_part *part = &recipe->parts[0];
    shoal_mechanism_by_id(part->mechanism)->randomize(record, part, item, &rng);
    VALGRIND_MAKE_MEM_DEFINED(record, recipe->record_size); // a finished record is public
    for (uint32_t i = 0; i < recipe->record_size; i++) one_bits += record[i] & 1;
}

int main(int argc, char **argv)
{
    shoal_recipe recipe;
    uint8_t word[11] = "hello world";
    uint64_t index = 17;
    if (!RUNNING_ON_VALGRIND) return fputs("taint_secrets: run under valgrind\n", stderr), 2;
    VALGRIND_MAKE_MEM_UNDEFINED(word, sizeof word);
    VALGRIND_MAKE_MEM_UNDEFINED(&index, sizeof index);
    if (argc == 2 && strcmp(argv[1], "leak") == 0 && word[0] == 'h') one_bits++;
    if (sketch_recipe(&recipe, "cms", 4000000, 1000, 1000) != SHOAL_OK) return 2;
    run(&recipe, shoal_part_item(&recipe.parts[0], word, sizeof word));
    if (sketch_recipe(&recipe, "hcms", 4000000, 1000, 1024) != SHOAL_OK) return 2;
    run(&recipe, shoal_part_item(&recipe.parts[0], word, sizeof word));
    if (onehot_recipe(&recipe, 4000000, 200) != SHOAL_OK) return 2;
    run(&recipe, index);
    printf("%d bits seen\n", one_bits);
    return 0;
}
