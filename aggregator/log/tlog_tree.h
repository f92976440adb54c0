// SPDX-License-Identifier: Apache-2.0
// The Merkle tree of a log, in memory: hashes of entries, and above them those of every 256.
//
// A log is a list to which entries are only added. The root of a tree is one hash of all its
// entries, so who knows the root of n entries can check any of them, and that a longer list begins
// with the same n. A tile is a row of 256 hashes of one level; levels are 8 steps of the tree
// apart. Source: RFC 6962, section 2.1; c2sp.org/tlog-tiles.
#ifndef TLOG_TREE_H
#define TLOG_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_TLOG_HASH 32u
#define AGG_TLOG_WIDTH 256u                      // hashes of a full tile
#define AGG_TLOG_LEVELS 3                        // of tiles
#define AGG_TLOG_ENTRIES_MAX ((uint64_t)1 << 22) // entries of a log that the commands take
#define AGG_TLOG_PROOF_MAX 24                    // hashes of a proof in such a log

// One row a level. Zeroed memory is an empty tree.
typedef struct agg_tlog_tree {
    uint8_t (
        *hashes[AGG_TLOG_LEVELS])[AGG_TLOG_HASH]; // of level l: the roots of each 256^l entries
    size_t cap[AGG_TLOG_LEVELS];
    uint64_t n[AGG_TLOG_LEVELS]; // hashes of each level; n[0] is the number of entries
} agg_tlog_tree;

// Hashes an entry, as the tree does: SHA-256(0x00, entry).
void agg_tlog_leaf(uint8_t hash[AGG_TLOG_HASH], const uint8_t *entry, size_t len);

// Appends an entry by its hash.
// Returns: SHOAL_ERR_RANGE if the tree has AGG_TLOG_ENTRIES_MAX entries; AGG_ERR_MEMORY.
agg_err agg_tlog_tree_append(agg_tlog_tree *tree, agg_error *error,
                             const uint8_t hash[AGG_TLOG_HASH]) SHOAL_MUST_CHECK;

// Writes the root of the first `size` entries.
//   size: at most tree->n[0]
void agg_tlog_tree_root(uint8_t root[AGG_TLOG_HASH], const agg_tlog_tree *tree, uint64_t size);

// Writes the hashes that prove that the tree of `size` entries holds entry `index`, from the leaf
// upwards (RFC 6962, section 2.1.1).
//   index, size: index < size <= tree->n[0]
// Returns: how many hashes.
size_t agg_tlog_tree_inclusion(uint8_t proof[AGG_TLOG_PROOF_MAX][AGG_TLOG_HASH],
                               const agg_tlog_tree *tree, uint64_t index, uint64_t size);

void agg_tlog_tree_release(agg_tlog_tree *tree);

#endif
