// SPDX-License-Identifier: Apache-2.0
// The device's step: one CMS record of 1024 bits. Naive: a system call and a double for every bit.
// And the stream of ChaCha20 that it draws from, for every variant that the machine has: naive,
// block by block.
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench.h"
#include "chacha20.h"
#include "chacha20_lanes.h"
#include "record.h"

#define RECORDS 20000u
#define NAIVE_RECORDS 100u
#define COLUMNS 1024u

typedef struct client {
    agg_recipe recipe;
    uint8_t *records;
} client;

// As a device does it: what is drawn first of a seed is the record.
static void real(void *context)
{
    static const uint8_t seed[32] = "the benchmark's records";
    client *c = context;
    for (uint32_t i = 0; i < RECORDS; i++) {
        shoal_rng rng;
        uint64_t item = i * 0x9e3779b97f4a7c15; // any fingerprint
        shoal_rng_init_stream(&rng, seed, i);
        bench_check(
            shoal_record_randomize(c->records + (size_t)i * shoal_record_size(c->recipe.recipe),
                                   c->recipe.recipe, &item, 1, NULL, &rng),
            "a record is refused");
    }
}

static double uniform(void)
{
    uint64_t x = 0;
    if (getrandom(&x, sizeof x, 0) != (ssize_t)sizeof x) bench_die("getrandom failed");
    return (double)(x >> 11) * 0x1p-53;
}

static void naive(void *context)
{
    const double flip = 0.11920292202211755; // 1 / (e^2 + 1)
    client *c = context;
    for (uint32_t i = 0; i < NAIVE_RECORDS; i++) {
        uint8_t *bits = c->records + (size_t)i * shoal_record_size(c->recipe.recipe) + 4;
        uint32_t column = i % COLUMNS;
        memset(bits, 0, COLUMNS / 8);
        for (uint32_t l = 0; l < COLUMNS; l++)
            if ((uniform() < flip) != (l == column)) bits[l / 8] |= (uint8_t)(1u << l % 8);
    }
}

static void read_records(void *context)
{
    client *c = context;
    bench_keep(bench_read(c->records, (size_t)RECORDS * shoal_record_size(c->recipe.recipe)));
}

#define STREAM_BLOCKS 16u
#define STREAMS 10000u

typedef struct stream {
    void (*variant)(uint8_t *out, const uint32_t state[16]);
    uint32_t at_once;  // blocks that the variant makes
    uint32_t n_blocks; // that are drawn
    uint32_t state[16];
    uint8_t out[64 * STREAM_BLOCKS];
} stream;

static void draw_stream(void *context)
{
    stream *s = context;
    for (uint32_t i = 0; i < STREAMS; i++) {
        for (s->state[12] = 0; s->state[12] < s->n_blocks; s->state[12] += s->at_once)
            s->variant(s->out + (size_t)64 * s->state[12], s->state);
        bench_keep(s->out[0]);
    }
}

static void draw_blocks(void *context)
{
    stream *s = context;
    for (uint32_t i = 0; i < STREAMS; i++) {
        for (s->state[12] = 0; s->state[12] < s->n_blocks; s->state[12]++)
            shoal_chacha20_portable(s->out + (size_t)64 * s->state[12], s->state);
        bench_keep(s->out[0]);
    }
}

static void read_stream(void *context)
{
    stream *s = context;
    for (uint32_t i = 0; i < STREAMS; i++) {
        s->out[0] = (uint8_t)i;
        bench_keep(bench_read(s->out, (size_t)64 * s->n_blocks));
    }
}

static void stream_step(const char *name, const char *unit,
                        void (*variant)(uint8_t *out, const uint32_t state[16]), uint32_t at_once,
                        uint32_t n_blocks)
{
    stream s = {
        variant, at_once, n_blocks, {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 1, 2, 3}, {0}};
    bench_run(&(bench_step){name,
                            unit,
                            "block by block, plain C",
                            0,
                            0,
                            {draw_stream, STREAMS},
                            {draw_blocks, STREAMS},
                            {read_stream, STREAMS},
                            &s});
}

static void bench_streams(void)
{
    (void)stream_step; // a machine without vectors has no variant
#ifdef SHOAL_X86
    if (__builtin_cpu_supports("avx512vl")) {
        stream_step("ChaCha20, sixteen blocks, avx512", "1024 bytes", shoal_chacha20_avx512_16, 16,
                    16);
        stream_step("ChaCha20, eight blocks, avx512", "512 bytes", shoal_chacha20_avx512, 8, 8);
    }
    if (__builtin_cpu_supports("avx2"))
        stream_step("ChaCha20, eight blocks, avx2", "512 bytes", shoal_chacha20_avx2, 8, 8);
#endif
#ifdef SHOAL_CHACHA20_V128
    stream_step("ChaCha20, eight blocks, portable", "512 bytes", shoal_chacha20_v128, 4, 8);
    stream_step("ChaCha20, one block, portable", "64 bytes", shoal_chacha20_v128_row, 1, 1);
#endif
}

void bench_client(void)
{
    client c;
    bench_recipe(&c.recipe, "cms", 65536, COLUMNS);
    c.records = bench_alloc(RECORDS, shoal_record_size(c.recipe.recipe));
    bench_run(&(bench_step){"randomize 1024 bits, native",
                            "record",
                            "a double and a system call a bit",
                            500,
                            0,
                            {real, RECORDS},
                            {naive, NAIVE_RECORDS},
                            {read_records, RECORDS},
                            &c});
    free(c.records);
    agg_recipe_release(&c.recipe);
    bench_streams();
}
