// SPDX-License-Identifier: Apache-2.0
// Where the running command writes its result and its log: the streams of the process, or those of
// a call of libshoal_aggregate.
//
// A call has streams of its own, so that commands run inside another program and several of them at
// the same time. They belong to the calling thread while the call runs; agg_parallel passes them on
// to the threads that it starts. Within a call nothing is written to the process's standard output
// and standard error, standard input is not read, nobody is asked, and no file is mapped, because
// SIGBUS would end the host.
#ifndef CALL_STREAMS_H
#define CALL_STREAMS_H

#include <stdbool.h>
#include <stdio.h>

#include "agg_error.h"
#include "log.h"

typedef struct agg_call {
    FILE *out;      // what goes to standard output; NULL where the call has none
    agg_log_fn log; // receives "COMMAND: text"; NULL: nobody
    void *log_context;
    agg_error last; // the last error that was logged; its text is empty before the first
} agg_call;

// Gives the streams of a call to this thread; NULL: those of the process, as at first.
//   call: kept until the next call of this function
// Returns: what the thread had.
agg_call *agg_call_enter(agg_call *call);

// Returns: the streams of the call that this thread runs; NULL outside of calls.
agg_call *agg_call_current(void);

// Returns: the stream of results. NULL only in a call that has none.
FILE *agg_out(void);

// Prints to agg_out(), as printf does. Returns: as printf.
int agg_print(const char *format, ...) AGG_PRINTF(1, 2);

// Returns: the stream that the file name "-" stands for; NULL within a call, with `error` filled.
FILE *agg_in(agg_error *error);

#endif
