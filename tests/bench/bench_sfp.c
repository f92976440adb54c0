// SPDX-License-Identifier: Apache-2.0
// SFP at Apple's setting for new words (apple-2017 section 6): 1,000,000 reports of strings of ten
// bytes decoded, all 2^24 fragments of five positions, their join and the confirmation. One core.
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "affine1.h"
#include "bench.h"
#include "discoverer.h"
#include "record.h"

#define REPORTS 1000000u
#define ROWS 2048u
#define COLUMNS 1024u
#define POSITIONS 5u
#define FRAGMENTS ((uint64_t)POSITIONS << 24)
#define NAIVE_FRAGMENTS 1024u
#define WORD_BYTES 10

typedef struct puzzle {
    agg_recipe recipe;
    agg_accumulator acc;
    shoal_affine1 affine[ROWS]; // of the first position, for the naive form
} puzzle;

static const char json[] = "{\"recipe\":\"bench\",\"analysis\":\"bench\",\"stream\":\"words\","
                           "\"value\":\"word\",\"mechanism\":\"sfp\","
                           "\"parameters\":{\"epsilon\":2,\"epsilon_fragment\":6,\"k\":2048,\"m\":"
                           "1024,\"k_fragment\":2048,\"m_fragment\":"
                           "1024,"
                           "\"length\":10},\"hash\":\"poly1\",\"seed\":"
                           "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\","
                           "\"limit\":{\"per_day\":1},\"expires\":\"2099-12-31\"}";

// A word of two to ten letters, by its rank; ranks r follow 1/r, as words nearly do.
static size_t draw_word(uint8_t word[WORD_BYTES], shoal_rng *rng)
{
    uint64_t most = (uint64_t)1 << shoal_rng_below(rng, 16),
             rank = most + shoal_rng_below(rng, most);
    size_t len = 2 + rank % 9;
    for (size_t i = 0; i < len; i++) {
        rank = rank * 6364136223846793005u + 1442695040888963407u;
        word[i] = (uint8_t)('a' + (rank >> 33) % 26);
    }
    return len;
}

static void fold(puzzle *p)
{
    static const uint8_t seed[32] = "puzzles";
    size_t size = shoal_record_size(p->recipe.recipe), at = 0, room = 4096;
    uint8_t *records = bench_alloc(room, size);
    agg_error error;
    for (uint32_t i = 0; i < REPORTS; i++) {
        uint8_t word[WORD_BYTES];
        shoal_rng rng;
        shoal_rng_init_stream(&rng, seed, i);
        size_t len = draw_word(word, &rng);
        bench_check(shoal_record_randomize_string(records + at * size, p->recipe.recipe, word, len,
                                                  NULL, &rng),
                    "a word is refused");
        if (++at < room && i + 1 < REPORTS) continue;
        bench_check(agg_accumulator_add(&p->acc, &error, records, (uint32_t)at, 1),
                    "the records are refused");
        at = 0;
    }
    free(records);
}

static void real_decode(void *context)
{
    puzzle *p = context;
    agg_error error;
    agg_discovery found = {.recipe = &p->recipe, .n = p->acc.n, .confidence = 0.95, .fdr = 0.05};
    agg_discover_round round = {&p->recipe, &p->acc};
    agg_discover_options options = {.n_threads = 1};
    bench_check(agg_sfp_discoverer.run(&found, &error, &round, 1, &options), "the decoding failed");
    if (found.n_rows == 0) bench_die("no words are found");
    bench_keep(found.n_rows);
    agg_discovery_release(&found);
}

// Fragment by fragment, as over an alphabet: a hash and a cache miss a row.
static void naive_decode(void *context)
{
    puzzle *p = context;
    const uint32_t *cells = p->acc.parts[0].cells.ones;
    for (uint32_t x = 0; x < NAIVE_FRAGMENTS; x++) {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < ROWS; j++)
            sum += cells[(size_t)j * COLUMNS + shoal_affine1_hash(&p->affine[j], x)];
        bench_keep(sum);
    }
}

static void read_sketch(void *context)
{
    puzzle *p = context;
    bench_keep(bench_read(p->acc.parts[0].cells.ones,
                          p->acc.parts[0].n_cells * sizeof *p->acc.parts[0].cells.ones));
}

void bench_sfp(void)
{
    puzzle *p = bench_alloc(1, sizeof *p);
    agg_error error;
    bench_check(agg_recipe_from_bytes(&p->recipe, &error, "recipe", json, sizeof json - 1),
                "the recipe is refused");
    bench_check(agg_accumulator_init(&p->acc, &error, p->recipe.recipe), "out of memory");
    for (uint32_t j = 0; j < ROWS; j++)
        shoal_affine1_row(&p->affine[j], shoal_recipe_part(p->recipe.recipe, 0)->seed, j, COLUMNS);
    fold(p);
    bench_run(&(bench_step){"SFP, five positions, join and confirmation, n=10^6",
                            "fragment",
                            "fragment by fragment, scalar",
                            10e9 / (double)FRAGMENTS,
                            0,
                            {real_decode, FRAGMENTS},
                            {naive_decode, NAIVE_FRAGMENTS},
                            {read_sketch, FRAGMENTS},
                            p});
    agg_accumulator_release(&p->acc);
    agg_recipe_release(&p->recipe);
    free(p);
}
