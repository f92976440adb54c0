// SPDX-License-Identifier: Apache-2.0
// The common part of leader and helper; see dap_party.h.
#include "dap_party.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "sha256.h"

#define FORGET_AT_ONCE 4096 // rows of one transaction, so that uploads do not wait long

void agg_dap_hash(uint8_t hash[AGG_DAP_HASH], shoal_bytes body)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, body.at, body.len);
    shoal_sha256_final(hash, &sha);
}

// Hashes the parts of a task that must never change: its configuration, the collector's key, the
// verification key and the servers' noise.
static agg_err configuration_digest(uint8_t digest[32], agg_error *error, const agg_dap_vdaf *vdaf,
                                    const agg_hpke_key *collector)
{
    uint8_t bytes[SHOAL_DAP_CONFIGURATION_MAX + 128], key_digest[32];
    shoal_dap_writer w = {bytes, sizeof bytes, 0, 0};
    agg_dap_hash(key_digest, (shoal_bytes){vdaf->verify_key, sizeof vdaf->verify_key});
    shoal_dap_put_task(&w, &vdaf->task);
    shoal_dap_put_number(&w, vdaf->task.version, 1);
    shoal_dap_put_number(&w, collector->id, 1);
    shoal_dap_put(&w, collector->public_key, sizeof collector->public_key);
    shoal_dap_put(&w, key_digest, sizeof key_digest);
    shoal_dap_put_noise(&w, &vdaf->task);
    if (w.is_full) return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE);
    agg_dap_hash(digest, (shoal_bytes){bytes, w.len});
    return SHOAL_OK;
}

// Counts the reports of a task that wait.
static agg_err count_pending(agg_dap_served *task, agg_error *error, agg_dap_store *store)
{
    agg_dap_counts counts = {0};
    agg_err err = agg_dap_begin(store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_count(store, &counts, error, task->number);
    agg_dap_abandon(store); // the transaction only read
    if (err == SHOAL_OK) atomic_store(&task->pending, (long long)counts.pending);
    return err;
}

agg_err agg_dap_serve_task(agg_dap_party *party, agg_dap_served *served, agg_error *error,
                           const shoal_dap_task *task, const uint8_t seed[32])
{
    uint8_t digest[32];
    agg_err err = agg_dap_vdaf_init(&served->vdaf, error, task, seed);
    if (err == SHOAL_OK)
        err = configuration_digest(digest, error, &served->vdaf, &party->collector);
    if (err == SHOAL_OK)
        err = agg_dap_store_task(party->store, &served->number, error, task->id, digest);
    if (err == SHOAL_OK) err = count_pending(served, error, party->store);
    shoal_dap_id_to_text(served->id_text, task->id, SHOAL_DAP_TASK_ID);
    memcpy(served->name, task->info, task->info_len);
    return err;
}

agg_dap_served *agg_dap_task_by_id(const agg_dap_party *party, const uint8_t id[SHOAL_DAP_TASK_ID])
{
    for (size_t i = 0; i < party->n_tasks; i++) {
        if (memcmp(party->tasks[i].vdaf.task.id, id, SHOAL_DAP_TASK_ID) == 0)
            return &party->tasks[i];
    }
    return NULL;
}

uint32_t agg_dap_check_time(const agg_dap_served *task, uint64_t time, uint64_t now_s)
{
    const agg_dap_vdaf *vdaf = &task->vdaf;
    const shoal_dap_interval *interval = &vdaf->task.interval;
    uint64_t unit_s = vdaf->wire->times_are_seconds ? 1 : vdaf->task.time_precision_s;
    if (time > (now_s + AGG_DAP_LEEWAY_S) / unit_s) return SHOAL_DAP_REPORT_TOO_EARLY;
    if (interval->duration == 0) return 0;
    uint64_t bucket = agg_dap_bucket_of(vdaf, time);
    if (bucket < interval->start) return SHOAL_DAP_TASK_NOT_STARTED;
    return bucket - interval->start >= interval->duration ? SHOAL_DAP_TASK_EXPIRED : 0;
}

agg_err agg_dap_check_bucket(uint32_t *why, agg_dap_store *store, agg_error *error, int64_t task,
                             uint64_t bucket)
{
    uint64_t floor = 0;
    bool is_collected = false;
    agg_err err = agg_dap_floor(store, &floor, error, task);
    if (err == SHOAL_OK)
        err = agg_dap_is_collected(store, &is_collected, error, task,
                                   (shoal_dap_interval){bucket, 1});
    *why = bucket < floor ? SHOAL_DAP_REPORT_DROPPED : is_collected ? SHOAL_DAP_BATCH_COLLECTED : 0;
    return err;
}

static agg_err forget_task(agg_dap_store *store, agg_error *error, agg_dap_served *task,
                           uint64_t floor)
{
    bool is_left = true;
    uint64_t n_reports = 0;
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && is_left) {
        err = agg_dap_begin(store, error);
        if (err != SHOAL_OK) return err;
        err =
            agg_dap_forget(store, &is_left, &n_reports, error, task->number, floor, FORGET_AT_ONCE);
        err = agg_dap_end(store, error, err);
        if (err == SHOAL_OK) atomic_fetch_add(&task->refused[SHOAL_DAP_REPORT_DROPPED], n_reports);
    }
    return err;
}

