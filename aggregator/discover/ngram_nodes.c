// SPDX-License-Identifier: Apache-2.0
// Finds the significant n-grams of a position and their likelihoods; see ngram_nodes.h.
#include "ngram_nodes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "normal_law.h"
#include "poly1.h"
#include "rappor.h"
#include "rappor_decode.h"
#include "rappor_ngram.h"

// Returns: the bytes of a string that can lie at a position; the last n-gram may be cut short.
static uint32_t reach(const shoal_recipe *recipe, uint32_t position)
{
    uint32_t left = recipe->length - position * recipe->n_gram;
    return left < recipe->n_gram ? left : recipe->n_gram;
}

size_t agg_ngram_candidates(const shoal_recipe *recipe, uint32_t position)
{
    size_t n = 1, all = 1;
    for (uint32_t i = 0; i < reach(recipe, position); i++) {
        if (!agg_size_multiply(&n, n, recipe->alphabet_len) || n > SIZE_MAX - all) return SIZE_MAX;
        all += n;
    }
    return all;
}

// Writes the i-th candidate. The candidate without a byte comes first, then those of one byte, and
// so on.
static void make_gram(uint8_t gram[AGG_NGRAM_BYTES_MAX], const shoal_recipe *recipe, size_t i)
{
    size_t n = 1;
    memset(gram, SHOAL_NGRAM_PAD, AGG_NGRAM_BYTES_MAX);
    for (uint32_t len = 0; i >= n; n *= recipe->alphabet_len) {
        i -= n;
        len++;
        size_t number = i;
        for (uint32_t c = len; c-- > 0; number /= recipe->alphabet_len)
            gram[c] = recipe->alphabet[number % recipe->alphabet_len];
    }
}

// Writes the bits of an n-gram as shoal_rappor_answer sets them: for each cohort in ascending
// order, each once, then UINT32_MAX.
static void find_bits(uint32_t *bits, const shoal_recipe *recipe, const shoal_poly1 *rows,
                      uint32_t position, const uint8_t *gram)
{
    uint64_t point = shoal_poly1_point(shoal_ngram_item(recipe, position, gram));
    for (uint32_t c = 0; c < recipe->cohorts; c++) {
        uint32_t *few = bits + (size_t)c * recipe->hashes, kept = 0;
        for (uint32_t h = 0; h < recipe->hashes; h++) {
            uint32_t bit = shoal_poly1_hash(&rows[(size_t)c * recipe->hashes + h], point,
                                            recipe->bits),
                     at = 0;
            while (at < kept && few[at] < bit) at++;
            if (at < kept && few[at] == bit) continue;
            memmove(few + at + 1, few + at, (kept - at) * sizeof *few);
            few[at] = bit;
            kept++;
        }
        for (; kept < recipe->hashes; kept++) few[kept] = UINT32_MAX;
    }
}

typedef struct position_counts {
    uint32_t *ones, *reports;
    shoal_poly1 *rows; // hash rows of every cohort and hash
    double p, q;       // p*, q*
} position_counts;

static void release_counts(position_counts *counts)
{
    free(counts->ones);
    free(counts->reports);
    free(counts->rows);
}

// Adds up a position's counts over the parts. The parts of n-grams have the same coins, so their
// counts add up.
static agg_err sum_counts(position_counts *counts, agg_error *error, const shoal_recipe *recipe,
                          const agg_accumulator *acc, uint32_t position)
{
    size_t n_cells = (size_t)recipe->cohorts * recipe->bits,
           n_rows = (size_t)recipe->cohorts * recipe->hashes;
    uint32_t first = position * recipe->cohorts;
    uint64_t p = 0, q = 0;
    *counts = (position_counts){agg_alloc(error, n_cells, sizeof *counts->ones),
                                agg_alloc(error, recipe->cohorts, sizeof *counts->reports),
                                agg_alloc(error, n_rows, sizeof *counts->rows), 0, 0};
    if (counts->ones == NULL || counts->reports == NULL || counts->rows == NULL)
        return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < recipe->grams; i++) {
        const agg_sketch *sketch = &acc->parts[i];
        for (size_t e = 0; e < n_cells; e++)
            counts->ones[e] += sketch->cells.ones[(size_t)first * recipe->bits + e];
        for (uint32_t c = 0; c < recipe->cohorts; c++)
            counts->reports[c] += sketch->rows[first + c];
    }
    for (size_t j = 0; j < n_rows; j++)
        shoal_poly1_row(&counts->rows[j], recipe->parts[0].seed,
                        (uint32_t)(first * recipe->hashes + j));
    shoal_rappor_effective(&p, &q, &recipe->parts[0]);
    counts->p = (double)p * 0x1p-64;
    counts->q = (double)q * 0x1p-64;
    return SHOAL_OK;
}

