// SPDX-License-Identifier: Apache-2.0
// Reports in a file to an accumulator on disk, all that `shoal ingest` does between: an empty
// accumulator, the file read as often as makes the stated number of records, every report checked,
// folded, and the accumulator written, synced and renamed. By one thread and by two.
//
// Time on the core of two threads is that of the slower one wherever they share something, and this
// one's where they do not: what the two would take on a machine that has two cores to spare. For
// that the benchmark stands between the aggregator and agg_parallel (the linker's --wrap), times
// every part, and counts how much longer the longest took than this thread's own.
//
// What the machine itself lets two cores do of this is the row of two processes, which share
// nothing but the file: each takes as long as one thread alone where two cores are twice one.
#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agg_file.h"
#include "agg_parallel.h"
#include "batch.h"
#include "batch_ids.h"
#include "bench.h"
#include "bytes.h"
#include "folder.h"
#include "input_print.h"
#include "mapped_file.h"
#include "reader.h"
#include "report_json.h"

#define COLUMNS 1024u
#define BATCH 10000u              // records of one, as edge workers forward them
#define DRAWN ((uint32_t)1 << 20) // records of a file
#define NAIVE_RECORDS 20000u
#define PATH 128
// Of a file, at once: what comes in small pieces the kernel keeps in small pieces, and maps slowly.
#define WRITE_BYTES ((size_t)1 << 20)

// ---- time of the slower thread ----

typedef struct timed_work {
    agg_work work;
    void *context;
    double seconds[AGG_THREADS_MAX];
} timed_work;

static void time_part(void *context, unsigned part, unsigned n_parts)
{
    timed_work *timed = context;
    double start = bench_now();
    timed->work(timed->context, part, n_parts);
    timed->seconds[part] = bench_now() - start;
}

// Names that the linker gives.
void __real_agg_parallel(unsigned n_threads, agg_work work, void *context);
void __wrap_agg_parallel(unsigned n_threads, agg_work work, void *context);

void __wrap_agg_parallel(unsigned n_threads, agg_work work, void *context)
{
    timed_work timed = {.work = work, .context = context};
    double longest = 0;
    if (n_threads < 2 || n_threads > AGG_THREADS_MAX) {
        __real_agg_parallel(n_threads, work, context);
        return;
    }
    __real_agg_parallel(n_threads, time_part, &timed);
    for (unsigned part = 0; part < n_threads; part++)
        if (timed.seconds[part] > longest) longest = timed.seconds[part];
    bench_waited(longest - timed.seconds[0]);
}

// ---- the pipeline ----

typedef struct pipeline {
    agg_recipe recipe;
    unsigned n_threads;
    uint32_t passes; // over the file
    char folder[PATH], input[PATH], output[PATH];
    agg_batch_ids ids;
    agg_lock guard; // of ids
    agg_folder fold;
    const uint8_t *records;
    uint32_t *naive_counts; // made once: memory that comes and goes would be the pipeline's to
                            // bring in anew
} pipeline;

static void note_batch(pipeline *p, agg_error *error, const agg_run *run)
{
    bool was_there = false;
    if (run->batch_id != NULL)
        bench_check(agg_batch_ids_add(&p->ids, error, run->batch_id, &was_there), "ids");
    if (was_there) bench_die("a batch came twice");
}

static agg_err take(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    pipeline *p = context;
    agg_folder_run fresh[AGG_RUNS_MAX];
    for (uint32_t i = 0; i < n_runs; i++) {
        note_batch(p, error, &runs[i]);
        fresh[i] = (agg_folder_run){runs[i].records, runs[i].count};
    }
    return agg_folder_add_runs(&p->fold, error, fresh, n_runs);
}

static agg_err take_run(void *context, agg_error *error, unsigned part, const agg_run *run)
{
    pipeline *p = context;
    const agg_folder_run records = {run->records, run->count};
    agg_lock_take(&p->guard);
    note_batch(p, error, run);
    agg_lock_leave(&p->guard);
    return agg_folder_add_as(&p->fold, error, part, &records);
}

