// SPDX-License-Identifier: Apache-2.0
// Reads how many events windows have; see window_sizes.h.
#include "window_sizes.h"

#include <stdlib.h>

// Reads one "EVENTS" or "EVENTS:WEIGHT". Returns: what follows it; NULL where it is neither.
static const char *read_size(agg_windows *w, const char *at)
{
    char *end;
    unsigned long long events = strtoull(at, &end, 10), weight = 1;
    if (end == at || *at == '-' || events < 1 || events > AGG_EVENTS_MAX) return NULL;
    if (*end == ':') {
        at = end + 1;
        weight = strtoull(at, &end, 10);
        if (end == at || *at == '-' || weight < 1 || weight > 1000000000) return NULL;
    }
    w->sizes[w->n_sizes] = (uint32_t)events;
    w->size_weights[w->n_sizes++] = weight;
    return end;
}

agg_err agg_windows_read_sizes(agg_windows *w, agg_error *error, const char *text)
{
    const char *at = text != NULL ? text : "1";
    do {
        at = w->n_sizes < AGG_WINDOW_SIZES_MAX ? read_size(w, at) : NULL;
    } while (at != NULL && *at++ == ',');
    if (at != NULL && at[-1] == '\0') return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--events of windows is a number from 1 to 1000, or at most 16 "
                    "numbers with their weights, such as 1:5,2:3,10:1");
}