typedef struct candidate {
    size_t number;
    double score, count;
} candidate;

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void take_significant(agg_ngram_nodes *nodes, candidate *list, const agg_rappor_row *rows,
                             const shoal_recipe *recipe)
{
    double least =
        nodes->n_candidates > 1 ? -agg_normal_quantile(1 / (double)nodes->n_candidates) : 0;
    size_t n = 0;
    for (size_t i = 0; i < nodes->n_candidates; i++)
        if (!rows[i].is_tied && rows[i].z > least)
            list[n++] = (candidate){i, rows[i].z, rows[i].count};
    qsort(list, n, sizeof *list, compare_candidates);
    nodes->n_significant = n;
    nodes->n = (uint32_t)(n < AGG_NGRAM_NODES_MAX ? n : AGG_NGRAM_NODES_MAX);
    for (uint32_t i = 0; i < nodes->n; i++) {
        make_gram(nodes->grams[i], recipe, list[i].number);
        nodes->shares[i] = list[i].count / (double)nodes->reports;
    }
}

// Decodes all candidates of the position.
static agg_err decode(agg_ngram_nodes *nodes, agg_error *error, const shoal_recipe *recipe,
                      const position_counts *counts, uint32_t position)
{
    size_t n = nodes->n_candidates, per_gram = (size_t)recipe->cohorts * recipe->hashes, at = 0;
    size_t *start = agg_alloc(error, n + 1, sizeof *start);
    uint32_t *entries =
        agg_alloc(error, n * per_gram, sizeof *entries); // at most AGG_NGRAM_ENTRIES_MAX
    agg_rappor_row *rows = agg_alloc(error, n, sizeof *rows);
    candidate *list = agg_alloc(error, n, sizeof *list);
    agg_err err = start == NULL || entries == NULL || rows == NULL || list == NULL ? AGG_ERR_MEMORY
                                                                                   : SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        uint8_t gram[AGG_NGRAM_BYTES_MAX];
        uint32_t *bits = entries + i * per_gram;
        make_gram(gram, recipe, i);
        find_bits(bits, recipe, counts->rows, position, gram);
        for (size_t e = 0; e < per_gram; e++) // the write index is never ahead of the read index
            if (bits[e] != UINT32_MAX)
                entries[at++] = (uint32_t)(e / recipe->hashes * recipe->bits + bits[e]);
        start[i + 1] = at;
    }
    if (err == SHOAL_OK) {
        const agg_rappor_counts in = {recipe->cohorts, recipe->bits, counts->ones,
                                      counts->reports, counts->p,    counts->q};
        const agg_bit_design design = {(size_t)recipe->cohorts * recipe->bits, n, start, entries};
        err = agg_rappor_decode(rows, NULL, error, &in, &design);
    }
    if (err == SHOAL_OK) take_significant(nodes, list, rows, recipe);
    free(start);
    free(entries);
    free(rows);
    free(list);
    return err;
}

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

#define SURE 1e-9 // probabilities stay this far from 0 and 1, so that no report is impossible

// Models "others". A bit's share among their reports is its share in all reports less the nodes'
// part.
static void model_others(agg_ngram_nodes *nodes, const shoal_recipe *recipe,
                         const position_counts *counts)
{
    double p = within(counts->p, SURE, 1 - SURE), q = within(counts->q, SURE, 1 - SURE), known = 0;
    for (uint32_t u = 0; u < nodes->n; u++) known += nodes->shares[u];
    for (uint32_t c = 0; c < recipe->cohorts; c++) {
        float *set = nodes->other_set + (size_t)c * recipe->bits;
        double base = 0, others = within(1 - known, 0.01, 1);
        for (uint32_t b = 0; b < recipe->bits; b++) {
            double reports = counts->reports[c], has = 0;
            for (uint32_t u = 0; u < nodes->n; u++) {
                const uint32_t *bits =
                    nodes->bits + ((size_t)u * recipe->cohorts + c) * recipe->hashes;
                for (uint32_t i = 0; i < recipe->hashes; i++)
                    has += bits[i] == b ? nodes->shares[u] : 0;
            }
            double seen = reports > 0 ? counts->ones[(size_t)c * recipe->bits + b] / reports : p;
            double one = within((seen - p * known - has * (q - p)) / others, p, q);
            base += log((1 - one) / (1 - p));
            set[b] = (float)(log(one / p) - log((1 - one) / (1 - p)));
        }
        nodes->other_base[c] = (float)base;
    }
}

