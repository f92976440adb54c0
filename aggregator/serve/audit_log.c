// SPDX-License-Identifier: Apache-2.0
// Writing the audit log; see audit_log.h. The thread writes; the mutex guards the queue. Only one
// thread at a time writes: the log's own, or a command's that started none.
#include "audit_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "audit_chain.h"
#include "audit_files.h"
#include "audit_line.h"

enum { GROUP_LINES = 32, STRANGERS_S = 60 };
#define GROUP_BYTES ((size_t)GROUP_LINES * AGG_AUDIT_LINE_MAX)

struct agg_audit_log {
    agg_audit_files files;
    uint64_t rotate_bytes;
    agg_audit_chain chain;
    atomic_ullong lines; // of the log, for other threads
    char *group;         // GROUP_BYTES: the lines of one write
    pthread_t thread;
    pthread_mutex_t mutex; // guards the members below
    pthread_cond_t wake;
    agg_audit_entry *first, **last;
    uint64_t strangers;     // refused since the last line about them
    time_t strangers_since; // when that line was written, on the monotonic clock
    bool has_thread, is_stopping;
    bool is_failing, cannot_rotate; // so that a failure is said once; only the writer reads them
};

static time_t now_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec;
}

// Writes lines and syncs them. On failure the file is cut back to the last line that was synced:
// nobody was answered on the strength of the lines that go.
static agg_err write_group(agg_audit_log *log, agg_error *error, size_t len,
                           const agg_audit_chain *moved)
{
    agg_err err = agg_audit_files_append(&log->files, error, log->group, len);
    if (err != SHOAL_OK) return err;
    log->chain = *moved;
    atomic_store(&log->lines, log->chain.next - 1);
    return SHOAL_OK;
}

// Begins a new file when the present one is long enough. A failure is no reason to refuse a
// question while the present file can be appended to.
static void rotate(agg_audit_log *log)
{
    agg_error error;
    if (log->files.size < log->rotate_bytes) return;
    agg_err err = agg_audit_files_next(&log->files, &error, &log->chain, now_s(CLOCK_REALTIME));
    if (err != SHOAL_OK && !log->cannot_rotate)
        fprintf(stderr, "shoal: serve: audit log: no new file: %s\n", error.text);
    log->cannot_rotate = err != SHOAL_OK;
    atomic_store(&log->lines, log->chain.next - 1);
}

// Says on standard error when the log begins to fail, and when it works again.
static void tell(agg_audit_log *log, agg_err err, const agg_error *error)
{
    if (err != SHOAL_OK && !log->is_failing)
        fprintf(stderr, "shoal: serve: audit log: %s; questions are refused\n", error->text);
    if (err == SHOAL_OK && log->is_failing)
        fputs("shoal: serve: audit log: written again\n", stderr);
    log->is_failing = err != SHOAL_OK;
}

static void write_entries(agg_audit_log *log, agg_audit_entry *list, uint64_t strangers)
{
    agg_error error = {0};
    size_t len = 0;
    agg_audit_chain moved = log->chain;
    int64_t time_s = now_s(CLOCK_REALTIME);
    if (strangers > 0) len = agg_audit_line_strangers(log->group, &moved, time_s, strangers);
    for (const agg_audit_entry *entry = list; entry != NULL; entry = entry->next)
        len += agg_audit_line_entry(log->group + len, &moved, time_s, entry);
    agg_err err = len == 0 ? SHOAL_OK : write_group(log, &error, len, &moved);
    tell(log, err, &error);
    while (list != NULL) {
        agg_audit_entry *next = list->next; // the entry may be freed by `done`
        list->done(list->context, err == SHOAL_OK);
        list = next;
    }
    if (err == SHOAL_OK) rotate(log);
}

// Takes up to a group of entries off the queue. Call with the mutex held.
static agg_audit_entry *take(agg_audit_log *log)
{
    agg_audit_entry *list = log->first, **end = &list;
    for (int i = 1; i < GROUP_LINES && *end != NULL; i++) end = &(*end)->next; // one for strangers
    log->first = *end;
    *end = NULL;
    if (log->first == NULL) log->last = &log->first;
    return list;
}

// Returns: the strangers to write a line about now, 0 for none. Call with the mutex held.
static uint64_t take_strangers(agg_audit_log *log)
{
    uint64_t n = log->strangers;
    time_t now = now_s(CLOCK_MONOTONIC);
    if (n == 0 || (!log->is_stopping && now - log->strangers_since < STRANGERS_S)) return 0;
    log->strangers = 0;
    log->strangers_since = now;
    return n;
}

