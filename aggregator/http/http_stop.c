// SPDX-License-Identifier: Apache-2.0
// Signals; see http_stop.h.
#include "http_stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

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

void agg_http_reload_block(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

agg_http_signal agg_http_stop_next(bool is_short)
{
    const struct timespec half = {.tv_nsec = 500000000};
    sigset_t signals;
    ending(&signals);
    sigaddset(&signals, SIGHUP);
    int number = is_short ? sigtimedwait(&signals, NULL, &half) : sigwaitinfo(&signals, NULL);
    if (number < 0) return AGG_HTTP_NO_SIGNAL; // the half second is over
    if (number == SIGHUP) return AGG_HTTP_RELOAD;
    fputs("shoal: serve: stopping\n", stderr);
    return AGG_HTTP_STOP;
}

void agg_http_stop_wait(void)
{
    sigset_t signals;
    int number;
    ending(&signals);
    sigwait(&signals, &number);
    fputs("shoal: serve: stopping\n", stderr);
}
