// SPDX-License-Identifier: Apache-2.0
// The benchmark's frame: a step is timed beside a naive form and a read pass over the same bytes,
// all in one run.
//
// The three are called in turn, round after round, and the medians are compared: on a machine that
// others use the ratios stay when the times do not. Every step prints one JSON line on stdout;
// report.mjs makes the table.
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "recipe_json.h"

typedef struct bench_form {
    void (*call)(void *context);
    uint64_t units; // how many units one call handles
} bench_form;

typedef struct bench_step {
    const char *name;
    const char *unit;  // what the time is of
    const char *plain; // how the naive form is written
    double aim_ns;     // PERFORMANCE aim of one unit; 0 where the aim is relative
    double aim_read;   // aim as a multiple of the read pass; 0 where it is absolute
    bench_form real, naive, read;
    void *context;
} bench_step;

// Times one step and prints its line.
void bench_run(const bench_step *step);

// The same for every instruction set that the machine has (agg_cpu.h), the chosen one first and
// under the step's own name, the others as "NAME, portable" and so on.
void bench_run_variants(const bench_step *step);

// Adds up memory, as fast as plain C reads it.
uint64_t bench_read(const void *bytes, size_t len);

// Takes a result, so that the compiler cannot leave out the work.
void bench_keep(uint64_t value);

// Seconds of this thread on a core, by which steps are timed.
double bench_now(void);

// Counts seconds that this thread waited for another as its own: only another thread could have
// taken them off it.
void bench_waited(double seconds);

// Ends the program with a message: a benchmark has nothing to fall back on.
_Noreturn void bench_die(const char *what);
void bench_check(agg_err err, const char *what);
void *bench_alloc(size_t count, size_t size);

// A recipe of the given mechanism ("cms" or "hcms") at epsilon 4; release with agg_recipe_release.
void bench_recipe(agg_recipe *recipe, const char *mechanism, uint32_t k, uint32_t m);

// Randomizes `count` records of an open domain, from a fixed seed.
void bench_records(uint8_t *records, const agg_recipe *recipe, uint32_t count);

// The groups of steps; each makes its data, runs and releases it.
void bench_client(void);
void bench_parse(void);
void bench_pipeline(void);
void bench_cms(void);
void bench_hcms(void);
void bench_decode(void);
void bench_sfp(void);
void bench_joint(void);
void bench_prio3(void);

#endif
