// SPDX-License-Identifier: Apache-2.0
// Reports in the store; see dap_store_reports.h.
#include "dap_store_reports.h"

#include <stdlib.h>

#include "agg_size.h"
#include "dap_store_statements.h"

// ---- report ids ----

agg_err agg_dap_is_known(agg_dap_store *store, bool *is_known, agg_error *error, int64_t task,
                         const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    uint64_t found = 0;
    sqlite3_stmt *find = agg_database_bind(&store->database, DAP_KNOWN_FIND, &task, 1);
    agg_statement_bind_bytes(find, 2, id, SHOAL_DAP_REPORT_ID);
    agg_err err = agg_dap_read_count(store, &found, error, find, "look for a report's id");
    if (err == SHOAL_OK) *is_known = found != 0;
    return err;
}

agg_err agg_dap_know(agg_dap_store *store, agg_error *error, int64_t task,
                     const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket)
{
    sqlite3_stmt *add = agg_database_bind(&store->database, DAP_KNOWN_ADD, &task, 1);
    agg_statement_bind_bytes(add, 2, id, SHOAL_DAP_REPORT_ID);
    sqlite3_bind_int64(add, 3, (int64_t)bucket);
    return agg_database_run(&store->database, error, add, "enter a report's id");
}

// ---- waiting reports ----

void agg_dap_pendings_release(agg_dap_pendings *pendings)
{
    for (size_t i = 0; i < pendings->n; i++) free(pendings->list[i].body);
    free(pendings->list);
    *pendings = (agg_dap_pendings){0};
}

agg_err agg_dap_report_add(agg_dap_store *store, agg_error *error, int64_t task,
                           const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket, shoal_bytes body)
{
    sqlite3_stmt *add = agg_database_bind(&store->database, DAP_REPORT_ADD, &task, 1);
    agg_statement_bind_bytes(add, 2, id, SHOAL_DAP_REPORT_ID);
    sqlite3_bind_int64(add, 3, (int64_t)bucket);
    agg_statement_bind_bytes(add, 4, body.at, body.len);
    return agg_database_run(&store->database, error, add, "keep a report");
}

agg_err agg_dap_report_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    sqlite3_stmt *remove = agg_database_bind(&store->database, DAP_REPORT_REMOVE, &task, 1);
    agg_statement_bind_bytes(remove, 2, id, SHOAL_DAP_REPORT_ID);
    return agg_database_run(&store->database, error, remove, "remove a report");
}

agg_err agg_dap_report_remove_all(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                                  shoal_dap_interval interval)
{
    agg_err err = agg_database_run(
        &store->database, error,
        agg_dap_bind_interval(store, DAP_REPORT_REMOVE_ALL, task, interval), "remove reports");
    if (err == SHOAL_OK) *n = (uint64_t)sqlite3_changes(store->database.db);
    return err;
}

// Appends the current row: id, bucket, body.
static agg_err append_report(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                             sqlite3_stmt *statement)
{
    agg_err err = agg_grow((void **)&out->list, &out->cap, out->n + 1, sizeof *out->list, error);
    if (err != SHOAL_OK) return err;
    agg_dap_pending *one = &out->list[out->n];
    *one = (agg_dap_pending){.bucket = (uint64_t)sqlite3_column_int64(statement, 1)};
    err = agg_database_copy_exactly(&store->database, one->id, sizeof one->id, error, statement, 0);
    if (err == SHOAL_OK) err = agg_statement_copy(&one->body, &one->len, error, statement, 2);
    if (err == SHOAL_OK) out->n++;
    return err;
}

agg_err agg_dap_report_find(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    bool is_row = false;
    sqlite3_stmt *find = agg_database_bind(&store->database, DAP_REPORT_FIND, &task, 1);
    agg_statement_bind_bytes(find, 2, id, SHOAL_DAP_REPORT_ID);
    agg_err err = agg_database_step(&store->database, &is_row, error, find, "find a report");
    if (err == SHOAL_OK && is_row) err = append_report(store, out, error, find);
    agg_statement_end(find);
    return err;
}

agg_err agg_dap_report_next(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, size_t max_n, size_t max_len)
{
    bool is_row = true;
    size_t len = 0;
    agg_err err = SHOAL_OK;
    sqlite3_stmt *next = agg_database_bind(&store->database, DAP_REPORT_NEXT, &task, 1);
    while (err == SHOAL_OK && out->n < max_n) {
        err = agg_database_step(&store->database, &is_row, error, next, "read reports");
        if (err != SHOAL_OK || !is_row) break;
        len += (size_t)sqlite3_column_bytes(next, 2);
        if (out->n > 0 && len > max_len) break;
        err = append_report(store, out, error, next);
    }
    agg_statement_end(next);
    return err;
}

agg_err agg_dap_report_count(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                             shoal_dap_interval interval, uint64_t most)
{
    sqlite3_stmt *count = agg_dap_bind_interval(store, DAP_REPORT_COUNT, task, interval);
    sqlite3_bind_int64(count, 4, agg_dap_column_of(most));
    return agg_dap_read_count(store, n, error, count, "count reports");
}

// ---- the leader's job ----

void agg_dap_job_release(agg_dap_job *job)
{
    free(job->ids);
    free(job->request);
    *job = (agg_dap_job){0};
}

agg_err agg_dap_job_get(agg_dap_store *store, agg_dap_job *job, agg_error *error, int64_t task)
{
    bool is_row = false;
    size_t ids_len = 0;
    *job = (agg_dap_job){0};
    sqlite3_stmt *get = agg_database_bind(&store->database, DAP_JOB_GET, &task, 1);
    agg_err err = agg_database_step(&store->database, &is_row, error, get, "read the job");
    if (err == SHOAL_OK && is_row) err = agg_statement_copy(&job->ids, &ids_len, error, get, 0);
    if (err == SHOAL_OK && is_row)
        err = agg_statement_copy(&job->request, &job->len, error, get, 1);
    agg_statement_end(get);
    job->n = ids_len / SHOAL_DAP_REPORT_ID;
    if (err != SHOAL_OK) agg_dap_job_release(job);
    return err;
}

agg_err agg_dap_job_set(agg_dap_store *store, agg_error *error, int64_t task,
                        const agg_dap_job *job)
{
    sqlite3_stmt *set = agg_database_bind(&store->database, DAP_JOB_SET, &task, 1);
    agg_statement_bind_bytes(set, 2, job->ids, job->n * SHOAL_DAP_REPORT_ID);
    agg_statement_bind_bytes(set, 3, job->request, job->len);
    return agg_database_run(&store->database, error, set, "keep the job");
}

agg_err agg_dap_job_remove(agg_dap_store *store, agg_error *error, int64_t task)
{
    return agg_database_run(&store->database, error,
                            agg_database_bind(&store->database, DAP_JOB_REMOVE, &task, 1),
                            "remove the job");
}
