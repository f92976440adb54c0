// SPDX-License-Identifier: Apache-2.0
// How a server ends: on SIGTERM or SIGINT, which one thread waits for; a second signal changes
// nothing.
#ifndef SERVE_STOP_H
#define SERVE_STOP_H

// Blocks the signals before any thread starts, so that only serve_stop_wait sees them.
void serve_stop_block(void);

// Waits for one of them, and tells on stderr.
void serve_stop_wait(void);

#endif
