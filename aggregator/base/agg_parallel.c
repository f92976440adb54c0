// SPDX-License-Identifier: Apache-2.0
// POSIX threads; see agg_parallel.h.
#include "agg_parallel.h"

#ifdef __wasi__

unsigned agg_parallel_cores(void)
{
    return 1;
}

void agg_parallel(unsigned n_threads, agg_work work, void *context)
{
    for (unsigned part = 0; part < n_threads; part++) work(context, part, n_threads);
}

bool agg_lock_init(agg_lock *lock)
{
    *lock = 0;
    return true;
}

void agg_lock_take(agg_lock *lock)
{
    *lock = 1;
}

void agg_lock_leave(agg_lock *lock)
{
    *lock = 0;
}

void agg_lock_release(agg_lock *lock)
{
    *lock = 0;
}

#else

#include <locale.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "call_streams.h"

typedef struct job {
    agg_work work;
    void *context;
    unsigned part, n_parts;
    // Of the calling thread; a new thread has neither.
    agg_call *call;
    locale_t locale;
} job;

static void run_part(const job *j)
{
    j->work(j->context, j->part, j->n_parts);
}

static void *run_job(void *argument)
{
    const job *j = argument;
    agg_call_enter(j->call);
    (void)uselocale(j->locale);
    run_part(j);
    return NULL;
}

unsigned agg_parallel_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int cores = CPU_COUNT(&set);
    if (cores < 1) return 1;
    return (unsigned)cores < AGG_THREADS_MAX ? (unsigned)cores : AGG_THREADS_MAX;
}

void agg_parallel(unsigned n_threads, agg_work work, void *context)
{
    pthread_t threads[AGG_THREADS_MAX];
    job jobs[AGG_THREADS_MAX];
    unsigned started = 1;
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    if (n_threads < 2) {
        work(context, 0, 1);
        return;
    }
    for (unsigned part = 0; part < n_threads; part++)
        jobs[part] =
            (job){work, context, part, n_threads, agg_call_current(), uselocale((locale_t)0)};
    while (started < n_threads &&
           pthread_create(&threads[started], NULL, run_job, &jobs[started]) == 0)
        started++;
    // The calling thread runs the parts for which no thread could be started.
    for (unsigned part = started; part < n_threads; part++) run_part(&jobs[part]);
    run_part(&jobs[0]);
    for (unsigned part = 1; part < started; part++) pthread_join(threads[part], NULL);
}

bool agg_lock_init(agg_lock *lock)
{
    return pthread_mutex_init(lock, NULL) == 0;
}

// Locking and unlocking an initialized plain mutex cannot fail.
void agg_lock_take(agg_lock *lock)
{
    (void)pthread_mutex_lock(lock);
}

void agg_lock_leave(agg_lock *lock)
{
    (void)pthread_mutex_unlock(lock);
}

void agg_lock_release(agg_lock *lock)
{
    (void)pthread_mutex_destroy(lock);
}

#endif
