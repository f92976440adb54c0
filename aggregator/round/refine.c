// SPDX-License-Identifier: Apache-2.0
// Finer and coarser buckets; see refine.h.
#include "refine.h"

#include <math.h>
#include <stdbool.h>

#include "multiple.h"

#define AGG_BOUNDARIES (sizeof((agg_refined){0}.boundaries) / sizeof(int64_t))
#define BUCKETS_MAX (AGG_BOUNDARIES - 1) // buckets between the ends

// The buckets between the ends: n buckets, n + 1 boundaries.
typedef struct middle {
    const int64_t *boundaries;
    double counts[BUCKETS_MAX];
    uint32_t n;
} middle;

static agg_err count_middle(middle *m, agg_refined *refined, agg_error *error,
                            const agg_count *counts, double fdr)
{
    double scores[BUCKETS_MAX], total = 0;
    for (uint32_t i = 0; i < m->n; i++) scores[i] = counts[i + 1].score;
    agg_err err = agg_multiple_least(&refined->least, error, scores, m->n, AGG_BH, fdr);
    if (err != SHOAL_OK) return err;
    for (uint32_t i = 0; i < m->n; i++) {
        bool is_something = scores[i] >= refined->least && counts[i + 1].count > 0;
        m->counts[i] = is_something ? counts[i + 1].count : 0;
        refined->n_zero += !is_something;
        total += m->counts[i];
    }
    refined->share = total;
    if (total > 0) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                    "no bucket between the first and the last boundary can be told from zero");
}

// Returns: how many pieces bucket i is cut into.
static uint32_t pieces_of(const middle *m, uint32_t i, double share)
{
    uint64_t width = (uint64_t)m->boundaries[i + 1] - (uint64_t)m->boundaries[i];
    double wanted = fmin(fmax(floor(m->counts[i] / share + 0.5), 1), AGG_REFINE_PIECES);
    return width < (uint64_t)wanted ? (uint32_t)width : (uint32_t)wanted;
}

// Returns: the end of piece j of `pieces` of bucket i. width * j may exceed 64 bits.
static int64_t cut_of(const middle *m, uint32_t i, uint32_t j, uint32_t pieces)
{
    uint64_t width = (uint64_t)m->boundaries[i + 1] - (uint64_t)m->boundaries[i];
    uint64_t offset = width / pieces * j + width % pieces * j / pieces;
    return (int64_t)((uint64_t)m->boundaries[i] + offset);
}

// A piece of a bucket, or several joined ones.
typedef struct piece {
    int64_t from, to;
    double count;
} piece;

static uint64_t width_of(piece p)
{
    return (uint64_t)p.to - (uint64_t)p.from;
}

// A zero piece joins zero pieces only: otherwise the tail of a distribution, which holds less than
// half a share, would be joined with the empty space beyond it. For the same reason pieces of very
// different widths stay apart.
static bool are_alike(piece a, piece b)
{
    uint64_t narrow = width_of(a) < width_of(b) ? width_of(a) : width_of(b);
    uint64_t wide = width_of(a) < width_of(b) ? width_of(b) : width_of(a);
    if (a.count <= 0 || b.count <= 0) return a.count <= 0 && b.count <= 0;
    return wide / AGG_REFINE_PIECES <= narrow;
}

// Adds a piece and joins it to the one before it if both are small.
//   is_strict: join only pieces that are alike in width and in being zero
static void add_piece(agg_refined *refined, piece *before, piece p, bool is_strict)
{
    bool is_joined = refined->n > 1 && before->count + p.count < refined->share / 2;
    is_joined = is_joined && (!is_strict || are_alike(*before, p));
    if (is_joined) refined->n--;
    *before =
        (piece){is_joined ? before->from : p.from, p.to, p.count + (is_joined ? before->count : 0)};
    refined->boundaries[refined->n++] = p.to;
}

// Returns: whether there are at most `most` boundaries with that share.
static int cut_and_join(agg_refined *refined, const middle *m, double share, double total,
                        uint32_t most)
{
    piece before = {0, 0, 0};
    refined->boundaries[0] = m->boundaries[0];
    refined->n = 1;
    refined->share = share;
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t pieces = pieces_of(m, i, share);
        for (uint32_t j = 0; j < pieces; j++) {
            piece p = {cut_of(m, i, j, pieces), cut_of(m, i, j + 1, pieces), m->counts[i] / pieces};
            if (refined->n == AGG_BOUNDARIES) return 0;
            add_piece(refined, &before, p, share <= total);
        }
    }
    return refined->n <= most;
}

agg_err agg_refine(agg_refined *refined, agg_error *error, const int64_t *boundaries, uint32_t n,
                   const agg_count *counts, double fdr, uint32_t target)
{
    middle m = {.boundaries = boundaries, .n = n - 1};
    *refined = (agg_refined){0};
    if (n < 2)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "--refine needs two boundaries at least: no bucket lies between two");
    agg_err err = count_middle(&m, refined, error, counts, fdr);
    if (err != SHOAL_OK) return err;
    double total = refined->share, share = total / (target - 2);
    // The loop ends, since a share above twice the total makes one piece of all.
    while (!cut_and_join(refined, &m, share, total, target - 1)) share *= 1.0625;
    return SHOAL_OK;
}
