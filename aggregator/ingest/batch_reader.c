// SPDX-License-Identifier: Apache-2.0
// Batches, on one thread or several; see batch_reader.h.
#include "batch_reader.h"

#include "agg_batch.h"
#include "claims.h"

// A group may be so much larger where batches are so large that some thread would get none.
#define GROUP_BYTES_MORE ((size_t)8 << 20)

//   id: of the batch; NULL where its header cannot be read
static agg_err batch_failed(agg_reading *r, agg_err err, uint32_t bad, const uint8_t id[AGG_CLAIM])
{
    char detail[32] = "", named[AGG_CLAIM_TEXT + 8] = "", text[AGG_CLAIM_TEXT];
    int exit_code = err == SHOAL_ERR_RECIPE_HASH ? AGG_EXIT_RUNTIME : AGG_EXIT_IO;
    if (bad != UINT32_MAX) snprintf(detail, sizeof detail, "record %u: ", bad + 1);
    if (id != NULL && (err == SHOAL_ERR_BATCH_ID || err == SHOAL_ERR_CHECKSUM))
        snprintf(named, sizeof named, " (id %s)", agg_claim_print(text, id));
    return agg_fail(r->error, err, exit_code, "%s: batch %llu: %s%s%s", r->name,
                    (unsigned long long)(r->n_batches + 1), detail, shoal_err_text(err), named);
}

// A batch that is whole, and the result of checking it.
typedef struct opened {
    const uint8_t *bytes;
    shoal_batch batch;
    agg_err err;
    uint32_t bad; // index of the record that was refused; UINT32_MAX: none
} opened;

static void open_batch(opened *o, const shoal_recipe *recipe)
{
    o->bad = UINT32_MAX;
    o->err = agg_batch_open(&o->batch, o->bytes, (size_t)o->batch.size, recipe, &o->bad);
}

// Passes the batches before the first that is refused, gives them out unless threads did, and fails
// with that one.
static agg_err give_batches(agg_reading *r, const opened *batches, uint32_t n, bool were_shared)
{
    agg_run runs[AGG_RUNS_MAX] = {{NULL, NULL, 0, 0}};
    uint32_t n_good = 0;
    for (; n_good < n && batches[n_good].err == SHOAL_OK; n_good++) {
        const opened *o = &batches[n_good];
        runs[n_good] =
            (agg_run){o->batch.id, o->bytes + o->batch.header, o->batch.count, o->batch.version};
        r->window.start += (size_t)o->batch.size;
        if (were_shared) r->count->records += o->batch.count;
    }
    agg_err err = agg_reading_give(r, runs, were_shared ? 0 : n_good);
    if (err != SHOAL_OK) return err;
    r->n_batches += n_good;
    r->count->batches += n_good;
    return n_good < n
               ? batch_failed(r, batches[n_good].err, batches[n_good].bad, batches[n_good].batch.id)
               : SHOAL_OK;
}

static agg_err take_batch(agg_reading *r)
{
    opened o;
    agg_err err = shoal_batch_peek(&o.batch, r->window.bytes + r->window.start, agg_reading_has(r));
    if (err != SHOAL_OK) return batch_failed(r, err, UINT32_MAX, NULL);
    err = agg_reading_fill(r, (size_t)o.batch.size);
    if (err != SHOAL_OK) return err;
    if (agg_reading_has(r) < o.batch.size)
        return batch_failed(r, SHOAL_ERR_TRUNCATED, UINT32_MAX, o.batch.id);
    o.bytes = r->window.bytes + r->window.start;
    open_batch(&o, r->reader->recipe->recipe);
    return give_batches(r, &o, 1, false);
}

typedef struct batch_group {
    const shoal_recipe *recipe;
    opened batches[AGG_RUNS_MAX];
    uint32_t n;
    agg_read_queue queue; // of the batches, where threads give them out
} batch_group;

static void open_part(void *context, unsigned part, unsigned n_parts)
{
    batch_group *group = context;
    for (uint32_t i = part; i < group->n; i += n_parts)
        open_batch(&group->batches[i], group->recipe);
}

