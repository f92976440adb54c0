// SPDX-License-Identifier: Apache-2.0
// Searches for cliques with bit sets; see ngram_clique.h.
#include "ngram_clique.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define PARTS AGG_CLIQUE_PARTS_MAX
#define NODES AGG_CLIQUE_NODES_MAX

agg_err agg_clique_graph_init(agg_clique_graph *graph, agg_error *error, uint32_t n_parts)
{
    size_t n_edges = (size_t)n_parts * (n_parts - 1) / 2 * NODES * NODES;
    memset(graph, 0, sizeof *graph);
    graph->n_parts = n_parts;
    graph->edges = agg_alloc(error, n_edges, sizeof *graph->edges);
    if (graph->edges == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n_edges; i++) graph->edges[i].error = -1;
    return SHOAL_OK;
}

void agg_clique_graph_release(agg_clique_graph *graph)
{
    free(graph->edges);
    memset(graph, 0, sizeof *graph);
}

agg_clique_edge *agg_clique_edge_at(const agg_clique_graph *graph, uint32_t i, uint32_t u,
                                    uint32_t j, uint32_t v)
{
    size_t pair = (size_t)i * graph->n_parts - (size_t)i * (i + 1) / 2 + (j - i - 1);
    return &graph->edges[(pair * NODES + u) * NODES + v];
}

// Returns: the edge's deviation, or -HUGE_VAL if there is no edge.
static double deviation(const agg_clique_edge *edge, const agg_clique_search *search)
{
    if (!(edge->error > 0)) return -HUGE_VAL;
    double z = ((double)edge->share - search->least) / (double)edge->error;
    return z >= -search->cut ? z : -HUGE_VAL;
}

uint64_t agg_clique_count_edges(const agg_clique_graph *graph, const agg_clique_search *search)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < graph->n_parts; i++)
        for (uint32_t j = i + 1; j < graph->n_parts; j++)
            for (uint32_t u = 0; u < graph->n_nodes[i]; u++)
                for (uint32_t v = 0; v < graph->n_nodes[j]; v++)
                    n += deviation(agg_clique_edge_at(graph, i, u, j, v), search) > -HUGE_VAL;
    return n;
}

// The remaining nodes at one depth.
typedef struct level {
    uint32_t part;           // the part whose node is being chosen
    uint64_t left[PARTS];    // nodes that can still be chosen; 0 for parts that are done
    float sum[PARTS][NODES]; // deviations of a node's edges to the chosen nodes
    double total;            // sum of deviations of all edges among the chosen nodes
} level;

typedef struct finder {
    const agg_clique_search *search;
    uint32_t n_parts;
    const uint32_t *n_nodes;
    uint64_t *joined; // [part][node][other part]
    float *z;         // [part][node][other part][other node]
    level *levels;    // n_parts + 1 levels
    uint64_t chosen;  // bit set of the chosen parts
    uint8_t nodes[PARTS];
    agg_cliques *cliques;
} finder;

static uint64_t *joined_at(const finder *f, uint32_t i, uint32_t u)
{
    return f->joined + ((size_t)i * NODES + u) * f->n_parts;
}

static float *z_at(const finder *f, uint32_t i, uint32_t u, uint32_t j)
{
    return f->z + (((size_t)i * NODES + u) * f->n_parts + j) * NODES;
}

static void set_edges(finder *f, const agg_clique_graph *graph)
{
    for (uint32_t i = 0; i < f->n_parts; i++)
        for (uint32_t j = i + 1; j < f->n_parts; j++)
            for (uint32_t u = 0; u < f->n_nodes[i]; u++)
                for (uint32_t v = 0; v < f->n_nodes[j]; v++) {
                    double z = deviation(agg_clique_edge_at(graph, i, u, j, v), f->search);
                    if (z == -HUGE_VAL) continue;
                    joined_at(f, i, u)[j] |= (uint64_t)1 << v;
                    joined_at(f, j, v)[i] |= (uint64_t)1 << u;
                    z_at(f, i, u, j)[v] = z_at(f, j, v, i)[u] = (float)z;
                }
}

static uint32_t count_bits(uint64_t x)
{
    uint32_t n = 0;
    for (; x != 0; x &= x - 1) n++;
    return n;
}

static uint32_t lowest_bit(uint64_t x)
{
    uint32_t n = 0;
    while ((x & 1) == 0) {
        x >>= 1;
        n++;
    }
    return n;
}