static void wait_for_work(agg_audit_log *log)
{
    if (log->strangers == 0) {
        pthread_cond_wait(&log->wake, &log->mutex);
        return;
    }
    const struct timespec until = {.tv_sec = log->strangers_since + STRANGERS_S};
    (void)pthread_cond_timedwait(&log->wake, &log->mutex, &until);
}

static void *work(void *context)
{
    agg_audit_log *log = context;
    pthread_mutex_lock(&log->mutex);
    for (;;) {
        uint64_t strangers = take_strangers(log);
        agg_audit_entry *list = take(log);
        if (list != NULL || strangers > 0) {
            pthread_mutex_unlock(&log->mutex);
            write_entries(log, list, strangers);
            pthread_mutex_lock(&log->mutex);
        } else if (log->is_stopping) {
            break;
        } else {
            wait_for_work(log);
        }
    }
    pthread_mutex_unlock(&log->mutex);
    return NULL;
}

// Notes a write that the last process could not end.
static agg_err note_torn(agg_audit_log *log, agg_error *error)
{
    size_t piece = log->files.tail_len;
    if (piece == 0) return SHOAL_OK;
    agg_audit_chain moved = log->chain;
    size_t len =
        agg_audit_line_torn(log->group, &moved, now_s(CLOCK_REALTIME), piece, log->files.tail_hash);
    agg_err err = write_group(log, error, len, &moved);
    if (err == SHOAL_OK)
        fprintf(stderr,
                "shoal: serve: audit log: a write of %zu bytes was cut off; the log notes it\n",
                piece);
    return err;
}

agg_err agg_audit_log_open(agg_audit_log **log, agg_error *error, const char *folder,
                           uint64_t rotate_bytes)
{
    pthread_condattr_t monotonic;
    agg_audit_log *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->rotate_bytes = rotate_bytes;
    made->last = &made->first;
    made->strangers_since = now_s(CLOCK_MONOTONIC) - STRANGERS_S;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&made->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    made->files = AGG_AUDIT_NO_FILES;
    made->group = agg_alloc(error, GROUP_BYTES, 1);
    agg_err err = made->group == NULL ? AGG_ERR_MEMORY
                                      : agg_audit_files_open(&made->files, error, &made->chain,
                                                             folder, now_s(CLOCK_REALTIME));
    if (err == SHOAL_OK) err = note_torn(made, error);
    if (err != SHOAL_OK) {
        agg_audit_log_close(made);
        return err;
    }
    atomic_store(&made->lines, made->chain.next - 1);
    *log = made;
    return SHOAL_OK;
}

agg_err agg_audit_log_append(agg_audit_log *log, agg_error *error, const agg_audit_entry *entry)
{
    agg_audit_chain moved = log->chain;
    size_t len = agg_audit_line_entry(log->group, &moved, now_s(CLOCK_REALTIME), entry);
    agg_err err = write_group(log, error, len, &moved);
    if (err == SHOAL_OK) rotate(log);
    return err;
}

agg_err agg_audit_log_start(agg_audit_log *log, agg_error *error)
{
    if (pthread_create(&log->thread, NULL, work, log) != 0)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "cannot start the thread for the audit log");
    log->has_thread = true;
    return SHOAL_OK;
}

bool agg_audit_log_submit(agg_audit_log *log, agg_audit_entry *entry)
{
    pthread_mutex_lock(&log->mutex);
    bool is_taken = !log->is_stopping;
    if (is_taken) {
        entry->next = NULL;
        *log->last = entry;
        log->last = &entry->next;
        pthread_cond_signal(&log->wake);
    }
    pthread_mutex_unlock(&log->mutex);
    return is_taken;
}

void agg_audit_log_count_stranger(agg_audit_log *log)
{
    pthread_mutex_lock(&log->mutex);
    if (log->strangers++ == 0) pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->mutex);
}

uint64_t agg_audit_log_lines(agg_audit_log *log)
{
    return atomic_load(&log->lines);
}

void agg_audit_log_stop(agg_audit_log *log)
{
    if (log == NULL) return;
    pthread_mutex_lock(&log->mutex);
    log->is_stopping = true;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->mutex);
    if (log->has_thread) pthread_join(log->thread, NULL);
    log->has_thread = false;
}

void agg_audit_log_close(agg_audit_log *log)
{
    if (log == NULL) return;
    agg_audit_files_close(&log->files);
    pthread_mutex_destroy(&log->mutex);
    pthread_cond_destroy(&log->wake);
    free(log->group);
    free(log);
}

uint64_t agg_audit_log_memory(void)
{
    return sizeof(agg_audit_log) + GROUP_BYTES;
}
