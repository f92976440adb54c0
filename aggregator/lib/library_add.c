// SPDX-License-Identifier: Apache-2.0
// Adding batches, reports and records to an accumulator; see shoal_aggregate.h.
//
// A call first checks everything and collects where the records lie. Then it reserves what its
// claims need, and only then it adds: until there nothing has changed.
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "batch.h"
#include "batch_ids.h"
#include "folder.h"
#include "input_print.h"
#include "library_call.h"
#include "read_window.h"
#include "reader.h"
#include "recipe.h"

#define FIRST_TEXT 256u

// What a call has found to add.
typedef struct found {
    const shoal_agg_accumulator *to;
    uint32_t held_rule;
    agg_folder_run *runs;
    size_t n_runs, cap_runs;
    uint8_t *copied; // records of reports, which do not lie anywhere else
    size_t len, cap_len;
    agg_batch_ids ids;
    uint64_t n_records, n_batches, n_held;
    char first[FIRST_TEXT]; // why the first line was rejected
} found;

static void release(found *f)
{
    free(f->runs);
    free(f->copied);
    agg_batch_ids_release(&f->ids);
}

// ---- adding ----

//   *has_begun: set once records may be in the sums
static agg_err fold_runs(agg_accumulator *acc, bool *has_begun, agg_error *error,
                         const agg_folder_run *runs, size_t n_runs, unsigned n_threads)
{
    agg_folder folder;
    agg_err err = agg_folder_init(&folder, error, acc, 0, n_threads);
    if (err != SHOAL_OK) return err;
    *has_begun = true;
    for (size_t i = 0; i < n_runs && err == SHOAL_OK; i += AGG_RUNS_MAX) {
        size_t n = n_runs - i < AGG_RUNS_MAX ? n_runs - i : AGG_RUNS_MAX;
        err = agg_folder_add_runs(&folder, error, runs + i, (uint32_t)n);
    }
    if (err == SHOAL_OK) err = agg_folder_flush(&folder, error);
    agg_folder_release(&folder);
    return err;
}

// Adds runs to an accumulator that keeps records. Whether they are too many shows while they are
// added, so they are added to another one first.
static agg_err fold_apart(shoal_agg_accumulator *to, agg_error *error, const agg_folder_run *runs,
                          size_t n_runs)
{
    agg_accumulator apart;
    bool has_begun = false;
    agg_err err = agg_accumulator_init(&apart, error, to->recipe->recipe.recipe);
    if (err != SHOAL_OK) return err;
    err = fold_runs(&apart, &has_begun, error, runs, n_runs, to->n_threads);
    bool is_complete = to->acc.claims.is_complete;
    if (err == SHOAL_OK) err = agg_accumulator_merge(&to->acc, error, &apart);
    to->acc.claims.is_complete = is_complete;
    agg_accumulator_release(&apart);
    return err;
}

static agg_err fold(shoal_agg_accumulator *to, agg_error *error, const agg_folder_run *runs,
                    size_t n_runs)
{
    if (agg_accumulator_keeps_records(&to->acc)) return fold_apart(to, error, runs, n_runs);
    bool has_begun = false;
    agg_err err = fold_runs(&to->acc, &has_begun, error, runs, n_runs, to->n_threads);
    if (err != SHOAL_OK) to->is_broken = has_begun;
    return err;
}

// Adds runs with their claims.
//   claims: n_claims ids, each once; none: the records are claimed by nothing
static agg_err add(shoal_agg_accumulator *to, agg_error *error, const agg_folder_run *runs,
                   size_t n_runs, uint64_t n_records, const uint8_t (*claims)[AGG_CLAIM],
                   size_t n_claims)
{
    agg_claims added = {.n = 0};
    agg_err err = agg_claims_add(&added, error, claims, n_claims);
    if (err == SHOAL_OK) err = agg_accumulator_check_room(&to->acc, error, n_records);
    if (err == SHOAL_OK) err = agg_claims_reserve(&to->acc.claims, error, &added);
    if (err == SHOAL_OK && n_records > 0) {
        bool was_complete = to->acc.claims.is_complete;
        if (n_claims > 0)
            agg_accumulator_begin_claims(&to->acc);
        else
            to->acc.claims.is_complete = false;
        err = fold(to, error, runs, n_runs);
        if (err != SHOAL_OK) to->acc.claims.is_complete = was_complete;
    }
    if (err == SHOAL_OK) err = agg_claims_unite(&to->acc.claims, error, &added);
    agg_claims_release(&added);
    return err;
}

