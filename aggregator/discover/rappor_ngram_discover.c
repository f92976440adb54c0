// SPDX-License-Identifier: Apache-2.0
// Finds strings in reports of two n-grams and the whole string (fanti-2016 section 4). The steps
// are: significant n-grams of every position, the joint shares of every two positions, cliques of
// n-grams that occur together, and a test of every clique's string. The test uses the part that
// holds whole strings.
//
// This file departs from the paper in how it drops edges. The paper keeps an edge whose estimate is
// above a threshold, which loses nearly every string with 45 pairs of noisy estimates. Here an edge
// is dropped only when it is surely too weak: more than CUT standard errors below the share
// `least`. Sums of edges are treated the same way (ngram_clique.h). `least` is the smallest share
// that the test of whole strings could confirm. It grows while there are more cliques than
// CANDIDATES, and a note tells what is given up.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "discoverer.h"
#include "ngram_clique.h"
#include "ngram_joint.h"
#include "ngram_nodes.h"
#include "ngram_plan.h"
#include "ngram_strings.h"
#include "normal_law.h"
#include "rappor.h"
#include "rappor_ngram.h"
#include "recipe.h"

#define CUT 3.0
#define CANDIDATES ((size_t)1 << 22)  // strings that are tested
#define HASHES ((size_t)1 << 28)      // their hashes in one pass
#define STEPS ((uint64_t)1 << 26)     // steps of one search
#define RISE 1.25                     // factor of `least` from one search to the next
#define PAIR_BYTES ((size_t)64 << 20) // bytes of the likelihoods of one pair
#define TESTS_EXPECTED 1000.0 // number of candidates that the smallest share is computed for
#define POSITIONS AGG_CLIQUE_PARTS_MAX

// The places of two n-grams of one record.
typedef struct together {
    uint32_t record;
    uint8_t first, second; // parts, in order of their positions
} together;

typedef struct decoder {
    agg_discovery *discovery;
    const agg_discover_round *round;
    const shoal_recipe *recipe;
    unsigned n_threads;
    uint32_t n_positions, n_pairs;
    agg_ngram_nodes nodes[POSITIONS];
    agg_err node_errs[POSITIONS];
    agg_error node_errors[POSITIONS];
    size_t *starts; // start of each pair in `all`, n_pairs + 1
    together *all;
    agg_clique_graph graph;
    agg_err *pair_errs;
    agg_joint_summary *summaries;
    size_t *skipped; // records of a pair that were not used
} decoder;

static void find_nodes(void *context, unsigned part, unsigned n_parts)
{
    decoder *d = context;
    for (uint32_t i = part; i < d->n_positions; i += n_parts)
        d->node_errs[i] =
            agg_ngram_nodes_find(&d->nodes[i], &d->node_errors[i], d->recipe, d->round->acc, i);
}

static agg_err find_all_nodes(decoder *d, agg_error *error)
{
    char list[AGG_DISCOVERY_NOTE_MAX / 2];
    size_t len = 0, lost = 0;
    agg_parallel(d->n_threads < d->n_positions ? d->n_threads : d->n_positions, find_nodes, d);
    for (uint32_t i = 0; i < d->n_positions; i++) {
        if (d->node_errs[i] != SHOAL_OK) {
            *error = d->node_errors[i];
            return d->node_errs[i];
        }
        lost += d->nodes[i].n_significant - d->nodes[i].n;
        if (len < sizeof list)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%u", i == 0 ? "" : ", ",
                                    d->nodes[i].n);
    }
    agg_discovery_note(d->discovery,
                       "%u positions, %zu candidates at the first; significant n-grams: %s",
                       d->n_positions, d->nodes[0].n_candidates, list);
    if (lost > 0)
        agg_discovery_cut(d->discovery,
                          "%zu significant n-grams, the weakest of positions with more than %u",
                          lost, AGG_NGRAM_NODES_MAX);
    return SHOAL_OK;
}

// Returns: the index of the pair of positions i < j.
static uint32_t pair_of(const decoder *d, uint32_t i, uint32_t j)
{
    return i * d->n_positions - i * (i + 1) / 2 + (j - i - 1);
}

