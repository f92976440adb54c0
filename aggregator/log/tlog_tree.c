// SPDX-License-Identifier: Apache-2.0
// The Merkle tree of a log; see tlog_tree.h.
#include "tlog_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "sha256.h"

#define BITS 8u // log2 of AGG_TLOG_WIDTH

void agg_tlog_leaf(uint8_t hash[AGG_TLOG_HASH], const uint8_t *entry, size_t len)
{
    static const uint8_t prefix = 0;
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, &prefix, 1);
    shoal_sha256_update(&sha, entry, len);
    shoal_sha256_final(hash, &sha);
}

// Hashes two subtrees into the one above. `out` may be one of them.
static void join(uint8_t out[AGG_TLOG_HASH], const uint8_t left[AGG_TLOG_HASH],
                 const uint8_t right[AGG_TLOG_HASH])
{
    static const uint8_t prefix = 1;
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, &prefix, 1);
    shoal_sha256_update(&sha, left, AGG_TLOG_HASH);
    shoal_sha256_update(&sha, right, AGG_TLOG_HASH);
    shoal_sha256_final(out, &sha);
}

// Hashes a whole subtree of a level into one hash.
//   n: a power of two, at most AGG_TLOG_WIDTH
static void fold(uint8_t out[AGG_TLOG_HASH], uint8_t (*hashes)[AGG_TLOG_HASH], size_t n)
{
    uint8_t row[AGG_TLOG_WIDTH][AGG_TLOG_HASH];
    memcpy(row, hashes, n * AGG_TLOG_HASH);
    for (; n > 1; n /= 2)
        for (size_t i = 0; i < n / 2; i++) join(row[i], row[2 * i], row[2 * i + 1]);
    memcpy(out, row[0], AGG_TLOG_HASH);
}

agg_err agg_tlog_tree_append(agg_tlog_tree *tree, agg_error *error,
                             const uint8_t hash[AGG_TLOG_HASH])
{
    uint8_t up[AGG_TLOG_HASH];
    if (tree->n[0] >= AGG_TLOG_ENTRIES_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "the log is full");
    // All memory first, so that a failure leaves the tree as it was.
    for (size_t l = 0; l < AGG_TLOG_LEVELS; l++) {
        void *row = tree->hashes[l];
        agg_err err = agg_grow(&row, &tree->cap[l], (size_t)tree->n[l] + 1, AGG_TLOG_HASH, error);
        if (err != SHOAL_OK) return err;
        tree->hashes[l] = row;
    }
    memcpy(up, hash, sizeof up);
    for (size_t l = 0; l < AGG_TLOG_LEVELS; l++) {
        memcpy(tree->hashes[l][tree->n[l]++], up, sizeof up);
        if (tree->n[l] % AGG_TLOG_WIDTH != 0) break;
        fold(up, tree->hashes[l] + tree->n[l] - AGG_TLOG_WIDTH, AGG_TLOG_WIDTH);
    }
    return SHOAL_OK;
}

// Writes the hash of the entries [from, to), a subtree of some tree of RFC 6962: `from` is a
// multiple of the smallest power of two that is not below to - from. It is made of whole subtrees,
// the smallest ones last, which are joined from the right.
static void range(uint8_t out[AGG_TLOG_HASH], const agg_tlog_tree *tree, uint64_t from, uint64_t to)
{
    bool is_first = true;
    for (unsigned b = 0; from < to; b++) {
        uint8_t peak[AGG_TLOG_HASH];
        if (((to - from) >> b & 1) == 0) continue;
        to -= (uint64_t)1 << b;
        fold(peak, tree->hashes[b / BITS] + (to >> (b - b % BITS)), (size_t)1 << b % BITS);
        if (is_first)
            memcpy(out, peak, AGG_TLOG_HASH);
        else
            join(out, peak, out);
        is_first = false;
    }
}

void agg_tlog_tree_root(uint8_t root[AGG_TLOG_HASH], const agg_tlog_tree *tree, uint64_t size)
{
    shoal_sha256 none;
    shoal_sha256_init(&none);
    shoal_sha256_final(root, &none);
    range(root, tree, 0, size);
}

// Returns: the largest power of two below n.
//   n: above 1
static uint64_t split(uint64_t n)
{
    uint64_t k = 1;
    while (2 * k < n) k *= 2;
    return k;
}

static void reverse(uint8_t (*proof)[AGG_TLOG_HASH], size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t hash[AGG_TLOG_HASH];
        memcpy(hash, proof[i], sizeof hash);
        memcpy(proof[i], proof[n - 1 - i], sizeof hash);
        memcpy(proof[n - 1 - i], hash, sizeof hash);
    }
}

size_t agg_tlog_tree_inclusion(uint8_t proof[AGG_TLOG_PROOF_MAX][AGG_TLOG_HASH],
                               const agg_tlog_tree *tree, uint64_t index, uint64_t size)
{
    size_t n = 0;
    for (uint64_t from = 0, to = size; to - from > 1;) {
        uint64_t middle = from + split(to - from);
        if (index < middle) {
            range(proof[n++], tree, middle, to);
            to = middle;
        } else {
            range(proof[n++], tree, from, middle);
            from = middle;
        }
    }
    reverse(proof, n);
    return n;
}

void agg_tlog_tree_release(agg_tlog_tree *tree)
{
    for (size_t l = 0; l < AGG_TLOG_LEVELS; l++) free(tree->hashes[l]);
    *tree = (agg_tlog_tree){.n = {0}};
}
