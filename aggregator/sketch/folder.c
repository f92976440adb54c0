// SPDX-License-Identifier: Apache-2.0
// Collecting records, in the order they came or by row; see folder.h.
#include "folder.h"

#include <stdlib.h>
#include <string.h>

#include "agg_pages.h"
#include "agg_size.h"

#define HUGE_BYTES ((size_t)64 << 20) // of a buffer, from which huge pages are asked for
// Records between two barriers: so many bytes with buckets, else so many records.
#define SPAN_BYTES ((size_t)48 << 20)
#define SPAN_RECORDS ((uint32_t)1 << 21)

agg_folder_memory agg_folder_memory_of(const agg_accumulator *acc, size_t bytes, unsigned n_threads)
{
    agg_fold_plan plan = agg_fold_plan_make(acc, bytes, n_threads);
    return (agg_folder_memory){plan.buffer_bytes, agg_fold_plan_beside(&plan, acc)};
}

agg_err agg_folder_init(agg_folder *folder, agg_error *error, agg_accumulator *acc, size_t bytes,
                        unsigned n_threads)
{
    agg_err err = SHOAL_OK;
    memset(folder, 0, sizeof *folder);
    folder->acc = acc;
    folder->plan = agg_fold_plan_make(acc, bytes, n_threads);
    size_t size = folder->plan.method == AGG_FOLD_BUCKETS ? 0 : folder->plan.buffer_bytes;
    folder->buffer = agg_alloc(error, size, 1);
    if (folder->buffer == NULL) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK && folder->plan.method != AGG_FOLD_IN_ORDER)
        err = agg_fold_workers_init(&folder->workers, error, &folder->plan, &acc->parts[0]);
    if (err != SHOAL_OK) {
        agg_folder_release(folder);
        return err;
    }
    if (size > HUGE_BYTES) agg_pages_advise(folder->buffer, size);
    return SHOAL_OK;
}

void agg_folder_release(agg_folder *folder)
{
    free(folder->buffer);
    agg_fold_workers_release(&folder->workers);
    memset(folder, 0, sizeof *folder);
}

// Notes that workers will take records: the accumulator must have room for all that wait.
static agg_err take_room(agg_folder *f, agg_error *error, uint64_t count)
{
    agg_err err = agg_accumulator_check_room(f->acc, error, f->pending + count);
    if (err == SHOAL_OK) f->pending += count;
    return err;
}

static agg_err add_to_workers(agg_folder *f, agg_error *error, const agg_folder_run *runs,
                              uint32_t n_runs)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < n_runs; r++) count += runs[r].count;
    agg_err err = take_room(f, error, count);
    if (err == SHOAL_OK) agg_fold_workers_add(&f->workers, runs, n_runs);
    return err;
}

// Buckets fill unevenly, so that whole spans fill nine tenths of them.
uint32_t agg_folder_span(const agg_folder *folder)
{
    uint32_t most = folder->plan.cap / 10 * 9;
    if (folder->plan.method != AGG_FOLD_BUCKETS) return SPAN_RECORDS;
    return most / (uint32_t)((uint64_t)most * folder->plan.record_size / SPAN_BYTES + 1);
}

agg_err agg_folder_add_as(agg_folder *folder, agg_error *error, unsigned worker,
                          const agg_folder_run *run)
{
    agg_lock_take(&folder->workers.guard);
    agg_err err = take_room(folder, error, run->count);
    agg_lock_leave(&folder->workers.guard);
    if (err == SHOAL_OK) agg_fold_workers_add_as(&folder->workers, worker, run);
    return err;
}

// Adds records where they lie.
static agg_err fold(agg_folder *f, agg_error *error, const uint8_t *records, uint32_t count)
{
    const agg_folder_run one = {records, count};
    if (f->plan.method != AGG_FOLD_IN_ORDER) return add_to_workers(f, error, &one, 1);
    return agg_accumulator_add(f->acc, error, records, count, f->plan.n_threads);
}

static agg_err fold_buffer(agg_folder *f, agg_error *error)
{
    agg_err err = f->count > 0 ? fold(f, error, f->buffer, f->count) : SHOAL_OK;
    f->count = 0;
    return err;
}

static agg_err add_to_buffer(agg_folder *f, agg_error *error, const uint8_t *records,
                             uint32_t count)
{
    size_t size = f->plan.record_size;
    while (count > 0) {
        uint32_t room = f->plan.cap - f->count, some = count < room ? count : room;
        memcpy(f->buffer + f->count * size, records, some * size);
        f->count += some;
        records += some * size;
        count -= some;
        agg_err err = f->count == f->plan.cap ? fold_buffer(f, error) : SHOAL_OK;
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

agg_err agg_folder_add_runs(agg_folder *folder, agg_error *error, const agg_folder_run *runs,
                            uint32_t n_runs)
{
    agg_err err = SHOAL_OK;
    uint64_t count = 0;
    if (folder->plan.method == AGG_FOLD_BUCKETS) return add_to_workers(folder, error, runs, n_runs);
    for (uint32_t r = 0; r < n_runs; r++) count += runs[r].count;
    if (folder->plan.n_workers > 1 && count >= folder->plan.cap) {
        err = fold_buffer(folder, error); // enough for workers to share where it lies
        return err == SHOAL_OK ? add_to_workers(folder, error, runs, n_runs) : err;
    }
    for (uint32_t r = 0; r < n_runs && err == SHOAL_OK; r++)
        err = agg_folder_add(folder, error, runs[r].records, runs[r].count);
    return err;
}

agg_err agg_folder_add(agg_folder *folder, agg_error *error, const uint8_t *records, uint32_t count)
{
    // A run that fills the buffer is added where it lies; buckets need no buffer.
    uint32_t least = folder->plan.method == AGG_FOLD_BUCKETS ? 0 : folder->plan.cap;
    if (count < least) return add_to_buffer(folder, error, records, count);
    agg_err err = fold_buffer(folder, error);
    return err == SHOAL_OK ? fold(folder, error, records, count) : err;
}

agg_err agg_folder_flush(agg_folder *folder, agg_error *error)
{
    agg_err err = fold_buffer(folder, error);
    if (err != SHOAL_OK || folder->plan.method == AGG_FOLD_IN_ORDER) return err;
    agg_fold_workers_flush(&folder->workers);
    folder->acc->n += folder->pending;
    folder->pending = 0;
    return SHOAL_OK;
}
