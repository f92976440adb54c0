// SPDX-License-Identifier: Apache-2.0
// How a server ends: on SIGTERM or SIGINT, for which one thread waits. A second signal changes
// nothing.
#ifndef HTTP_STOP_H
#define HTTP_STOP_H

// Blocks both signals. Call before any thread starts, so that only agg_http_stop_wait receives
// them.
void agg_http_stop_block(void);

// Waits for one of the signals, and prints to stderr that the server stops.
void agg_http_stop_wait(void);

#endif