static void *unlink_output(void *context)
{
    unlink(((const pipeline *)context)->output);
    return NULL;
}

// The benchmark's own work, not the pipeline's: on a thread whose time is not counted.
static void remove_output(pipeline *p)
{
    pthread_t remover;
    if (pthread_create(&remover, NULL, unlink_output, p) != 0) bench_die("no thread");
    pthread_join(remover, NULL);
}

// Takes the fingerprint of a file of reports, before each pass over it.
static void note_print(pipeline *p, agg_error *error)
{
    agg_input_print print;
    uint8_t id[AGG_CLAIM];
    bool has_lines = false, was_there = false;
    bench_check(agg_input_print_of_file(&print, &has_lines, error, p->input), "no fingerprint");
    agg_input_print_claim(id, &print);
    if (has_lines) bench_check(agg_batch_ids_add(&p->ids, error, id, &was_there), "ids");
}

static void real(void *context)
{
    pipeline *p = context;
    agg_error error = {SHOAL_OK, 0, ""};
    agg_accumulator acc;
    agg_read_count count = {0, 0, 0, 0, 0};
    agg_reader reader = {&p->recipe, take, p, NULL, NULL, NULL, NULL, p->n_threads};
    bench_check(agg_accumulator_init(&acc, &error, p->recipe.recipe), "out of memory");
    bench_check(agg_folder_init(&p->fold, &error, &acc, 0, p->n_threads), "out of memory");
    agg_share share =
        p->n_threads > 1 && agg_folder_workers(&p->fold) >= p->n_threads ? take_run : NULL;
    for (uint32_t i = 0; i < p->passes; i++) {
        agg_batch_ids_release(&p->ids); // of the pass before: the file comes again
        note_print(p, &error);
        bench_check(agg_reader_file_shared(&count, &error, &reader, share,
                                           agg_folder_span(&p->fold), p->input),
                    "the file is refused");
    }
    bench_check(agg_folder_flush(&p->fold, &error), "folding failed");
    agg_batch_ids_pack(&p->ids);
    bench_check(
        agg_accumulator_claim_all(&acc, &error, (const uint8_t(*)[AGG_CLAIM])p->ids.ids, p->ids.n),
        "no claims");
    agg_batch_ids_release(&p->ids);
    if (acc.n != (uint64_t)p->passes * DRAWN) bench_die("records were lost");
    bench_check(agg_accumulator_save_by(&acc, &error, p->output, p->n_threads),
                "cannot write the accumulator");
    agg_folder_release(&p->fold);
    agg_accumulator_release(&acc);
    remove_output(p);
}

static void naive_add(uint32_t *counts, uint32_t row, const uint8_t *bits)
{
    for (uint32_t c = 0; c < COLUMNS; c++)
        if (bits[c / 8] >> c % 8 & 1) counts[(size_t)row * COLUMNS + c]++;
}

static void naive_lines(void *context)
{
    pipeline *p = context;
    char *line = NULL, two[3] = "";
    size_t cap = 0;
    uint8_t bits[COLUMNS / 8];
    uint32_t *counts = p->naive_counts;
    FILE *stream = fopen(p->input, "r");
    if (stream == NULL) bench_die("cannot read the file");
    for (uint32_t i = 0; i < NAIVE_RECORDS && getline(&line, &cap, stream) > 0; i++) {
        cJSON *json = cJSON_Parse(line);
        const char *text = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "records"), 0)->valuestring;
        char *comma = NULL;
        uint32_t row = (uint32_t)strtoul(text, &comma, 10);
        for (uint32_t b = 0; b < sizeof bits; b++) {
            memcpy(two, comma + 1 + 2 * b, 2);
            bits[b] = (uint8_t)strtoul(two, NULL, 16);
        }
        naive_add(counts, row, bits);
        cJSON_Delete(json);
    }
    bench_keep(counts[0]);
    fclose(stream);
    free(line);
}

