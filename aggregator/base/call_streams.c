// SPDX-License-Identifier: Apache-2.0
// The streams of a thread; see call_streams.h.
#include "call_streams.h"

#include <stdarg.h>
#include <stddef.h>

#ifdef __wasi__
#define OF_THREAD static // WASI has one thread
#else
// In the thread's static block: read without a call of the dynamic linker. Eight bytes fit into the
// reserve that a library loaded later may use.
#define OF_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
#endif

// NULL whenever no call of the library runs on this thread.
OF_THREAD agg_call *current;

agg_call *agg_call_enter(agg_call *call)
{
    agg_call *before = current;
    current = call;
    return before;
}

agg_call *agg_call_current(void)
{
    return current;
}

FILE *agg_out(void)
{
    return current != NULL ? current->out : stdout;
}

int agg_print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vfprintf(agg_out(), format, args);
    va_end(args);
    return n;
}

FILE *agg_in(agg_error *error)
{
    if (current == NULL) return stdin;
    agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
             "a program that calls the library has no standard input for \"-\": name a file");
    return NULL;
}