// Opens batches and gives them out, up to the first that is refused. All batches before it were
// taken from the queue earlier, so they are given out too.
static void share_part(void *context, unsigned part, unsigned n_parts)
{
    batch_group *group = context;
    const agg_read_window *w = &group->queue.r->window;
    (void)n_parts;
    for (uint32_t first, end; agg_read_queue_take(&first, &end, &group->queue);) {
        const opened *last = &group->batches[end - 1];
        for (opened *o = &group->batches[first]; o <= last; o++) {
            const agg_run run = {o->batch.id, o->bytes + o->batch.header, o->batch.count,
                                 o->batch.version};
            open_batch(o, group->recipe);
            if (o->err != SHOAL_OK) agg_read_queue_stop(&group->queue);
            if (o->err != SHOAL_OK || agg_read_queue_give(&group->queue, part, &run) != SHOAL_OK)
                return;
        }
        // Dropping pages interrupts the other threads, so several batches are dropped at once.
        agg_mapped_file_drop(&w->mapped, (size_t)(group->batches[first].bytes - w->bytes),
                             (size_t)(last->bytes - w->bytes) + (size_t)last->batch.size);
    }
}

// Finds the next batches that are whole, for the threads to share: as many bytes as of lines, and a
// batch for each thread unless batches are too large. Where threads take one batch after another it
// may be as many as the span holds.
static void gather_batches(batch_group *group, const agg_reading *r)
{
    size_t taken = 0, enough = agg_share_bytes(r->n_threads) * r->n_threads,
           most = enough + GROUP_BYTES_MORE;
    uint64_t records = 0;
    for (group->n = 0; group->n < AGG_RUNS_MAX; group->n++) {
        bool is_enough = r->share != NULL ? records >= r->span : taken >= enough;
        if (is_enough && group->n % r->n_threads == 0) return;
        opened *o = &group->batches[group->n];
        o->bytes = r->window.bytes + r->window.start + taken;
        agg_err err = shoal_batch_peek(&o->batch, o->bytes, agg_reading_has(r) - taken);
        if (err != SHOAL_OK || o->batch.size > agg_reading_has(r) - taken) return;
        if (r->share != NULL ? o->batch.size > most / r->n_threads
                             : group->n > 0 && taken + o->batch.size > most)
            return;
        taken += (size_t)o->batch.size;
        records += o->batch.count;
    }
}

static agg_err take_batches(agg_reading *r)
{
    batch_group group = {.recipe = r->reader->recipe->recipe, .queue = {.r = r}};
    gather_batches(&group, r);
    if (group.n < 2) return take_batch(r);
    if (r->share == NULL) {
        agg_parallel(r->n_threads < group.n ? r->n_threads : group.n, open_part, &group);
        return give_batches(r, group.batches, group.n, false);
    }
    group.queue.n = group.n;
    group.queue.most = (uint32_t)(agg_share_bytes(r->n_threads) / group.batches[0].batch.size);
    agg_err err = agg_read_queue_run(&group.queue, r->n_threads, share_part, &group);
    if (err == SHOAL_OK) err = give_batches(r, group.batches, group.queue.n, true);
    return err == SHOAL_OK ? agg_reading_tell_barrier(r) : err;
}

agg_err agg_batch_reader_run(agg_reading *r)
{
    for (;;) {
        agg_err err = agg_reading_fill(r, SHOAL_BATCH_HEADER_V1);
        if (err != SHOAL_OK || agg_reading_has(r) == 0) return err;
        err = r->n_threads > 1 ? take_batches(r) : take_batch(r);
        if (err != SHOAL_OK) return err;
    }
}

// The largest group that gather_batches makes of batches of one size.
uint64_t agg_batch_reader_bytes(uint64_t batch_bytes, unsigned n_threads)
{
    uint64_t enough = (uint64_t)agg_share_bytes(n_threads) * n_threads,
             n = (enough - 1) / batch_bytes + 1;
    n = (n + n_threads - 1) / n_threads * n_threads;
    if (n * batch_bytes > enough + GROUP_BYTES_MORE) n = (enough + GROUP_BYTES_MORE) / batch_bytes;
    return n > 0 ? n * batch_bytes : batch_bytes;
}
