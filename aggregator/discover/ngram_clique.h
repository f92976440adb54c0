// SPDX-License-Identifier: Apache-2.0
// Cliques of a k-partite graph: one node of every part, every two joined (fanti-2016 section 4.1,
// step 7; Mirghorbani and Krokhmal 2013). Pure.
//
// The search is depth-first and goes on with the part that has the fewest nodes left. The remaining
// nodes of a part are a 64-bit word. Choosing a node removes the nodes that it is not joined to,
// and a part without any node ends the branch.
//
// Weak evidence ends a branch as well. An edge's deviation is the distance of its estimate above
// the least share, in standard errors. Sums of t deviations that are noise have standard deviation
// sqrt(t). A node is left out if its edges to the chosen nodes sum to less than -cut sqrt(t). A
// choice is left out if all of its edges do. Each of these edges may pass alone.
//
// The work is bounded whatever the graph. The search ends at `steps_max` examined nodes or
// `cliques_max` cliques and sets is_cut.
#ifndef NGRAM_CLIQUE_H
#define NGRAM_CLIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_CLIQUE_PARTS_MAX 32u
#define AGG_CLIQUE_NODES_MAX 64u // nodes of one part

typedef struct agg_clique_edge {
    float share; // estimated share
    float error; // its standard error; negative if there can be no edge
} agg_clique_edge;

typedef struct agg_clique_graph {
    uint32_t n_parts;
    uint32_t n_nodes[AGG_CLIQUE_PARTS_MAX];
    agg_clique_edge *edges; // indexed by agg_clique_edge_at
} agg_clique_graph;

typedef struct agg_clique_search {
    double least;   // least share of a clique's edges
    double cut;     // an edge is dropped this many standard errors below it
    double sum_cut; // the same for sums of edges; HUGE_VAL: no sum ends a branch
    size_t cliques_max;
    uint64_t steps_max;
} agg_clique_search;

typedef struct agg_cliques {
    uint32_t n_parts;
    size_t n, cap;
    uint8_t *nodes; // n * n_parts: node of each part
    uint64_t steps;
    bool is_cut; // a limit ended the search
} agg_cliques;

// Allocates the edges, all of them absent.
// Memory: 16 KiB for each pair of parts.
agg_err agg_clique_graph_init(agg_clique_graph *graph, agg_error *error,
                              uint32_t n_parts) SHOAL_MUST_CHECK;
void agg_clique_graph_release(agg_clique_graph *graph);

// Returns: the edge of node u of part i and node v of part j, i < j.
agg_clique_edge *agg_clique_edge_at(const agg_clique_graph *graph, uint32_t i, uint32_t u,
                                    uint32_t j, uint32_t v);

// Returns: how many edges pass by themselves.
uint64_t agg_clique_count_edges(const agg_clique_graph *graph, const agg_clique_search *search);

// Finds all cliques, or as many as the limits allow. The order is fixed by the graph.
//   cliques: written; release also on error
agg_err agg_clique_find(agg_cliques *cliques, agg_error *error, const agg_clique_graph *graph,
                        const agg_clique_search *search) SHOAL_MUST_CHECK;
void agg_cliques_release(agg_cliques *cliques);

#endif
