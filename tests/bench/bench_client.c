// SPDX-License-Identifier: Apache-2.0
// The device's step: one CMS record of 1024 bits. Naive: a system call and a double for every bit.
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench.h"
#include "record.h"

#define RECORDS 20000u
#define NAIVE_RECORDS 100u
#define COLUMNS 1024u

typedef struct client {
    agg_recipe recipe;
    uint8_t *records;
} client;

static void real(void *context)
{
    client *c = context;
    bench_records(c->records, &c->recipe, RECORDS);
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
        uint8_t *bits = c->records + (size_t)i * c->recipe.recipe.record_size + 4;
        uint32_t column = i % COLUMNS;
        memset(bits, 0, COLUMNS / 8);
        for (uint32_t l = 0; l < COLUMNS; l++)
            if ((uniform() < flip) != (l == column)) bits[l / 8] |= (uint8_t)(1u << l % 8);
    }
}

static void read_records(void *context)
{
    client *c = context;
    bench_keep(bench_read(c->records, (size_t)RECORDS * c->recipe.recipe.record_size));
}

void bench_client(void)
{
    client c;
    bench_recipe(&c.recipe, "cms", 65536, COLUMNS);
    c.records = bench_alloc(RECORDS, c.recipe.recipe.record_size);
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
}
