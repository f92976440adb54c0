// SPDX-License-Identifier: Apache-2.0
// The way of reports through a server as a picture and as a table of the same numbers, and the
// state of the server. Live counts: for who administers and for nobody else.
#ifndef OPERATIONS_FLOW_H
#define OPERATIONS_FLOW_H

#include "serve_request.h"

// Prints the sections.
//   stats: by the collection's number in the list
void operations_flow_put(FILE *stream, const serve_request *r, const agg_store_stats *stats);

#endif
