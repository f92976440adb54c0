// SPDX-License-Identifier: Apache-2.0
// Secrets and public seeds of a new installation: 32 bytes each, from the system, or derived from a
// test's seed and the name of the file that they are for.
#ifndef INIT_RANDOM_H
#define INIT_RANDOM_H

#include "agg_error.h"

#define INIT_HEX 65u

// Writes 64 hex digits and a NUL.
//   seed: of a test, or NULL. Who knows it knows what follows from it.
//   name: tells the secrets of one seed apart
// Returns: AGG_ERR_IO if the system gives no random bytes.
agg_err init_random(char hex[INIT_HEX], agg_error *error, const char *seed,
                    const char *name) SHOAL_MUST_CHECK;

#endif
