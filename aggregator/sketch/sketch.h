// SPDX-License-Identifier: Apache-2.0
// A sketch is one mechanism's sums over records, in exact integers. An accumulator has one for each
// part of a record.
//
// A sketch is two flat arrays: `cells` (k * m four-byte integers, or m where k is not a number of
// rows) and `rows` (records per row, where the mechanism has rows). agg_sketch_kind says how
// records are added; merging, saving, loading and clearing are the same for all mechanisms.
#ifndef SKETCH_H
#define SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"

// The parameters of a part that a sketch depends on. Files carry them.
typedef struct agg_shape {
    uint32_t mechanism; // id of core/mechanism/mechanisms.def
    uint32_t k, m;      // as in shoal_part
} agg_shape;

// Cells are 32 bits wide, read as unsigned (counts of ones) or signed (sums of signs).
typedef union agg_cells {
    uint32_t *ones;
    int32_t *sums;
} agg_cells;

typedef struct agg_sketch {
    agg_shape shape;
    uint64_t n_cells, n_rows;
    agg_cells cells;
    uint32_t *rows; // records per row; NULL where the mechanism keeps none
} agg_sketch;

typedef struct agg_sketch_kind {
    uint32_t id;
    uint64_t n_max;       // records that cells can count; beyond, adding is refused
    bool has_rows;        // counts records per row
    bool is_signed;       // cells are signed
    bool is_one_row;      // m cells, whatever k is
    bool is_rows_of_bits; // a record is its row and m bits, which row_fold.h adds
    uint32_t (*record_size)(const agg_shape *shape);
    // Returns: SHOAL_ERR_RANGE unless the mechanism can have this shape.
    agg_err (*check)(const agg_shape *shape);
    // Adds `count` checked records that lie `stride` bytes apart, on up to n_threads threads.
    agg_err (*add)(agg_sketch *sketch, agg_error *error, const uint8_t *records, size_t stride,
                   uint32_t count, unsigned n_threads);
    // Returns: the natural logarithm of a bound on the probability of any one record, whatever
    // value a device holds and whatever it remembers. NULL where there are few records, or where
    // the sums tell how often each came.
    double (*log_likeliest)(const shoal_part *part);
} agg_sketch_kind;

// Returns: the kind of a mechanism id, or NULL.
const agg_sketch_kind *agg_sketch_kind_of(uint32_t mechanism);

#define SHOAL_MECHANISM(id, stem, name) extern const agg_sketch_kind agg_##stem##_sketch;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Makes an empty sketch. Returns: SHOAL_ERR_MECHANISM or SHOAL_ERR_RANGE for an impossible shape.
agg_err agg_sketch_init(agg_sketch *sketch, agg_error *error,
                        const agg_shape *shape) SHOAL_MUST_CHECK;
void agg_sketch_release(agg_sketch *sketch);

// Rows first .. end - 1 of a sketch that has n of them; a sketch of is_one_row has one.
typedef struct agg_part_rows {
    uint64_t first, end, n;
} agg_part_rows;

// Makes an empty sketch that holds some rows only. It can be merged with one of the same rows,
// saved and loaded; nothing else reads it.
agg_err agg_sketch_init_rows(agg_sketch *sketch, agg_error *error, const agg_shape *shape,
                             agg_part_rows rows) SHOAL_MUST_CHECK;

// Adds the cells of another sketch of the same shape. The caller checks that the sum of their
// records is at most n_max.
void agg_sketch_merge(agg_sketch *into, const agg_sketch *from);

#endif
