// SPDX-License-Identifier: Apache-2.0
// Paths and bundles of a log; see tlog_tile.h.
#include "tlog_tile.h"

#include <inttypes.h>
#include <stdio.h>

void agg_tlog_tile_path(char path[AGG_TLOG_PATH_MAX], int level, uint64_t index, unsigned width)
{
    unsigned groups[7];
    size_t n = 0, len = 0;
    do groups[n++] = (unsigned)(index % 1000);
    while ((index /= 1000) > 0);
    if (level == AGG_TLOG_ENTRIES)
        len = (size_t)snprintf(path, AGG_TLOG_PATH_MAX, "tile/entries");
    else
        len = (size_t)snprintf(path, AGG_TLOG_PATH_MAX, "tile/%d", level);
    while (n-- > 0)
        len += (size_t)snprintf(path + len, AGG_TLOG_PATH_MAX - len, n > 0 ? "/x%03u" : "/%03u",
                                groups[n]);
    if (width < AGG_TLOG_WIDTH) snprintf(path + len, AGG_TLOG_PATH_MAX - len, ".p/%u", width);
}

bool agg_tlog_bundle_take(const uint8_t **entry, size_t *entry_len, const uint8_t **at,
                          const uint8_t *end)
{
    if (end - *at < 2) return false;
    size_t len = (size_t)(*at)[0] << 8 | (*at)[1];
    if ((size_t)(end - *at) - 2 < len) return false;
    *entry = *at + 2;
    *entry_len = len;
    *at += 2 + len;
    return true;
}
