// SPDX-License-Identifier: Apache-2.0
// Threads behind one function: the same work, cut in parts by the caller. Serial where there are no
// threads (WASI).
#ifndef AGG_PARALLEL_H
#define AGG_PARALLEL_H

#ifndef __wasi__
#include <pthread.h>
#include <stdbool.h>
typedef pthread_mutex_t agg_lock;
#else
typedef int agg_lock;
#endif

#define AGG_THREADS_MAX 256u

// One part of the work.
//   part: 0 .. n_parts - 1; parts must not write the same memory
typedef void (*agg_work)(void *context, unsigned part, unsigned n_parts);

// Runs work(context, part, n_threads) for every part, in parallel where it can, and returns when
// all are done.
//   n_threads: 1 .. AGG_THREADS_MAX
void agg_parallel(unsigned n_threads, agg_work work, void *context);

// A lock for what parts do write together. Returns: 0 where there is none to be had.
bool agg_lock_init(agg_lock *lock);
void agg_lock_take(agg_lock *lock);
void agg_lock_leave(agg_lock *lock);
void agg_lock_release(agg_lock *lock);

// Returns: the cores this process may use, 1 .. AGG_THREADS_MAX.
unsigned agg_parallel_cores(void);

#endif
