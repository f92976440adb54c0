// SPDX-License-Identifier: Apache-2.0
// `shoal serve --check`: reads everything that a configuration names and reports every problem, not
// only the first. It opens no port, and where there is no store yet it makes none.
#ifndef SERVE_CHECK_H
#define SERVE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "check_report.h"

// What a check knows of the folder of a store.
typedef enum serve_store_state {
    SERVE_STORE_HERE,    // and free: it can be opened
    SERVE_STORE_MISSING, // a start would make it
    SERVE_STORE_HELD,    // a server is running on it
    SERVE_STORE_WRONG    // a problem was reported
} serve_store_state;

// Looks at the folder of a store without opening it, and reports what is wrong.
serve_store_state serve_check_store_folder(agg_check_report *report, const char *folder);

// Makes an empty folder for a store that is needed for a moment only, and removes it with all that
// is in it.
//   path: room for SERVE_SPARE_SIZE bytes
#define SERVE_SPARE_SIZE 64
agg_err serve_spare_make(char path[SERVE_SPARE_SIZE], agg_error *error) SHOAL_MUST_CHECK;
void serve_spare_remove(const char *path);

// Notes a file of secrets that others than its owner may read.
void serve_check_mode(agg_check_report *report, const char *path);

// Checks a configuration and fills the report.
//   memory_limit: bytes, 0: no limit
//   exit_code: set where the store itself is damaged, to the code that tells so
void serve_check(agg_check_report *report, const char *path, uint64_t memory_limit, int *exit_code);

#endif
