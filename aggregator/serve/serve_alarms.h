// SPDX-License-Identifier: Apache-2.0
// Alarms of a server's collections, for /metrics and the log: tested whenever a block has closed,
// whether anybody asks for a result or not.
//
// Two answers are watched that anybody who reads the collection could ask for: all closed blocks,
// and those that closed on the last day, where a flood is not diluted by what came before. Counts
// of a dictionary are tested in results alone.
#ifndef SERVE_ALARMS_H
#define SERVE_ALARMS_H

#include <stdio.h>

#include "collection.h"

// Tests a collection's closed blocks, if one has closed since the last call, and logs alarms that
// were not raised before. A failure is logged, and the next call tries again.
// Returns: whether blocks were tested, which takes its time.
bool serve_alarms_watch(serve_collection *collection, agg_store *store);

// Writes the metric of one collection: 1 for an alarm, 0 for a test that passed, and no line for
// what was not measured.
void serve_alarms_put(FILE *stream, const serve_collection *collection);

#endif