static void naive_batches(void *context)
{
    pipeline *p = context;
    uint8_t row[4], bits[COLUMNS / 8];
    uint32_t *counts = p->naive_counts;
    FILE *stream = fopen(p->input, "rb");
    for (uint32_t i = 0; i < NAIVE_RECORDS; i++) {
        long skip = i % BATCH > 0 ? 0
                    : i > 0       ? SHOAL_BATCH_TRAILER + SHOAL_BATCH_HEADER
                                  : SHOAL_BATCH_HEADER;
        if (stream == NULL || fseek(stream, skip, SEEK_CUR) != 0 ||
            fread(row, 1, sizeof row, stream) != sizeof row ||
            fread(bits, 1, sizeof bits, stream) != sizeof bits)
            bench_die("cannot read the file");
        naive_add(counts, load32_le(row), bits);
    }
    bench_keep(counts[0]);
    fclose(stream);
}

static void read_file(void *context)
{
    const pipeline *p = context;
    agg_mapped_file file;
    FILE *stream = fopen(p->input, "rb");
    if (stream == NULL || !agg_mapped_file_open(&file, stream)) bench_die("cannot read the file");
    bench_keep(bench_read(file.bytes, file.len));
    agg_mapped_file_close(&file);
    fclose(stream);
}

static void put(FILE *stream, const void *bytes, size_t len)
{
    if (stream == NULL || fwrite(bytes, 1, len, stream) != len) bench_die("cannot write the file");
}

static void write_lines(const pipeline *p, FILE *stream)
{
    size_t size = agg_report_size(&p->recipe);
    char *line = bench_alloc(size + 1, 1);
    line[size] = '\n';
    for (uint32_t i = 0; i < DRAWN; i++) {
        bench_check(agg_report_print(line, size, &p->recipe,
                                     p->records + (size_t)i * shoal_record_size(p->recipe.recipe)),
                    "a report is refused");
        put(stream, line, size + 1);
    }
    free(line);
}

static void write_batches(const pipeline *p, FILE *stream)
{
    size_t record_size = shoal_record_size(p->recipe.recipe);
    uint8_t *batch = bench_alloc(shoal_batch_size(p->recipe.recipe, BATCH), 1);
    for (uint32_t first = 0, some; first < DRAWN; first += some) {
        uint8_t id[16] = {0};
        some = DRAWN - first < BATCH ? DRAWN - first : BATCH;
        store32_le(id, first);
        size_t len = shoal_batch_size(p->recipe.recipe, some);
        memcpy(batch + SHOAL_BATCH_HEADER, p->records + first * record_size, some * record_size);
        bench_check(shoal_batch_seal(batch, len, p->recipe.recipe, some, 20780, id),
                    "a batch is refused");
        put(stream, batch, len);
    }
    free(batch);
}

// ---- two processes ----

// Another process, which does the same once whenever it is told to.
typedef struct twin {
    pipeline *p;
    pid_t id;
    int to, from; // pipes
} twin;

static void obey(const pipeline *p, int from, int to)
{
    pipeline own = *p;
    char word = 0;
    snprintf(own.output, sizeof own.output, "%.100s/twin", p->folder);
    while (read(from, &word, 1) == 1) {
        real(&own);
        if (write(to, &word, 1) != 1) break;
    }
    _exit(0);
}

