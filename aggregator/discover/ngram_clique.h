// SPDX-License-Identifier: Apache-2.0
// Cliques of a k-partite graph: one node of every part, every two joined (fanti-2016 section 4.1,
// step 7; Mirghorbani and Krokhmal 2013). Pure.
//
// A search in depth that goes on with the part that has the fewest nodes left. What is left of a
// part is a word of 64 bits; choosing a node takes away what it is not joined to, and a part
// without any ends the branch. So does evidence: an edge's deviation is how far its estimate lies
// above what is looked for, in standard errors, and sums of t deviations that are noise have
// standard deviation sqrt(t). A node whose edges to what is chosen sum to less than -cut sqrt(t),
// or a choice all of whose edges do, is left out, though every edge alone passes.
//
// Work is bounded whatever the graph: it ends at `steps_max` nodes looked at or `cliques_max`
// cliques and says so.
#ifndef NGRAM_CLIQUE_H
#define NGRAM_CLIQUE_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_CLIQUE_PARTS_MAX 32u
#define AGG_CLIQUE_NODES_MAX 64u // of one part

typedef struct agg_clique_edge {
    float share; // estimate
    float error; // its standard error; negative where there can be no edge
} agg_clique_edge;

typedef struct agg_clique_graph {
    uint32_t n_parts;
    uint32_t n_nodes[AGG_CLIQUE_PARTS_MAX];
    agg_clique_edge *edges; // of agg_clique_edge_at
} agg_clique_graph;

typedef struct agg_clique_search {
    double least;   // share that a clique's edges have
    double cut;     // edges are dropped this many standard errors below it
    double sum_cut; // sums of edges are; HUGE_VAL: no sum ends a branch
    size_t cliques_max;
    uint64_t steps_max;
} agg_clique_search;

typedef struct agg_cliques {
    uint32_t n_parts;
    size_t n, cap;
    uint8_t *nodes; // n * n_parts: node of each part
    uint64_t steps;
    int is_cut; // a limit ended the search
} agg_cliques;

// Allocates edges, none of which can be. Memory: 16 KiB a pair of parts.
agg_err agg_clique_graph_init(agg_clique_graph *graph, agg_error *error,
                              uint32_t n_parts) SHOAL_MUST_CHECK;
void agg_clique_graph_release(agg_clique_graph *graph);

// Returns: the edge of node u of part i and node v of part j, i < j.
agg_clique_edge *agg_clique_edge_at(const agg_clique_graph *graph, uint32_t i, uint32_t u,
                                    uint32_t j, uint32_t v);

// Returns: how many edges pass alone.
uint64_t agg_clique_count_edges(const agg_clique_graph *graph, const agg_clique_search *search);

// Finds all cliques, or as many as the limits let. The order is fixed by the graph.
//   cliques: written; release also on error
agg_err agg_clique_find(agg_cliques *cliques, agg_error *error, const agg_clique_graph *graph,
                        const agg_clique_search *search) SHOAL_MUST_CHECK;
void agg_cliques_release(agg_cliques *cliques);

#endif