static uint32_t part_position(const decoder *d, const uint8_t *record, uint32_t part)
{
    return load32_le(record + part * d->recipe->parts[0].record_size) / d->recipe->cohorts;
}

// Visits each pair of n-grams of a record at two positions. A forged record may name a position
// twice; that pair carries no information and is skipped.
static void each_pair(decoder *d, uint32_t record, size_t *at)
{
    const uint8_t *bytes = agg_record_set_at(&d->round->acc->set, record);
    for (uint32_t x = 0; x < d->recipe->grams; x++)
        for (uint32_t y = x + 1; y < d->recipe->grams; y++) {
            uint32_t i = part_position(d, bytes, x), j = part_position(d, bytes, y);
            if (i == j) continue;
            size_t *place = &at[i < j ? pair_of(d, i, j) : pair_of(d, j, i)];
            if (d->all != NULL)
                d->all[*place] =
                    (together){record, (uint8_t)(i < j ? x : y), (uint8_t)(i < j ? y : x)};
            ++*place;
        }
}

// Sorts the records by the pairs of positions that they cover.
static agg_err group(decoder *d, agg_error *error)
{
    const agg_record_set *set = &d->round->acc->set;
    d->starts = agg_alloc(error, (size_t)d->n_pairs + 1, sizeof *d->starts);
    size_t *at = agg_alloc(error, d->n_pairs, sizeof *at), sum = 0;
    agg_err err = d->starts == NULL || at == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (uint32_t r = 0; err == SHOAL_OK && r < set->n_distinct; r++) each_pair(d, r, at);
    for (uint32_t pair = 0; err == SHOAL_OK && pair < d->n_pairs; pair++) {
        d->starts[pair] = sum;
        sum += at[pair];
        at[pair] = d->starts[pair];
        d->starts[pair + 1] = sum;
    }
    if (err == SHOAL_OK && (d->all = agg_alloc(error, sum, sizeof *d->all)) == NULL)
        err = AGG_ERR_MEMORY;
    for (uint32_t r = 0; err == SHOAL_OK && r < set->n_distinct; r++) each_pair(d, r, at);
    free(at);
    return err;
}

// Returns: whether v can follow u, because padding is only at the end.
static bool can_follow(const decoder *d, const uint8_t *u, const uint8_t *v)
{
    return u[d->recipe->n_gram - 1] != SHOAL_NGRAM_PAD || v[0] == SHOAL_NGRAM_PAD;
}

static void set_edges(decoder *d, uint32_t i, uint32_t j, const agg_joint_cell *cells)
{
    const agg_ngram_nodes *a = &d->nodes[i], *b = &d->nodes[j];
    for (uint32_t u = 0; u < a->n; u++)
        for (uint32_t v = 0; v < b->n; v++) {
            const agg_joint_cell *cell = &cells[(size_t)u * (b->n + 1) + v];
            if (!can_follow(d, a->grams[u], b->grams[v])) continue;
            *agg_clique_edge_at(&d->graph, i, u, j, v) =
                (agg_clique_edge){(float)cell->share, (float)cell->error};
        }
}

// Computes the likelihoods of a pair's reports. If all of them would take too much memory, only
// every second, third, ... report is used.
static agg_err read_pair(agg_joint_reports *reports, size_t *skipped, agg_error *error,
                         const decoder *d, uint32_t i, uint32_t j, float **likelihoods,
                         uint32_t **weights)
{
    const agg_ngram_nodes *a = &d->nodes[i], *b = &d->nodes[j];
    uint32_t pair = pair_of(d, i, j), size = d->recipe->parts[0].record_size,
             width = a->n + b->n + 2;
    size_t first = d->starts[pair], n = d->starts[pair + 1] - first,
           most = PAIR_BYTES / (width * sizeof(float));
    size_t stride = n > most ? (n + most - 1) / most : 1;
    *skipped = n;
    n = (n + stride - 1) / stride;
    *skipped -= n;
    *likelihoods = agg_alloc(error, n * width, sizeof **likelihoods); // PAIR_BYTES at most
    *weights = agg_alloc(error, n, sizeof **weights);
    if (*likelihoods == NULL || *weights == NULL) return AGG_ERR_MEMORY;
    float *of_a = *likelihoods, *of_b = *likelihoods + n * (a->n + 1);
    for (size_t k = 0; k < n; k++) {
        const together *t = &d->all[first + k * stride];
        const uint8_t *record = agg_record_set_at(&d->round->acc->set, t->record);
        agg_ngram_likelihoods(of_a + k * (a->n + 1), a, d->recipe, record + t->first * size);
        agg_ngram_likelihoods(of_b + k * (b->n + 1), b, d->recipe, record + t->second * size);
        (*weights)[k] = d->round->acc->set.counts[t->record];
    }
    *reports = (agg_joint_reports){n, a->n + 1, b->n + 1, of_a, of_b, *weights};
    return SHOAL_OK;
}

