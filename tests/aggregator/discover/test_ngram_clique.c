// SPDX-License-Identifier: Apache-2.0
// Cliques against a search of every choice, on random graphs; evidence that ends a branch; graphs
// made to be hard.
#include "agg_test.h"

#include <math.h>

#include "ngram_clique.h"
#include "rng.h"

// A graph with edges of that chance, and deviations above or far below.
static void random_graph(agg_clique_graph *graph, shoal_rng *rng, uint32_t n_parts,
                         uint32_t nodes_max, uint64_t percent)
{
    agg_error error;
    assert_ok(agg_clique_graph_init(graph, &error, n_parts));
    for (uint32_t i = 0; i < n_parts; i++)
        graph->n_nodes[i] = 1 + (uint32_t)shoal_rng_below(rng, nodes_max);
    for (uint32_t i = 0; i < n_parts; i++)
        for (uint32_t j = i + 1; j < n_parts; j++)
            for (uint32_t u = 0; u < graph->n_nodes[i]; u++)
                for (uint32_t v = 0; v < graph->n_nodes[j]; v++) {
                    uint64_t draw = shoal_rng_below(rng, 100);
                    if (draw == 0) continue; // can never be
                    *agg_clique_edge_at(graph, i, u, j, v) = draw <= percent
                                                                 ? (agg_clique_edge){0.1F, 0.1F}
                                                                 : (agg_clique_edge){-0.5F, 0.1F};
                }
}

REFERENCE static int is_joined(const agg_clique_graph *g, uint32_t i, uint32_t u, uint32_t j,
                               uint32_t v)
{
    const agg_clique_edge *edge = agg_clique_edge_at(g, i, u, j, v);
    return edge->error > 0 && edge->share > 0;
}

// Every choice of one node a part, counted up like a number. Returns: how many are cliques; each
// must be among those found.
REFERENCE static size_t brute_force(const agg_clique_graph *g, const agg_cliques *found)
{
    uint8_t nodes[AGG_CLIQUE_PARTS_MAX] = {0};
    size_t n = 0;
    for (;;) {
        int is_clique = 1;
        for (uint32_t i = 0; i < g->n_parts; i++)
            for (uint32_t j = i + 1; j < g->n_parts; j++)
                is_clique = is_clique && is_joined(g, i, nodes[i], j, nodes[j]);
        if (is_clique) {
            size_t at = 0;
            while (at < found->n && memcmp(found->nodes + at * g->n_parts, nodes, g->n_parts) != 0)
                at++;
            assert_true(at < found->n);
            n++;
        }
        uint32_t digit = 0;
        while (digit < g->n_parts && ++nodes[digit] == g->n_nodes[digit]) nodes[digit++] = 0;
        if (digit == g->n_parts) return n;
    }
}

static void all_cliques_are_found(void **state)
{
    static const uint8_t seed[32] = {1};
    const agg_clique_search search = {0.05, 2, HUGE_VAL, SIZE_MAX, UINT64_MAX};
    shoal_rng rng;
    size_t total = 0;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (int run = 0; run < 30; run++) {
        agg_clique_graph graph;
        agg_cliques found;
        agg_error error;
        uint32_t n_parts = 2 + (uint32_t)shoal_rng_below(&rng, 5);
        random_graph(&graph, &rng, n_parts, n_parts < 4 ? 64 : 7, 30 + shoal_rng_below(&rng, 60));
        assert_ok(agg_clique_find(&found, &error, &graph, &search));
        assert_false(found.is_cut);
        assert_int_equal(brute_force(&graph, &found), found.n);
        total += found.n;
        agg_cliques_release(&found);
        agg_clique_graph_release(&graph);
    }
    assert_true(total > 500);
}

// Each edge alone passes at two errors below, but nine such edges of one node do not, nor do all of
// a clique that is a little low everywhere; a clique that is looked for passes with edges off by as
// much as an error either way.
static void sums_of_edges_end_branches(void **state)
{
    enum { PARTS = 10 };
    const agg_clique_search search = {0.1, 3, 3, SIZE_MAX, UINT64_MAX};
    agg_clique_graph graph;
    agg_cliques found;
    agg_error error;
    (void)state;
    for (int what = 0; what < 3; what++) {
        assert_ok(agg_clique_graph_init(&graph, &error, PARTS));
        for (uint32_t i = 0; i < PARTS; i++) graph.n_nodes[i] = 1;
        for (uint32_t i = 0; i < PARTS; i++)
            for (uint32_t j = i + 1; j < PARTS; j++) {
                float z = (i + j) % 2 == 0 ? 1.0F : -1.0F;
                if (what == 1) z = -0.5F; // 45 edges: -22.5 against -3 sqrt(45) = -20.1
                if (what == 2 && (i == 4 || j == 4)) z = -2; // 9 edges: -18 against -3 sqrt(9)
                *agg_clique_edge_at(&graph, i, 0, j, 0) =
                    (agg_clique_edge){0.1F + 0.01F * z, 0.01F};
            }
        assert_int_equal(agg_clique_count_edges(&graph, &search), PARTS * (PARTS - 1) / 2);
        assert_ok(agg_clique_find(&found, &error, &graph, &search));
        assert_int_equal(found.n, what == 0 ? 1 : 0);
        agg_cliques_release(&found);
        agg_clique_graph_release(&graph);
    }
}

static void hard_graphs_end(void **state)
{
    static const uint8_t seed[32] = {2};
    const agg_clique_search search = {0.05, 2, HUGE_VAL, 10000, 300000};
    shoal_rng rng;
    agg_error error;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (int what = 0; what < 3;
         what++) { // everything joined; nothing; so much that branches are deep and few end well
        agg_clique_graph graph;
        agg_cliques found;
        static const uint64_t percents[] = {99, 0, 60};
        random_graph(&graph, &rng, AGG_CLIQUE_PARTS_MAX, 1, percents[what]);
        agg_clique_graph_release(&graph);
        assert_ok(agg_clique_graph_init(&graph, &error, AGG_CLIQUE_PARTS_MAX));
        for (uint32_t i = 0; i < AGG_CLIQUE_PARTS_MAX; i++) graph.n_nodes[i] = AGG_CLIQUE_NODES_MAX;
        for (uint32_t i = 0; i < AGG_CLIQUE_PARTS_MAX; i++)
            for (uint32_t j = i + 1; j < AGG_CLIQUE_PARTS_MAX; j++)
                for (uint32_t u = 0; u < AGG_CLIQUE_NODES_MAX; u++)
                    for (uint32_t v = 0; v < AGG_CLIQUE_NODES_MAX; v++)
                        if (what == 0 || (what == 2 && shoal_rng_below(&rng, 100) < percents[what]))
                            *agg_clique_edge_at(&graph, i, u, j, v) = (agg_clique_edge){0.1F, 0.1F};
        assert_ok(agg_clique_find(&found, &error, &graph, &search));
        assert_int_equal(found.is_cut, what != 1);
        assert_int_equal(found.n, what == 0 ? 10000 : found.n);
        if (what == 1) assert_int_equal(found.n, 0);
        // One node may look at all that is left: 31 parts of 64.
        assert_true(found.steps <
                    search.steps_max + AGG_CLIQUE_PARTS_MAX * (AGG_CLIQUE_NODES_MAX + 1));
        agg_cliques_release(&found);
        agg_clique_graph_release(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_cliques_are_found),
                                       cmocka_unit_test(sums_of_edges_end_branches),
                                       cmocka_unit_test(hard_graphs_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