static agg_err add_found(shoal_agg_accumulator *to, agg_error *error, found *f)
{
    agg_batch_ids_pack(&f->ids);
    return add(to, error, f->runs, f->n_runs, f->n_records, (const uint8_t(*)[AGG_CLAIM])f->ids.ids,
               f->ids.n);
}

// ---- batches ----

static agg_err keep_run(found *f, agg_error *error, const agg_run *run)
{
    void *runs = f->runs;
    agg_err err = agg_grow(&runs, &f->cap_runs, f->n_runs + 1, sizeof *f->runs, error);
    f->runs = runs;
    if (err != SHOAL_OK) return err;
    f->runs[f->n_runs++] = (agg_folder_run){run->records, run->count};
    f->n_records += run->count;
    return SHOAL_OK;
}

static agg_err take_batch(found *f, agg_error *error, const agg_run *run)
{
    char text[AGG_CLAIM_TEXT];
    bool was_there = false;
    if (agg_claims_have(&f->to->acc.claims, run->batch_id)) {
        f->n_held++;
        if (f->held_rule == SHOAL_AGG_SKIP_HELD) return SHOAL_OK;
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "the accumulator counts batch %s already; nothing was added",
                        agg_claim_print(text, run->batch_id));
    }
    agg_err err = agg_batch_ids_add(&f->ids, error, run->batch_id, &was_there);
    if (err != SHOAL_OK || was_there) return err;
    f->n_batches++;
    return keep_run(f, error, run);
}

static agg_err take_batches(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; i < n_runs && err == SHOAL_OK; i++)
        err = take_batch(context, error, &runs[i]);
    return err;
}

static void write_added(shoal_agg_added *added, const found *f, uint64_t rejected)
{
    if (added == NULL) return;
    *added = (shoal_agg_added){sizeof *added, f->n_records, f->n_batches, f->n_held, rejected};
}

static agg_err add_batches(shoal_agg_accumulator *to, agg_error *error, found *f,
                           const uint8_t *bytes, size_t len)
{
    library_call call;
    shoal_batch first;
    agg_read_window window;
    agg_read_count count = {0, 0, 0, 0, 0};
    const agg_reader reader = {.recipe = &to->recipe->recipe,
                               .sink = take_batches,
                               .sink_context = f,
                               .n_threads = to->n_threads};
    shoal_err head = shoal_batch_peek(&first, bytes, len);
    if (head == SHOAL_ERR_MAGIC)
        return agg_fail(error, SHOAL_ERR_MAGIC, AGG_EXIT_RUNTIME, "the bytes are no batch");
    agg_err err = library_enter(&call, error);
    if (err != SHOAL_OK) return err;
    agg_read_window_open_bytes(&window, bytes, len);
    err = agg_reader_window(&count, error, &reader, "batches", NULL, 0, &window);
    if (err == SHOAL_OK) err = add_found(to, error, f);
    library_leave(&call);
    return err;
}

shoal_agg_code shoal_agg_accumulator_add_batches(shoal_agg_accumulator *accumulator,
                                                 const uint8_t *bytes, size_t len, uint32_t held,
                                                 shoal_agg_added *added, shoal_agg_error *error)
{
    agg_error inner;
    if (accumulator == NULL || (bytes == NULL && len > 0) || held > SHOAL_AGG_SKIP_HELD ||
        (added != NULL && added->size != sizeof *added))
        return library_refuse(error, "an accumulator, bytes, a rule and the size of `added` are "
                                     "needed");
    found f = {.to = accumulator, .held_rule = held};
    agg_err err = library_check(accumulator, &inner);
    if (err == SHOAL_OK && len > 0) err = add_batches(accumulator, &inner, &f, bytes, len);
    if (err == SHOAL_OK) write_added(added, &f, 0);
    release(&f);
    return library_fail(error, err, &inner);
}

// ---- reports ----