static agg_err join_pair(decoder *d, uint32_t i, uint32_t j)
{
    agg_joint_reports reports;
    agg_error error;
    float *likelihoods = NULL;
    uint32_t *weights = NULL, pair = pair_of(d, i, j);
    agg_err err = read_pair(&reports, &d->skipped[pair], &error, d, i, j, &likelihoods, &weights);
    agg_joint_cell *cells = NULL;
    if (err == SHOAL_OK) {
        cells = agg_alloc(&error, (size_t)reports.n_a * reports.n_b, sizeof *cells);
        err = cells == NULL ? AGG_ERR_MEMORY
                            : agg_ngram_joint(cells, &d->summaries[pair], &error, &reports);
    }
    if (err == SHOAL_OK) set_edges(d, i, j, cells);
    free(cells);
    free(likelihoods);
    free(weights);
    return err;
}

static void join_pairs(void *context, unsigned part, unsigned n_parts)
{
    decoder *d = context;
    for (uint32_t i = 0; i < d->n_positions; i++)
        for (uint32_t j = i + 1; j < d->n_positions; j++)
            if (pair_of(d, i, j) % n_parts == part)
                d->pair_errs[pair_of(d, i, j)] = join_pair(d, i, j);
}

static agg_err join_all(decoder *d, agg_error *error)
{
    size_t skipped = 0;
    unsigned steps = 0;
    uint32_t open = 0;
    agg_err err = agg_clique_graph_init(&d->graph, error, d->n_positions);
    d->pair_errs = agg_alloc(error, d->n_pairs, sizeof *d->pair_errs);
    d->summaries = agg_alloc(error, d->n_pairs, sizeof *d->summaries);
    d->skipped = agg_alloc(error, d->n_pairs, sizeof *d->skipped);
    if (err != SHOAL_OK || d->pair_errs == NULL || d->summaries == NULL || d->skipped == NULL)
        return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < d->n_positions; i++) d->graph.n_nodes[i] = d->nodes[i].n;
    agg_parallel(d->n_threads < d->n_pairs ? d->n_threads : d->n_pairs, join_pairs, d);
    for (uint32_t i = 0; i < d->n_pairs; i++) {
        if (d->pair_errs[i] != SHOAL_OK)
            return agg_fail_core(error, d->pair_errs[i], AGG_EXIT_RUNTIME);
        steps = d->summaries[i].steps > steps ? d->summaries[i].steps : steps;
        open += d->starts[i + 1] > d->starts[i] && !d->summaries[i].has_converged;
        skipped += d->skipped[i];
    }
    agg_discovery_note(d->discovery, "%u pairs of positions by EM, at most %u steps", d->n_pairs,
                       steps);
    if (open > 0)
        agg_discovery_cut(d->discovery, "EM of %u pairs ended at %u steps", open, AGG_JOINT_STEPS);
    if (skipped > 0)
        agg_discovery_cut(d->discovery,
                          "pairs of n-grams of %zu records were left out, to bound memory",
                          skipped);
    return SHOAL_OK;
}