agg_err agg_dap_forget_old(agg_dap_party *party, agg_error *error, uint64_t now_s)
{
    uint64_t first_s = now_s > party->keep_s ? now_s - party->keep_s : 0;
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < party->n_tasks; i++) {
        agg_dap_served *task = &party->tasks[i];
        err = forget_task(party->store, error, task, first_s / task->vdaf.task.time_precision_s);
        if (err == SHOAL_OK) err = count_pending(task, error, party->store);
    }
    return err;
}

// ---- sums ----

void agg_dap_sums_release(agg_dap_sums *sums)
{
    for (size_t i = 0; i < sums->n; i++) agg_dap_bucket_release(&sums->list[i]);
    free(sums->list);
    *sums = (agg_dap_sums){0};
}

static agg_err find_sum(agg_dap_bucket **found, agg_dap_sums *sums, agg_error *error,
                        uint64_t bucket, size_t len)
{
    for (size_t i = 0; i < sums->n; i++) {
        *found = &sums->list[i];
        if (sums->list[i].bucket == bucket) return SHOAL_OK;
    }
    agg_err err =
        agg_grow((void **)&sums->list, &sums->cap, sums->n + 1, sizeof *sums->list, error);
    if (err != SHOAL_OK) return err;
    uint8_t *share = agg_alloc(error, len, 1);
    if (share == NULL) return AGG_ERR_MEMORY;
    *found = &sums->list[sums->n++];
    **found = (agg_dap_bucket){.bucket = bucket, .share = share, .len = len};
    return SHOAL_OK;
}

agg_err agg_dap_sums_add(agg_dap_sums *sums, agg_error *error, const agg_dap_vdaf *vdaf,
                         uint64_t bucket, const uint8_t id[SHOAL_DAP_REPORT_ID],
                         const uint8_t *output_share)
{
    agg_dap_bucket *sum;
    size_t len = agg_dap_output_len(vdaf);
    agg_err err = find_sum(&sum, sums, error, bucket, len);
    if (err != SHOAL_OK) return err;
    err = shoal_prio3_add(sum->share, &vdaf->prio3, (shoal_bytes){output_share, len});
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    sum->n_reports++;
    shoal_dap_checksum_add(sum->checksum, id);
    return SHOAL_OK;
}

// Adds one bucket to another: share, count and checksum. An empty bucket takes the other's content.
static agg_err merge(agg_dap_bucket *into, agg_error *error, const agg_dap_vdaf *vdaf,
                     const agg_dap_bucket *from)
{
    size_t len = agg_dap_output_len(vdaf);
    if (into->share == NULL) {
        into->share = agg_alloc(error, len, 1);
        if (into->share == NULL) return AGG_ERR_MEMORY;
        into->len = len;
    }
    agg_err err = into->len != len ? SHOAL_ERR_TRUNCATED
                                   : shoal_prio3_add(into->share, &vdaf->prio3,
                                                     (shoal_bytes){from->share, from->len});
    if (err != SHOAL_OK)
        return agg_fail(error, err, AGG_EXIT_IO, "a kept aggregate share is damaged");
    into->n_reports += from->n_reports;
    for (size_t i = 0; i < sizeof into->checksum; i++) into->checksum[i] ^= from->checksum[i];
    return SHOAL_OK;
}

agg_err agg_dap_sums_store(const agg_dap_sums *sums, agg_dap_store *store, agg_error *error,
                           const agg_dap_served *task)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < sums->n; i++) {
        agg_dap_bucket kept;
        err = agg_dap_bucket_get(store, &kept, error, task->number, sums->list[i].bucket);
        if (err == SHOAL_OK) err = merge(&kept, error, &task->vdaf, &sums->list[i]);
        if (err == SHOAL_OK) err = agg_dap_bucket_set(store, error, task->number, &kept);
        agg_dap_bucket_release(&kept);
    }
    return err;
}

void agg_dap_batch_release(agg_dap_batch *batch)
{
    if (batch->share != NULL) wipe(batch->share, batch->len);
    free(batch->share);
    *batch = (agg_dap_batch){0};
}

agg_err agg_dap_batch_load(agg_dap_batch *batch, agg_dap_store *store, agg_error *error,
                           const agg_dap_served *task, shoal_dap_interval interval)
{
    *batch = (agg_dap_batch){0};
    agg_dap_bucket sum = {0}, next;
    uint64_t first = 0, from = interval.start;
    agg_err err = SHOAL_OK;
    for (bool is_first = true; err == SHOAL_OK; is_first = false) {
        err = agg_dap_bucket_next(store, &next, error, task->number, interval, from);
        if (err != SHOAL_OK || next.share == NULL) break;
        if (is_first) first = next.bucket;
        from = next.bucket + 1;
        err = merge(&sum, error, &task->vdaf, &next);
        agg_dap_bucket_release(&next);
    }
    if (err != SHOAL_OK) {
        agg_dap_bucket_release(&sum);
        return err;
    }
    batch->n_reports = sum.n_reports;
    memcpy(batch->checksum, sum.checksum, sizeof batch->checksum);
    if (sum.share != NULL) batch->interval = (shoal_dap_interval){first, from - first};
    batch->share = sum.share; // NULL when the batch is empty
    batch->len = sum.len;
    return SHOAL_OK;
}
