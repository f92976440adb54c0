// SPDX-License-Identifier: Apache-2.0
// Computes the support of every index of a closed domain at once, from a sketch whose rows hash by
// affine1. Private to the aggregator.
//
// h_j(x) = A_j x + b_j over GF(2) (core/hash/affine1.h). So the Walsh-Hadamard transform H maps
// each row to a few points of the transform of the whole domain. With M_j the row's cells and w the
// bits of size - 1,
//
//     sum_j M_j[h_j(x)] = (1/m) (H F)[x]
//     F[A_j^T z] += (-1)^<z, b_j> (H M_j)[z]     for every j, and z in [m]
//
// That takes k m additions at scattered places and one transform of 2^w numbers, whatever the
// number of indices. An HCMS row contains sums S_j of Hadamard entries, M_j = H S_j, so that it
// needs neither a transform of its own nor the division:
//
//     F[A_j^T l] += (-1)^<l, b_j> S_j[l]
//
// Results are exact. All sums are integers modulo 2^64. There are at most 2^28 cells of 32 bits, so
// that m times a support is below 2^60 whatever a file contains; intermediate sums may wrap. The
// division by m leaves no remainder.
#ifndef WHOLE_DOMAIN_H
#define WHOLE_DOMAIN_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"
#include "row_scan.h"
#include "sketch.h"

// Returns: the number of supports that agg_whole_domain writes: the least power of two that is not
// below part->size.
//   part: over affine1, with a size of 1 .. 2^24
size_t agg_whole_domain_size(const shoal_part *part);

// Computes the supports of all indices, as agg_row_scan does for items. The result does not depend
// on the number of threads.
//   support: agg_whole_domain_size(part) numbers; those from part->size on belong to indices that
//     no device can hold
//   part, sketch: of cms, hcms or olh over affine1; row j of the sketch is hashed as row
//     part->first_row + j
// Cost: k m additions in 8 * size bytes, a transform of each row, and one of the domain. Memory:
// 8 * size bytes a thread, at most 1 GiB together; fewer threads work if it would be more.
agg_err agg_whole_domain(int64_t *support, agg_error *error, const shoal_part *part,
                         const agg_sketch *sketch, unsigned n_threads) SHOAL_MUST_CHECK;

// Computes the supports of items by agg_row_scan or by agg_whole_domain, whichever costs less. Both
// give the same integers.
//   values, block: as in agg_row_scan
//   items: below part->size in a closed domain
agg_err agg_sketch_support(int64_t *support, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, agg_row_values values, const uint64_t *items,
                           size_t n_items, size_t block, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_sketch_support takes.
uint64_t agg_sketch_support_memory(const shoal_part *part, size_t n_items, unsigned n_threads);

#endif
