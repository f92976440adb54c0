// SPDX-License-Identifier: Apache-2.0
// Which collections of a server are rounds of one analysis. The recipes say so themselves: each
// names the query before it by its hash (static_analysis.h), so nothing is configured.
//
// A chain has the collections that its reader may read, and no others: what lies beyond a round
// that is not among them is not looked for. So two readers may see different chains.
#ifndef SERVE_CHAIN_H
#define SERVE_CHAIN_H

#include "serve_job.h"

#define SERVE_CHAIN_MAX 64u // rounds; the ones around the collection that is asked for
#define SERVE_CHAIN_CELLS ((uint64_t)1 << 26) // of all of them: a few seconds of work

typedef struct serve_chain {
    const serve_collection *list[SERVE_CHAIN_MAX]; // in the order of their rounds
    size_t n;                                      // 1 or more
    uint64_t cells;                                // that their reports are counted in
    size_t n_branches; // recipes that follow a round of the chain, and are not in it
    bool is_cut;       // there are more rounds than a chain holds
} serve_chain;

// Finds the rounds around a job's collection.
void serve_chain_find(serve_chain *chain, const serve_job *job);

// Returns: whether the page of a job's collection has rounds to tell: it follows a round or is
// followed by one, or finds strings in rounds.
bool serve_chain_is_told(const serve_job *job);

// Returns: the bytes that the longest chain of rounds, or the largest run, takes to be told,
// whoever asks; 0 where there is none.
uint64_t serve_chain_memory(const serve_collections *collections, unsigned n_threads);

#endif
