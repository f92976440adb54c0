// SPDX-License-Identifier: Apache-2.0
// shoal_bench: the frame and the order of the steps; see bench.h.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_cpu.h"
#include "record.h"

#define ROUNDS_MIN 9
#define ROUNDS_MAX 25
#define STEP_SECONDS 2.5 // time that the rounds of one step may take, when ROUNDS_MIN allow it

static volatile uint64_t kept;

void bench_keep(uint64_t value)
{
    kept += value;
}

void bench_die(const char *what)
{
    fprintf(stderr, "shoal_bench: %s\n", what);
    exit(1);
}

void bench_check(agg_err err, const char *what)
{
    if (err != SHOAL_OK) bench_die(what);
}

void *bench_alloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) bench_die("out of memory");
    return memory;
}

uint64_t bench_read(const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, 8);
        sum += word;
    }
    return sum;
}

static double waited;

void bench_waited(double seconds)
{
    waited += seconds;
}

// This thread's time on a core: nearly every step runs on one, and what others do meanwhile is not
// its cost.
double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds of one call.
static double time_call(const bench_form *form, void *context)
{
    double start = bench_now();
    waited = 0;
    form->call(context);
    return bench_now() - start + waited;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Nanoseconds a unit: the median of the rounds.
static double median_ns(double *seconds, int rounds, uint64_t units)
{
    qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
    return 1e9 * seconds[rounds / 2] / (double)units;
}

void bench_run(const bench_step *step)
{
    double read[ROUNDS_MAX], real[ROUNDS_MAX], naive[ROUNDS_MAX];
    // A first round, not counted, brings code and pages in and tells how many rounds there is time
    // for.
    double once = time_call(&step->read, step->context) + time_call(&step->real, step->context) +
                  time_call(&step->naive, step->context);
    double wanted = STEP_SECONDS / once;
    int rounds = wanted < ROUNDS_MIN ? ROUNDS_MIN : wanted > ROUNDS_MAX ? ROUNDS_MAX : (int)wanted;
    for (int i = 0; i < rounds; i++) {
        read[i] = time_call(&step->read, step->context);
        real[i] = time_call(&step->real, step->context);
        naive[i] = time_call(&step->naive, step->context);
    }
    double ns = median_ns(real, rounds, step->real.units);
    printf("{\"name\":\"%s\",\"unit\":\"%s\",\"ns\":%.4g,\"quickest\":%.4g,\"slowest\":%.4g,"
           "\"rounds\":%d,"
           "\"naive_ns\":%.4g,\"naive\":\"%s\",\"read_ns\":%.4g,\"aim_ns\":%g,\"aim_read\":%g}\n",
           step->name, step->unit, ns, 1e9 * real[0] / (double)step->real.units,
           1e9 * real[rounds - 1] / (double)step->real.units, rounds,
           median_ns(naive, rounds, step->naive.units), step->plain,
           median_ns(read, rounds, step->read.units), step->aim_ns, step->aim_read);
    fflush(stdout);
}

void bench_run_variants(const bench_step *step)
{
    char name[128];
    agg_cpu chosen = agg_cpu_chosen();
    bench_run(step);
    for (agg_cpu cpu = chosen; cpu-- > AGG_CPU_PORTABLE;) {
        bench_step variant = *step;
        snprintf(name, sizeof name, "%s, %s", step->name, agg_cpu_name(cpu));
        variant.name = name;
        if (setenv("SHOAL_CPU", agg_cpu_name(cpu), 1) != 0) bench_die("out of memory");
        bench_run(&variant);
    }
    if (setenv("SHOAL_CPU", agg_cpu_name(chosen), 1) != 0) bench_die("out of memory");
}

void bench_recipe(agg_recipe *recipe, const char *mechanism, uint32_t k, uint32_t m)
{
    char json[1024];
    agg_error error;
    int len = snprintf(
        json, sizeof json,
        "{\"recipe\":\"bench\",\"analysis\":\"bench\",\"stream\":\"words\",\"value\":\"word\","
        "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":4,\"k\":%u,\"m\":%u},\"hash\":\"poly1\","
        "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\","
        "\"limit\":{\"per_day\":1},\"expires\":\"2099-12-31\"}",
        mechanism, k, m);
    bench_check(agg_recipe_from_bytes(recipe, &error, "recipe", json, (size_t)len),
                "the recipe is refused");
}

void bench_records(uint8_t *records, const agg_recipe *recipe, uint32_t count)
{
    static const uint8_t seed[32] = "the benchmark's records";
    for (uint32_t i = 0; i < count; i++) {
        shoal_rng rng;
        shoal_rng_init_stream(&rng, seed, i);
        uint64_t item = shoal_rng_u64(&rng);
        bench_check(shoal_record_randomize(records + (size_t)i * shoal_record_size(recipe->recipe),
                                           recipe->recipe, &item, 1, NULL, &rng),
                    "a record is refused");
    }
}

// All groups, or those that the command line names: a quick look at one of them.
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } groups[] = {{"client", bench_client}, {"parse", bench_parse}, {"pipeline", bench_pipeline},
                  {"cms", bench_cms},       {"hcms", bench_hcms},   {"decode", bench_decode},
                  {"sfp", bench_sfp},       {"joint", bench_joint}, {"prio3", bench_prio3}};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        int is_named = argc == 1;
        for (int a = 1; a < argc; a++) is_named |= strcmp(argv[a], groups[i].name) == 0;
        if (is_named) groups[i].run();
    }
    return 0;
}
