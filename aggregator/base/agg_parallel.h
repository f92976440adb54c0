// SPDX-License-Identifier: Apache-2.0
// Runs one function on several threads, each with its part of the work. Under WASI, which has no
// threads, the parts run one after another.
#ifndef AGG_PARALLEL_H
#define AGG_PARALLEL_H

#include <stdbool.h>

#ifndef __wasi__
#include <pthread.h>
typedef pthread_mutex_t agg_lock;
#else
typedef int agg_lock;
#endif

#define AGG_THREADS_MAX 256u

// Does one part of the work.
//   part: 0 .. n_parts - 1; two parts must not write the same memory
typedef void (*agg_work)(void *context, unsigned part, unsigned n_parts);

// Runs work(context, part, n_threads) for every part, in parallel if possible, and returns when all
// parts are done. The threads have the streams (call_streams.h) and the locale of the caller.
//   n_threads: 1 .. AGG_THREADS_MAX
void agg_parallel(unsigned n_threads, agg_work work, void *context);

// Initializes a lock for data that several parts write.
// Returns: false on failure.
bool agg_lock_init(agg_lock *lock);
void agg_lock_take(agg_lock *lock);
void agg_lock_leave(agg_lock *lock);
void agg_lock_release(agg_lock *lock);

// Returns: the number of cores that this process may use, 1 .. AGG_THREADS_MAX.
unsigned agg_parallel_cores(void);

#endif