static agg_err take_lines(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    found *f = context;
    size_t size = f->to->acc.record_size;
    for (uint32_t i = 0; i < n_runs; i++) {
        size_t more = runs[i].count * size;
        void *copied = f->copied;
        agg_err err = agg_grow(&copied, &f->cap_len, f->len + more, 1, error);
        f->copied = copied;
        if (err != SHOAL_OK) return err;
        memcpy(f->copied + f->len, runs[i].records, more);
        f->len += more;
        f->n_records += runs[i].count;
    }
    return SHOAL_OK;
}

static void keep_first(void *context, const char *text)
{
    found *f = context;
    if (f->first[0] == '\0') snprintf(f->first, sizeof f->first, "%s", text);
}

// Claims the text of the reports that were read.
static agg_err claim_reports(found *f, agg_error *error, const char *lines, size_t len)
{
    char text[AGG_CLAIM_TEXT];
    uint8_t id[AGG_CLAIM];
    bool was_there = false;
    agg_input_print print;
    if (f->n_records == 0) return SHOAL_OK;
    agg_input_print_init(&print);
    agg_input_print_update(&print, (const uint8_t *)lines, len);
    agg_input_print_claim(id, &print);
    if (agg_claims_have(&f->to->acc.claims, id))
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "the accumulator counts these reports (%s) already; nothing was added",
                        agg_claim_print(text, id));
    return agg_batch_ids_add(&f->ids, error, id, &was_there);
}

// Makes the runs of the records that were copied, which have moved while they became more.
static agg_err make_runs(found *f, agg_error *error)
{
    const size_t most = UINT32_MAX / 2, size = f->to->acc.record_size;
    uint64_t left = f->n_records;
    agg_err err = SHOAL_OK;
    f->n_records = 0;
    for (const uint8_t *at = f->copied; left > 0 && err == SHOAL_OK;) {
        uint32_t count = (uint32_t)(left < most ? left : most);
        err = keep_run(f, error, &(agg_run){.records = at, .count = count});
        at += count * size;
        left -= count;
    }
    return err;
}

static agg_err read_lines(found *f, agg_read_count *count, agg_error *error, const char *lines,
                          size_t len)
{
    agg_read_window window;
    shoal_batch first;
    const agg_reader reader = {.recipe = &f->to->recipe->recipe,
                               .sink = take_lines,
                               .sink_context = f,
                               .log = keep_first,
                               .log_context = f,
                               .n_threads = f->to->n_threads};
    if (shoal_batch_peek(&first, (const uint8_t *)lines, len) == SHOAL_OK)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "reports: the bytes are a batch, not lines of reports");
    agg_read_window_open_bytes(&window, (const uint8_t *)lines, len);
    return agg_reader_window(count, error, &reader, "reports", NULL, 0, &window);
}

static agg_err add_reports(shoal_agg_accumulator *to, agg_error *error, found *f, const char *lines,
                           size_t len, double max_rejected, uint64_t *rejected)
{
    library_call call;
    agg_read_count count = {0, 0, 0, 0, 0};
    agg_err err = library_enter(&call, error);
    if (err != SHOAL_OK) return err;
    err = read_lines(f, &count, error, lines, len);
    if (err == SHOAL_OK && (double)count.rejected > max_rejected * (double)count.lines)
        err = agg_fail(error, AGG_ERR_REJECTED, AGG_EXIT_REJECTED,
                       "%llu of %llu lines were rejected, more than a share of %g; the first: %s",
                       (unsigned long long)count.rejected, (unsigned long long)count.lines,
                       max_rejected, f->first);
    if (err == SHOAL_OK) err = claim_reports(f, error, lines, len);
    if (err == SHOAL_OK) err = make_runs(f, error);
    if (err == SHOAL_OK) err = add_found(to, error, f);
    library_leave(&call);
    *rejected = count.rejected;
    return err;
}