// Returns: the smallest share that the whole-string part could tell from zero.
static double smallest_share(const decoder *d)
{
    const shoal_part *part = shoal_recipe_value_part(d->recipe);
    uint64_t p_star = 0, q_star = 0;
    shoal_rappor_effective(&p_star, &q_star, part);
    double p = (double)p_star * 0x1p-64, q = (double)q_star * 0x1p-64, n = (double)d->round->acc->n;
    double error = sqrt(p * (1 - p) / (n * part->hashes)) / (q - p);
    double share = -agg_normal_quantile(d->discovery->fdr / TESTS_EXPECTED) * error;
    return fmax(share, d->discovery->threshold / n);
}

// Returns: the most strings to test, which is smaller if each one sets many bits.
static size_t most_candidates(const decoder *d)
{
    size_t fit = HASHES / ((size_t)d->recipe->cohorts * d->recipe->hashes);
    return fit < CANDIDATES ? fit : CANDIDATES;
}

static agg_err find_cliques(const decoder *d, agg_cliques *cliques, agg_error *error)
{
    double smallest = smallest_share(d);
    agg_clique_search search = {smallest, CUT, CUT, most_candidates(d), STEPS};
    agg_err err = agg_clique_find(cliques, error, &d->graph, &search);
    while (err == SHOAL_OK && cliques->is_cut && search.least * RISE < 1) {
        agg_cliques_release(cliques);
        search.least *= RISE;
        err = agg_clique_find(cliques, error, &d->graph, &search);
    }
    if (err != SHOAL_OK) return err;
    agg_discovery_note(
        d->discovery,
        "%zu cliques of %llu edges, of strings that %.3g%% of the reports or more hold", cliques->n,
        (unsigned long long)agg_clique_count_edges(&d->graph, &search), 100 * search.least);
    if (search.least > smallest)
        agg_discovery_cut(d->discovery,
                          "strings of less than %.3g%%, though %.3g%% could be told from nothing: "
                          "there were more than %zu cliques, or too many branches",
                          100 * search.least, 100 * smallest, search.cliques_max);
    if (cliques->is_cut) agg_discovery_cut(d->discovery, "cliques after the first %zu", cliques->n);
    return SHOAL_OK;
}

#define STRING_MAX (POSITIONS * AGG_NGRAM_BYTES_MAX)

// Returns: the length of a clique's string.
static size_t make_string(uint8_t string[STRING_MAX], const decoder *d, const agg_cliques *cliques,
                          size_t i)
{
    size_t len = 0;
    for (uint32_t p = 0; p < d->n_positions; p++) {
        const uint8_t *gram = d->nodes[p].grams[cliques->nodes[i * d->n_positions + p]];
        for (uint32_t b = 0; b < d->recipe->n_gram && gram[b] != SHOAL_NGRAM_PAD; b++)
            string[len++] = gram[b];
    }
    return len;
}

// Devices cut longer strings, so that a string of the full length may be the start of others. Rows
// say only how they were found, as they always did (docs/mechanisms/rappor-ngram.md).
static agg_err add_rows(const decoder *d, agg_error *error, const agg_cliques *cliques,
                        const agg_strings_found *found)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < found->n; i++) {
        const agg_count *count = &found->rows[i].count;
        uint8_t string[STRING_MAX];
        char how[AGG_FOUND_HOW_MAX];
        size_t len = make_string(string, d, cliques, found->rows[i].candidate);
        if (len == 0) continue;
        snprintf(how, sizeof how, "%zu n-grams", (len + d->recipe->n_gram - 1) / d->recipe->n_gram);
        err = agg_discovery_add(d->discovery, error, (agg_text){(const char *)string, len},
                                count->count, count->stderr_, count->score, how);
    }
    return err;
}

