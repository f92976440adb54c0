// SPDX-License-Identifier: Apache-2.0
// How a server ends: on SIGTERM or SIGINT, for which one thread waits. A second signal changes
// nothing.
#ifndef HTTP_STOP_H
#define HTTP_STOP_H

#include <stdbool.h>

// Blocks both signals. Call before any thread starts, so that only agg_http_stop_wait receives
// them.
void agg_http_stop_block(void);

// Blocks SIGHUP, too, for servers that reload.
void agg_http_reload_block(void);

// Waits for one of the signals, and prints to stderr that the server stops.
void agg_http_stop_wait(void);

typedef enum agg_http_signal { AGG_HTTP_NO_SIGNAL, AGG_HTTP_STOP, AGG_HTTP_RELOAD } agg_http_signal;

// Waits for one of the signals or for SIGHUP. AGG_HTTP_STOP prints as above.
//   is_short: gives up after half a second
agg_http_signal agg_http_stop_next(bool is_short);

#endif