static agg_err make_model(agg_ngram_nodes *nodes, agg_error *error, const shoal_recipe *recipe,
                          const position_counts *counts, uint32_t position)
{
    size_t per_gram = (size_t)recipe->cohorts * recipe->hashes;
    nodes->bits = agg_alloc(error, (size_t)nodes->n * per_gram, sizeof *nodes->bits);
    nodes->other_set =
        agg_alloc(error, (size_t)recipe->cohorts * recipe->bits, sizeof *nodes->other_set);
    nodes->other_base = agg_alloc(error, recipe->cohorts, sizeof *nodes->other_base);
    if (nodes->bits == NULL || nodes->other_set == NULL || nodes->other_base == NULL)
        return AGG_ERR_MEMORY;
    for (uint32_t u = 0; u < nodes->n; u++)
        find_bits(nodes->bits + u * per_gram, recipe, counts->rows, position, nodes->grams[u]);
    model_others(nodes, recipe, counts);
    return SHOAL_OK;
}

agg_err agg_ngram_nodes_find(agg_ngram_nodes *nodes, agg_error *error, const shoal_recipe *recipe,
                             const agg_accumulator *acc, uint32_t position)
{
    position_counts counts;
    size_t entries = 0;
    memset(nodes, 0, sizeof *nodes);
    nodes->n_candidates = agg_ngram_candidates(recipe, position);
    if (!agg_size_multiply(&entries, nodes->n_candidates,
                           (size_t)recipe->cohorts * recipe->hashes) ||
        entries > AGG_NGRAM_ENTRIES_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "an alphabet of %u bytes has too many n-grams of %u: with %u cohorts and "
                        "%u hashes a position can have %zu candidates. Choose a smaller n",
                        recipe->alphabet_len, recipe->n_gram, recipe->cohorts, recipe->hashes,
                        AGG_NGRAM_ENTRIES_MAX / ((size_t)recipe->cohorts * recipe->hashes));
    agg_err err = sum_counts(&counts, error, recipe, acc, position);
    if (err == SHOAL_OK) {
        for (uint32_t c = 0; c < recipe->cohorts; c++) nodes->reports += counts.reports[c];
        if (nodes->reports > 0) err = decode(nodes, error, recipe, &counts, position);
    }
    if (err == SHOAL_OK) err = make_model(nodes, error, recipe, &counts, position);
    release_counts(&counts);
    return err;
}

void agg_ngram_nodes_release(agg_ngram_nodes *nodes)
{
    free(nodes->bits);
    free(nodes->other_set);
    free(nodes->other_base);
    memset(nodes, 0, sizeof *nodes);
}

static bool is_set(const uint8_t *bits, uint32_t bit)
{
    return bits[bit / 8] >> bit % 8 & 1;
}

void agg_ngram_likelihoods(float *likelihoods, const agg_ngram_nodes *nodes,
                           const shoal_recipe *recipe, const uint8_t *record)
{
    uint64_t p_star = 0, q_star = 0;
    shoal_rappor_effective(&p_star, &q_star, &recipe->parts[0]);
    double p = within((double)p_star * 0x1p-64, SURE, 1 - SURE),
           q = within((double)q_star * 0x1p-64, SURE, 1 - SURE);
    const double factors[2] = {(1 - q) / (1 - p), q / p};
    const uint8_t *bits = record + 4;
    uint32_t c = load32_le(record) % recipe->cohorts;
    const float *set = nodes->other_set + (size_t)c * recipe->bits;
    double other = (double)nodes->other_base[c], most = 0, all[AGG_NGRAM_NODES_MAX + 1];
    for (uint32_t byte = 0; byte < (recipe->bits + 7) / 8; byte++)
        for (uint32_t b = 0; bits[byte] >> b != 0; b++)
            if (bits[byte] >> b & 1) other += (double)set[8 * byte + b];
    all[nodes->n] = exp(within(other, -600, 600));
    for (uint32_t u = 0; u < nodes->n; u++) {
        const uint32_t *own = nodes->bits + ((size_t)u * recipe->cohorts + c) * recipe->hashes;
        all[u] = 1;
        for (uint32_t i = 0; i < recipe->hashes && own[i] != UINT32_MAX; i++)
            all[u] *= factors[is_set(bits, own[i])];
    }
    for (uint32_t u = 0; u <= nodes->n; u++) most = all[u] > most ? all[u] : most;
    for (uint32_t u = 0; u <= nodes->n; u++) likelihoods[u] = (float)(all[u] / most);
}
