// SPDX-License-Identifier: Apache-2.0
// The support of every index of a closed domain at once, from a sketch whose rows hash by affine1.
// Private to the aggregator.
//
// h_j(x) = A_j x + b_j over GF(2) (core/hash/affine1.h), so that the Walsh-Hadamard transform H
// takes each row to a few points of the transform of the whole domain: with M_j the row's cells and
// w the bits of size - 1,
//
//     sum_j M_j[h_j(x)] = (1/m) (H F)[x],     F[A_j^T z] += (-1)^<z, b_j> (H M_j)[z]   for every j
//     and z in [m],
//
// k m additions at scattered places and one transform of 2^w numbers, whatever the number of
// indices asked for. An HCMS row holds sums S_j of Hadamard entries, M_j = H S_j, and so needs
// neither its own transform nor the division:
//
//     F[A_j^T l] += (-1)^<l, b_j> S_j[l].
//
// Exact: all sums are integers modulo 2^64. Cells are 32 bits wide and at most 2^28 of them, so
// that what is wanted, m times a support, lies within 2^60 whatever a file holds; sums on the way
// may wrap. The division by m leaves no rest.
#ifndef WHOLE_DOMAIN_H
#define WHOLE_DOMAIN_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"
#include "row_scan.h"
#include "sketch.h"

// Returns: how many numbers agg_whole_domain writes: the least power of two that is not below
// part->size.
//   part: hash affine1, thus size 1 .. 2^24
size_t agg_whole_domain_size(const shoal_part *part);

// Writes the sum of the cells that support each index: support[x] is what agg_row_scan gives for
// item x.
//   support: agg_whole_domain_size(part) numbers; those from part->size on are of indices that no
//   device can hold part, sketch: cms, hcms or olh over affine1; row j of the sketch is hashed as
//   row part->first_row + j
// Cost: k m additions in 8 * size bytes, a transform of each row, one of the domain. Memory: 8 *
// size bytes a thread, at most 1 GiB together (fewer threads then add). The result does not depend
// on the number of threads.
agg_err agg_whole_domain(int64_t *support, agg_error *error, const shoal_part *part,
                         const agg_sketch *sketch, unsigned n_threads) SHOAL_MUST_CHECK;

// Writes support[i] of items[i], by agg_row_scan or by agg_whole_domain, whichever costs less: the
// same integers.
//   values, block: as in agg_row_scan
//   items: in a closed domain, indices below part->size
agg_err agg_sketch_support(int64_t *support, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, agg_row_values values, const uint64_t *items,
                           size_t n_items, size_t block, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_sketch_support takes.
uint64_t agg_sketch_support_memory(const shoal_part *part, size_t n_items, unsigned n_threads);

#endif
