// SPDX-License-Identifier: Apache-2.0
// Signals; see http_stop.h.
#include "http_stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void ending(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
}

void agg_http_stop_block(void)
{
    sigset_t signals;
    ending(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void agg_http_stop_wait(void)
{
    sigset_t signals;
    int number;
    ending(&signals);
    sigwait(&signals, &number);
    fputs("shoal: serve: stopping\n", stderr);
}
