// SPDX-License-Identifier: Apache-2.0
// How a server ends: on SIGTERM or SIGINT, which one thread waits for; a second signal changes
// nothing.
#ifndef HTTP_STOP_H
#define HTTP_STOP_H

// Blocks the signals before any thread starts, so that only agg_http_stop_wait sees them.
void agg_http_stop_block(void);

// Waits for one of them, and tells on stderr.
void agg_http_stop_wait(void);

#endif
