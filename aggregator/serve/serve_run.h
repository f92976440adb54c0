// SPDX-License-Identifier: Apache-2.0
// A server from its configuration to its end: opens the store, starts folding, results and HTTP,
// and stops them in the reverse order on SIGTERM or SIGINT. A second signal changes nothing, and
// kill -9 loses nothing that was acknowledged. SIGHUP reloads the configuration (serve_reload.h).
#ifndef SERVE_RUN_H
#define SERVE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"

// Runs a server until it is told to stop.
//   path: the configuration file
//   memory_limit: bytes, 0: no limit
//   is_watched: reload the configuration when its files change, not on SIGHUP alone
agg_err serve_run(agg_error *error, const char *path, uint64_t memory_limit,
                  bool is_watched) SHOAL_MUST_CHECK;

// Opens everything that the configuration names as a start does, looks for damage in the whole
// store, and returns.
//   store: a folder to take in place of the configuration's store and audit log; NULL: that store
agg_err serve_run_check(agg_error *error, const char *path, uint64_t memory_limit,
                        const char *store) SHOAL_MUST_CHECK;

// Returns: the bytes of a limit that remain for data after the program's own; 0 for no limit, 1
// when none remain.
uint64_t serve_data_limit(uint64_t memory_limit);

#endif