shoal_agg_code shoal_agg_accumulator_add_reports(shoal_agg_accumulator *accumulator,
                                                 const char *lines, size_t len, double max_rejected,
                                                 shoal_agg_added *added, shoal_agg_error *error)
{
    agg_error inner;
    uint64_t rejected = 0;
    if (accumulator == NULL || (lines == NULL && len > 0) ||
        !(max_rejected >= 0 && max_rejected <= 1) ||
        (added != NULL && added->size != sizeof *added))
        return library_refuse(error, "an accumulator, lines, a share from 0 to 1 and the size of "
                                     "`added` are needed");
    found f = {.to = accumulator};
    agg_err err = library_check(accumulator, &inner);
    if (err == SHOAL_OK && len > 0)
        err = add_reports(accumulator, &inner, &f, lines, len, max_rejected, &rejected);
    if (err == SHOAL_OK) write_added(added, &f, rejected);
    release(&f);
    return library_fail(error, err, &inner);
}

// ---- records ----

// A check of records by several threads.
typedef struct checking {
    const shoal_recipe *recipe;
    const uint8_t *records;
    uint64_t n;
    uint64_t bad[AGG_THREADS_MAX]; // of each part, the first bad record; n: none
} checking;

static void check_part(void *context, unsigned part, unsigned n_parts)
{
    checking *c = context;
    uint64_t share = c->n / n_parts, first = part * share,
             end = part + 1 == n_parts ? c->n : first + share;
    c->bad[part] = c->n;
    for (uint64_t i = first; i < end; i++)
        if (shoal_record_check(c->recipe, c->records + i * c->recipe->record_size) != SHOAL_OK) {
            c->bad[part] = i;
            return;
        }
}

static agg_err check_records(const shoal_agg_accumulator *to, agg_error *error,
                             const uint8_t *records, uint64_t n)
{
    checking c = {.recipe = to->recipe->recipe.recipe, .records = records, .n = n};
    unsigned n_threads = n < 4096 ? 1 : to->n_threads;
    agg_parallel(n_threads, check_part, &c);
    for (unsigned part = 0; part < n_threads; part++)
        if (c.bad[part] < n)
            return agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                            "record %llu: %s Nothing was added", (unsigned long long)c.bad[part],
                            shoal_err_text(SHOAL_ERR_RECORD));
    return SHOAL_OK;
}

// Splits records into runs, each as large as one batch may be, so that threads share them.
static agg_err split_records(found *f, agg_error *error, const uint8_t *records, uint64_t n)
{
    agg_err err = SHOAL_OK;
    for (uint64_t at = 0; at < n && err == SHOAL_OK; at += SHOAL_BATCH_COUNT_MAX) {
        uint64_t left = n - at;
        const agg_run run = {
            .records = records + at * f->to->acc.record_size,
            .count = (uint32_t)(left < SHOAL_BATCH_COUNT_MAX ? left : SHOAL_BATCH_COUNT_MAX)};
        err = keep_run(f, error, &run);
    }
    return err;
}

static agg_err add_records(shoal_agg_accumulator *to, agg_error *error, const uint8_t *records,
                           uint64_t n, const uint8_t *claim)
{
    char text[AGG_CLAIM_TEXT];
    found f = {.to = to};
    if (claim != NULL && agg_claims_have(&to->acc.claims, claim))
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "the accumulator counts the claim %s already; nothing was added",
                        agg_claim_print(text, claim));
    agg_err err = check_records(to, error, records, n);
    if (err == SHOAL_OK) err = split_records(&f, error, records, n);
    if (err == SHOAL_OK)
        err =
            add(to, error, f.runs, f.n_runs, n, (const uint8_t(*)[AGG_CLAIM])claim, claim != NULL);
    release(&f);
    return err;
}

shoal_agg_code shoal_agg_accumulator_add_records(shoal_agg_accumulator *accumulator,
                                                 const uint8_t *records, uint64_t n,
                                                 const uint8_t *claim, shoal_agg_error *error)
{
    agg_error inner;
    size_t bytes = 0;
    if (accumulator == NULL || (records == NULL && n > 0))
        return library_refuse(error, "an accumulator and records are needed");
    if (n > SIZE_MAX || !agg_size_multiply(&bytes, (size_t)n, accumulator->acc.record_size))
        return library_refuse(error, "no memory holds so many records");
    agg_err err = library_check(accumulator, &inner);
    if (err == SHOAL_OK && n > 0) err = add_records(accumulator, &inner, records, n, claim);
    return library_fail(error, err, &inner);
}