// Returns: the part with the fewest remaining nodes among those not chosen.
static uint32_t choose_part(const finder *f, const level *at)
{
    uint32_t best = 0, fewest = UINT32_MAX;
    for (uint32_t j = 0; j < f->n_parts; j++) {
        if (f->chosen >> j & 1) continue;
        uint32_t n = count_bits(at->left[j]);
        if (n < fewest) {
            fewest = n;
            best = j;
        }
    }
    return best;
}

// Chooses a node at a depth and writes the remaining nodes of the next depth.
// Returns: whether every part keeps at least one node.
static bool descend(finder *f, uint32_t depth, uint32_t node)
{
    const level *at = &f->levels[depth];
    level *next = &f->levels[depth + 1];
    uint32_t part = at->part;
    double cut = f->search->sum_cut, floor = -cut * sqrt((double)depth + 1);
    next->total = at->total + (double)at->sum[part][node];
    if (next->total < -cut * sqrt((double)depth * (depth + 1) / 2)) return false;
    for (uint32_t j = 0; j < f->n_parts; j++) {
        if (f->chosen >> j & 1) continue;
        const float *z = z_at(f, part, node, j);
        uint64_t left = at->left[j] & joined_at(f, part, node)[j], keep = 0;
        for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
            uint32_t v = lowest_bit(rest);
            next->sum[j][v] = at->sum[j][v] + z[v];
            if ((double)next->sum[j][v] >= floor) keep |= (uint64_t)1 << v;
        }
        f->cliques->steps += 1 + count_bits(left);
        if (keep == 0) return false;
        next->left[j] = keep;
    }
    return true;
}

static agg_err keep_clique(const finder *f, agg_error *error)
{
    agg_cliques *c = f->cliques;
    agg_err err = agg_grow((void **)&c->nodes, &c->cap, (c->n + 1) * c->n_parts, 1, error);
    if (err != SHOAL_OK) return err;
    memcpy(c->nodes + c->n++ * c->n_parts, f->nodes, c->n_parts);
    return SHOAL_OK;
}

static agg_err search_all(finder *f, agg_error *error)
{
    agg_cliques *c = f->cliques;
    uint32_t depth = 0;
    f->levels[0].part = choose_part(f, &f->levels[0]);
    for (;;) {
        level *at = &f->levels[depth];
        uint32_t part = at->part;
        f->chosen &= ~((uint64_t)1 << part);
        if (at->left[part] == 0) { // all of its nodes were tried
            if (depth == 0) return SHOAL_OK;
            depth--;
            continue;
        }
        if (c->steps >= f->search->steps_max || c->n >= f->search->cliques_max) {
            c->is_cut = true;
            return SHOAL_OK;
        }
        uint32_t node = lowest_bit(at->left[part]);
        at->left[part] &= at->left[part] - 1;
        f->nodes[part] = (uint8_t)node;
        f->chosen |= (uint64_t)1 << part;
        c->steps++;
        if (!descend(f, depth, node)) continue;
        if (depth + 1 == f->n_parts) {
            agg_err err = keep_clique(f, error);
            if (err != SHOAL_OK) return err;
            continue;
        }
        depth++;
        f->levels[depth].part = choose_part(f, &f->levels[depth]);
    }
}

agg_err agg_clique_find(agg_cliques *cliques, agg_error *error, const agg_clique_graph *graph,
                        const agg_clique_search *search)
{
    size_t n_rows = (size_t)graph->n_parts * NODES * graph->n_parts;
    finder f = {
        .search = search, .n_parts = graph->n_parts, .n_nodes = graph->n_nodes, .cliques = cliques};
    *cliques = (agg_cliques){.n_parts = graph->n_parts};
    f.joined = agg_alloc(error, n_rows, sizeof *f.joined);
    f.z = agg_alloc(error, n_rows, NODES * sizeof *f.z);
    f.levels = agg_alloc(error, graph->n_parts + 1, sizeof *f.levels);
    agg_err err = f.joined == NULL || f.z == NULL || f.levels == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        set_edges(&f, graph);
        for (uint32_t i = 0; i < graph->n_parts; i++) // up to 64 nodes of a part
            f.levels[0].left[i] =
                graph->n_nodes[i] == 0 ? 0 : UINT64_MAX >> (NODES - graph->n_nodes[i]);
        err = search_all(&f, error);
    }
    free(f.joined);
    free(f.z);
    free(f.levels);
    return err;
}

void agg_cliques_release(agg_cliques *cliques)
{
    free(cliques->nodes);
    memset(cliques, 0, sizeof *cliques);
}
