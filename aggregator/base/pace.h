// SPDX-License-Identifier: Apache-2.0
// How fast long reading in the background may go, and when it must end.
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct agg_pace {
    // Is told of each piece that was read, and may sleep.
    //   bytes: of the piece; 0 where sleeping would hold others up
    // Returns: false when the work must end now.
    bool (*go_on)(void *context, size_t bytes);
    void *context;
} agg_pace;

// Returns: whether the work may go on.
//   pace: NULL for work that nobody slows or ends
static inline bool agg_pace_go_on(const agg_pace *pace, size_t bytes)
{
    return pace == NULL || pace->go_on(pace->context, bytes);
}

#endif