static void start_twin(twin *t, pipeline *p)
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0) bench_die("no pipe");
    *t = (twin){p, fork(), there[1], back[0]};
    if (t->id < 0) bench_die("no process");
    if (t->id == 0) {
        close(there[1]);
        close(back[0]);
        obey(p, there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
}

static void end_twin(twin *t)
{
    int status = 0;
    close(t->to);
    close(t->from);
    if (waitpid(t->id, &status, 0) != t->id || status != 0) bench_die("the other process failed");
}

static void beside_twin(void *context)
{
    twin *t = context;
    char word = 0;
    if (write(t->to, &word, 1) != 1) bench_die("the other process is gone");
    real(t->p);
    if (read(t->from, &word, 1) != 1) bench_die("the other process failed");
}

static void naive_of_twin(void *context)
{
    naive_batches(((const twin *)context)->p);
}

static void read_of_twin(void *context)
{
    read_file(((const twin *)context)->p);
}

static void run_twins(pipeline *p)
{
    char name[96];
    twin other;
    snprintf(name, sizeof name,
             "batches to accumulator on disk, k=%u, %u Mi records, beside another process",
             shoal_recipe_part(p->recipe.recipe, 0)->k, p->passes * (DRAWN >> 20));
    p->n_threads = 1;
    start_twin(&other, p);
    bench_run(&(bench_step){name,
                            "record",
                            "fread a field, a bit at a time, scalar, unchecked",
                            0,
                            0,
                            {beside_twin, (uint64_t)p->passes * DRAWN},
                            {naive_of_twin, NAIVE_RECORDS},
                            {read_of_twin, DRAWN},
                            &other});
    end_twin(&other);
}

static void run(pipeline *p, int is_ndjson, double aim_ns)
{
    char name[96];
    unsigned millions = p->passes * (DRAWN >> 20);
    char *buffer = bench_alloc(WRITE_BYTES, 1);
    FILE *stream = fopen(p->input, "wb");
    if (stream == NULL || setvbuf(stream, buffer, _IOFBF, WRITE_BYTES) != 0)
        bench_die("cannot write the file");
    is_ndjson ? write_lines(p, stream) : write_batches(p, stream);
    if (fclose(stream) != 0) bench_die("cannot write the file");
    free(buffer);
    for (p->n_threads = 1; p->n_threads <= 2; p->n_threads++) {
        snprintf(name, sizeof name, "%s to accumulator on disk, k=%u, %u Mi records%s",
                 is_ndjson ? "NDJSON" : "batches", shoal_recipe_part(p->recipe.recipe, 0)->k,
                 millions, p->n_threads > 1 ? ", two threads" : "");
        bench_run(&(bench_step){name,
                                "record",
                                is_ndjson ? "cJSON, strtoul, a bit at a time, scalar, unchecked"
                                          : "fread a field, a bit at a time, scalar, unchecked",
                                aim_ns / (p->n_threads > 1 ? 1.8 : 1),
                                0,
                                {real, (uint64_t)p->passes * DRAWN},
                                {is_ndjson ? naive_lines : naive_batches, NAIVE_RECORDS},
                                {read_file, DRAWN},
                                p});
    }
    if (!is_ndjson) run_twins(p);
    unlink(p->input);
}

// Aims: 3,000,000 and 8,000,000 records a second and core.
void bench_pipeline(void)
{
    static const uint32_t k[] = {2048, 65536}, passes_of_lines[] = {2, 8},
                          passes_of_batches[] = {4, 16};
    const char *at = getenv("TMPDIR");
    pipeline *p = bench_alloc(1, sizeof *p);
    if (!agg_lock_init(&p->guard)) bench_die("no lock");
    snprintf(p->folder, sizeof p->folder - 16, "%s/shoal-bench-XXXXXX",
             at != NULL && strlen(at) < 64 ? at : "/tmp");
    if (mkdtemp(p->folder) == NULL) bench_die("no folder for files");
    snprintf(p->input, sizeof p->input, "%.100s/in", p->folder);
    snprintf(p->output, sizeof p->output, "%.100s/out", p->folder);
    for (size_t i = 0; i < 2; i++) {
        bench_recipe(&p->recipe, "cms", k[i], COLUMNS);
        uint8_t *records = bench_alloc(DRAWN, shoal_record_size(p->recipe.recipe));
        bench_records(records, &p->recipe, DRAWN);
        p->records = records;
        p->naive_counts = bench_alloc((size_t)k[i] * COLUMNS, sizeof *p->naive_counts);
        p->passes = passes_of_lines[i];
        run(p, 1, 1e9 / 3e6);
        p->passes = passes_of_batches[i];
        run(p, 0, 1e9 / 8e6);
        free(records);
        free(p->naive_counts);
        agg_recipe_release(&p->recipe);
    }
    rmdir(p->folder);
    agg_lock_release(&p->guard);
    free(p);
}