// Tests all cliques' strings together, in the part that holds whole strings.
static agg_err test_strings(const decoder *d, agg_error *error, const agg_cliques *cliques)
{
    agg_strings_found found = {0};
    uint64_t *items = agg_alloc(error, cliques->n, sizeof *items);
    agg_err err = items == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < cliques->n; i++) {
        uint8_t string[STRING_MAX];
        items[i] = shoal_ngram_string_item(d->recipe, string, make_string(string, d, cliques, i));
    }
    if (err == SHOAL_OK)
        err = agg_ngram_strings_test(&found, error, shoal_recipe_value_part(d->recipe),
                                     &d->round->acc->parts[d->recipe->value_part], d->round->acc->n,
                                     items, cliques->n, d->discovery->fdr, d->n_threads);
    if (err == SHOAL_OK) err = add_rows(d, error, cliques, &found);
    d->discovery->n_candidates = cliques->n;
    if (err == SHOAL_OK)
        agg_discovery_note(d->discovery,
                           "%zu strings tested in %u rounds, by Bonferroni's rule at %.3g",
                           cliques->n, found.rounds, d->discovery->fdr);
    agg_strings_found_release(&found);
    free(items);
    return err;
}

static agg_err decode(decoder *d, agg_error *error)
{
    agg_cliques cliques = {0};
    agg_err err = find_all_nodes(d, error);
    for (uint32_t i = 0; err == SHOAL_OK && i < d->n_positions; i++)
        if (d->nodes[i].n == 0) {
            agg_discovery_note(d->discovery,
                               "no n-gram stands out at position %u: no string can be put together",
                               i + 1);
            return SHOAL_OK;
        }
    if (err == SHOAL_OK) err = group(d, error);
    if (err == SHOAL_OK) err = join_all(d, error);
    if (err == SHOAL_OK) err = find_cliques(d, &cliques, error);
    if (err == SHOAL_OK && cliques.n > 0) err = test_strings(d, error, &cliques);
    agg_cliques_release(&cliques);
    return err;
}

// Says of an empty result what these reports could have shown: nothing found is then no sign that
// nothing is there.
static void note_nothing(const decoder *d)
{
    char least[AGG_NGRAM_PLAN_TEXT];
    double n = (double)d->round->acc->n;
    if (d->discovery->n_rows > 0) return;
    agg_ngram_plan_say(least, d->recipe, n);
    agg_discovery_note(d->discovery, "nothing was found: with %.0f reports n-grams find %s", n,
                       least);
}

static agg_err run(agg_discovery *discovery, agg_error *error, const agg_discover_round *round,
                   size_t n_rounds, const agg_discover_options *options)
{
    const shoal_recipe *recipe = round->recipe->recipe;
    (void)n_rounds;
    if (!agg_accumulator_keeps_records(round->acc))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "this accumulator keeps no records");
    if (round->acc->n == 0) return SHOAL_OK;
    decoder *d = agg_alloc(error, 1, sizeof *d);
    if (d == NULL) return AGG_ERR_MEMORY;
    d->discovery = discovery;
    d->round = round;
    d->recipe = recipe;
    d->n_threads = options->n_threads > 0 ? options->n_threads : 1;
    d->n_positions = shoal_ngram_positions(recipe);
    d->n_pairs = d->n_positions * (d->n_positions - 1) / 2;
    agg_err err = decode(d, error);
    if (err == SHOAL_OK) note_nothing(d);
    for (uint32_t i = 0; i < d->n_positions; i++) agg_ngram_nodes_release(&d->nodes[i]);
    agg_clique_graph_release(&d->graph);
    free(d->starts);
    free(d->all);
    free(d->pair_errs);
    free(d->summaries);
    free(d->skipped);
    free(d);
    return err;
}

static uint64_t memory(const shoal_recipe *recipe, uint64_t accumulator, unsigned n_threads)
{
    (void)recipe;
    // The sum covers the reports of each pair, the candidates of a position, and the likelihoods of
    // one pair for each thread.
    return accumulator + AGG_NGRAM_ENTRIES_MAX * sizeof(uint32_t) +
           (uint64_t)n_threads * PAIR_BYTES;
}

static double least_share(const shoal_recipe *recipe, double n, double fdr, double same)
{
    (void)fdr, (void)same;
    return agg_ngram_plan_share(recipe, n);
}

const agg_discoverer agg_rappor_ngram_discoverer = {
    .id = shoal_rappor_ngram_id,
    .run = run,
    .memory = memory,
    .least_share = least_share,
    .bounds_any = true,
};
