// SPDX-License-Identifier: Apache-2.0
// Finer and coarser buckets; see refine.h.
#include "refine.h"

#include <math.h>

#include "multiple.h"

#define AGG_BOUNDARIES (sizeof((agg_refined){0}.boundaries) / sizeof(int64_t))
#define BUCKETS_MAX (AGG_BOUNDARIES - 1) // between the ends

// What lies between the ends: n buckets, boundaries n + 1.
typedef struct middle {
    const int64_t *boundaries;
    double counts[BUCKETS_MAX];
    uint32_t n;
} middle;

static shoal_err count_middle(middle *m, agg_refined *refined, agg_error *error, const agg_count *counts, double fdr)
{
    double scores[BUCKETS_MAX], total = 0;
    for (uint32_t i = 0; i < m->n; i++) scores[i] = counts[i + 1].score;
    shoal_err err = agg_multiple_least(&refined->least, error, scores, m->n, AGG_BH, fdr);
    if (err != SHOAL_OK) return err;
    for (uint32_t i = 0; i < m->n; i++) {
        int is_something = scores[i] >= refined->least && counts[i + 1].count > 0;
        m->counts[i] = is_something ? counts[i + 1].count : 0;
        refined->n_zero += !is_something;
        total += m->counts[i];
    }
    refined->share = total;
    if (total > 0) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                    "no bucket between the first and the last boundary can be told from zero");
}

// Pieces of bucket i.
static uint32_t pieces_of(const middle *m, uint32_t i, double share)
{
    uint64_t width = (uint64_t)m->boundaries[i + 1] - (uint64_t)m->boundaries[i];
    double wanted = fmin(fmax(floor(m->counts[i] / share + 0.5), 1), AGG_REFINE_PIECES);
    return width < (uint64_t)wanted ? (uint32_t)width : (uint32_t)wanted;
}

// Where piece j of `pieces` of bucket i ends; width * j may not fit 64 bits.
static int64_t cut_of(const middle *m, uint32_t i, uint32_t j, uint32_t pieces)
{
    uint64_t width = (uint64_t)m->boundaries[i + 1] - (uint64_t)m->boundaries[i];
    uint64_t offset = width / pieces * j + width % pieces * j / pieces;
    return (int64_t)((uint64_t)m->boundaries[i] + offset);
}

// Adds a piece that ends at `end`, joined to the one before it where both are small.
static void add_piece(agg_refined *refined, double *before, double count, int64_t end, double share)
{
    int is_joined = refined->n > 1 && *before + count < share / 2;
    *before = is_joined ? *before + count : count;
    if (is_joined) refined->n--;
    refined->boundaries[refined->n++] = end;
}

// Returns: whether there are at most `most` boundaries with that share.
static int cut_and_join(agg_refined *refined, const middle *m, double share, uint32_t most)
{
    double before = 0;
    refined->boundaries[0] = m->boundaries[0];
    refined->n = 1;
    refined->share = share;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t pieces = pieces_of(m, i, share);
        for (uint32_t j = 1; j <= pieces; j++) {
            if (refined->n == AGG_BOUNDARIES) return 0;
            add_piece(refined, &before, m->counts[i] / pieces, cut_of(m, i, j, pieces), share);
        }
    }
    return refined->n <= most;
}

shoal_err agg_refine(agg_refined *refined, agg_error *error, const int64_t *boundaries, uint32_t n,
                     const agg_count *counts, double fdr, uint32_t target)
{
    middle m = {.boundaries = boundaries, .n = n - 1};
    *refined = (agg_refined){0};
    if (n < 2)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "one boundary has open buckets only: nothing lies between two");
    shoal_err err = count_middle(&m, refined, error, counts, fdr);
    if (err != SHOAL_OK) return err;
    // It ends: with a share above twice the total all is one piece.
    for (double share = refined->share / (target - 2); !cut_and_join(refined, &m, share, target - 1); share *= 1.0625) {
    }
    return SHOAL_OK;
}
