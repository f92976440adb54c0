// SPDX-License-Identifier: Apache-2.0
// The option --memory: the most memory that a command may take at its peak. A command says how much
// it will take before it starts.
#ifndef MEMORY_OPTION_H
#define MEMORY_OPTION_H

#include <stdint.h>

#include "agg_error.h"

#define CLI_PROGRAM_BYTES ((uint64_t)9 << 20) // code, libraries and file buffers

// Reads the value of --memory: a number of bytes, or of KiB, MiB or GiB if K, M or G follows, as in
// 256M.
//   limit: bytes; 0 if there is no limit
//   text: NULL if the option is absent
// Returns: AGG_ERR_USAGE unless the value is at least 1 MiB.
agg_err cli_read_memory(uint64_t *limit, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Logs the memory that a command takes at its peak, in MiB and rounded up. Without a limit it does
// so only from 64 MiB.
//   bytes: of the command's data; CLI_PROGRAM_BYTES are added here
//   limit: bytes; 0 if there is none
// Returns: AGG_ERR_MEMORY, naming both figures, if the command takes more than the limit.
agg_err cli_state_memory(agg_error *error, char *command, uint64_t bytes,
                         uint64_t limit) SHOAL_MUST_CHECK;

#endif
