// SPDX-License-Identifier: Apache-2.0
// Which recipes an audit log says were forgotten, for a store that is restored from an older
// backup.
#ifndef AUDIT_FORGETS_H
#define AUDIT_FORGETS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_audit_forgets {
    char **ids; // of recipes, or their hashes, as the operator gave them
    size_t n;
} agg_audit_forgets;

// Checks the log's chain and lists what was forgotten at a time or later. The log must hold that
// time: one that begins later may lack lines.
//   since_s: seconds since 1970
//   forgets: release it, also after an error
// Returns: SHOAL_ERR_CHECKSUM for a log that is broken; SHOAL_ERR_RANGE for one that begins later
// and not with its first file.
agg_err agg_audit_find_forgets(agg_audit_forgets *forgets, agg_error *error, const char *folder,
                               int64_t since_s) SHOAL_MUST_CHECK;
void agg_audit_forgets_release(agg_audit_forgets *forgets);

#endif
