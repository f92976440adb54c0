// SPDX-License-Identifier: Apache-2.0
// --memory: the most that a command may take at its peak. What it will take is said before it
// starts on it.
#ifndef MEMORY_OPTION_H
#define MEMORY_OPTION_H

#include <stdint.h>

#include "agg_error.h"

#define CLI_PROGRAM_BYTES ((uint64_t)9 << 20) // code, libraries, buffers of files

// Reads a number of bytes, or of KiB, MiB or GiB where K, M or G follows: 256M.
//   text: of --memory; NULL: no limit, 0
// Returns: AGG_ERR_USAGE unless it is at least a MiB.
agg_err cli_read_memory(uint64_t *limit, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Says what a command takes at its peak, in MiB and rounded up: always where there is a limit, else
// only if it is much.
//   bytes: of its data; the program itself is added here
//   limit: of --memory; 0: none
// Returns: AGG_ERR_MEMORY, saying both, where the limit is less.
agg_err cli_state_memory(agg_error *error, char *command, uint64_t bytes,
                         uint64_t limit) SHOAL_MUST_CHECK;

#endif
