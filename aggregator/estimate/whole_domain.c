// SPDX-License-Identifier: Apache-2.0
// Adds a sketch's rows into the transform of the domain, and transforms back; see whole_domain.h.
#include "whole_domain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "wht.h"

#define HALF_BITS (SHOAL_AFFINE1_OUT_BITS / 2)
#define HALF ((size_t)1 << HALF_BITS)
#define SIGN ((uint32_t)1 << 31)
#define COPIES ((size_t)1 << 27) // numbers in all threads' sums together: 1 GiB

typedef struct decoding {
    const shoal_part *part;
    const agg_sketch *sketch;
    size_t size;     // of the domain, a power of two
    bool is_signed;  // cells are sums of Hadamard entries
    uint64_t *sums;  // F; the first thread's sums
    uint64_t *more;  // `size` numbers for each of the other threads
    int64_t *values; // m numbers a thread
    unsigned n_parts;
} decoding;

// Tables of the place of each z of a row: A^T z, with <z, b> in the bit SIGN. The place is linear
// in z, so that the two halves of z have a table each.
typedef struct places {
    uint32_t low[HALF], high[HALF];
} places;

static void fill_places(uint32_t *table, const shoal_affine1 *row, uint32_t first, uint32_t bits,
                        uint32_t mask)
{
    table[0] = 0;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t step = (row->a[first + i] & mask) | (row->b >> (first + i) & 1) << 31;
        for (uint32_t z = 0; z < (uint32_t)1 << i; z++)
            table[z | (uint32_t)1 << i] = table[z] ^ step;
    }
}

static void prepare_places(places *p, const shoal_part *part, uint32_t j, size_t size)
{
    shoal_affine1 row;
    uint32_t mask = (uint32_t)size - 1;
    shoal_affine1_row(&row, part->seed, part->first_row + j, part->m);
    uint32_t low_bits = row.bits < HALF_BITS ? row.bits : HALF_BITS;
    fill_places(p->low, &row, 0, low_bits, mask);
    fill_places(p->high, &row, low_bits, row.bits - low_bits, mask);
}

// Adds a row's numbers at their places and with their signs.
static void scatter(uint64_t *sums, const places *p, const int64_t *values, uint32_t m)
{
    uint32_t half = m < HALF ? m : (uint32_t)HALF;
    for (uint32_t first = 0; first < m; first += half) {
        uint32_t high = p->high[first >> HALF_BITS];
        for (uint32_t z = 0; z < half; z++) {
            uint32_t place = high ^ p->low[z];
            uint64_t negative = 0 - (uint64_t)(place >> 31);
            sums[place & ~SIGN] += ((uint64_t)values[first + z] ^ negative) - negative;
        }
    }
}

// Widens the cells of a row.
// Returns: whether any of them is not zero.
static bool read_row(int64_t *values, const decoding *d, uint32_t j)
{
    uint32_t m = d->part->m, any = 0;
    const uint32_t *ones = d->sketch->cells.ones + (size_t)j * m;
    const int32_t *sums = d->sketch->cells.sums + (size_t)j * m;
    for (uint32_t l = 0; l < m; l++) any |= ones[l];
    if (any == 0) return false;
    if (d->is_signed)
        for (uint32_t l = 0; l < m; l++) values[l] = sums[l];
    else
        for (uint32_t l = 0; l < m; l++) values[l] = ones[l];
    return true;
}

static void add_rows(void *context, unsigned part, unsigned n_parts)
{
    const decoding *d = context;
    uint64_t k = d->part->k, *sums = part == 0 ? d->sums : d->more + (part - 1) * d->size;
    int64_t *values = d->values + (size_t)part * d->part->m;
    places p;
    for (uint32_t j = (uint32_t)(k * part / n_parts); j < (uint32_t)(k * (part + 1) / n_parts);
         j++) {
        if (!read_row(values, d, j)) continue;
        if (!d->is_signed) agg_wht_row(values, d->part->m);
        prepare_places(&p, d->part, j, d->size);
        scatter(sums, &p, values, d->part->m);
    }
}

// Adds all threads' sums to those of the first.
static void join_sums(void *context, unsigned part, unsigned n_parts)
{
    const decoding *d = context;
    size_t start = d->size * part / n_parts, stop = d->size * (part + 1) / n_parts;
    for (unsigned t = 1; t < d->n_parts; t++)
        for (size_t i = start; i < stop; i++) d->sums[i] += d->more[(t - 1) * d->size + i];
}

static unsigned parts_of(size_t size, unsigned n_threads)
{
    if (n_threads > AGG_THREADS_MAX) n_threads = AGG_THREADS_MAX;
    if (n_threads > COPIES / size) n_threads = (unsigned)(COPIES / size);
    return n_threads < 1 ? 1 : n_threads;
}

static void divide(uint64_t *sums, size_t size, uint32_t m)
{
    uint32_t bits = 0;
    while (m >> (bits + 1) != 0) bits++;
    for (size_t i = 0; i < size; i++) sums[i] >>= bits; // not negative if there is a division
}

size_t agg_whole_domain_size(const shoal_part *part)
{
    size_t size = 1;
    while (size < part->size) size *= 2;
    return size;
}

agg_err agg_whole_domain(int64_t *support, agg_error *error, const shoal_part *part,
                         const agg_sketch *sketch, unsigned n_threads)
{
    bool is_signed = agg_sketch_kind_of(sketch->shape.mechanism)->is_signed;
    decoding d = {part, sketch, agg_whole_domain_size(part), is_signed, (uint64_t *)support, NULL,
                  NULL, 1};
    d.n_parts = parts_of(d.size, n_threads);
    d.more = agg_alloc(error, d.size * (d.n_parts - 1), sizeof *d.more);
    void *values = agg_alloc(error, part->m + AGG_LINE, d.n_parts * sizeof *d.values);
    agg_err err = d.more == NULL || values == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK) {
        d.values = agg_line_start(values);
        memset(d.sums, 0, d.size * sizeof *d.sums);
        agg_parallel(d.n_parts, add_rows, &d);
        agg_parallel(d.n_parts, join_sums, &d);
        err = agg_wht_wide(support, error, d.size, n_threads);
    }
    if (err == SHOAL_OK && !is_signed) divide(d.sums, d.size, part->m);
    free(d.more);
    free(values);
    return err;
}

// Nanoseconds on one core of the machine in docs/performance.md. Only their ratios matter, which
// decide where the two ways cost the same.
#define ROW_NS 900.0   // a row's key and tables
#define LOOK_UP_NS 1.2 // looking up an item in a row
#define NEAR_NS 3.0    // an addition in the cache, with its share of the row's transform
#define FAR_NS 13.0    // an addition outside the cache
#define DOMAIN_NS 10.0 // the memory and the transform of an index of the domain
#define NEAR_SIZE ((size_t)1 << 19)

static bool whole_is_cheaper(const shoal_part *part, size_t n_items)
{
    double k = part->k, size = (double)agg_whole_domain_size(part);
    double add = size <= (double)NEAR_SIZE ? NEAR_NS : FAR_NS;
    return k * (ROW_NS + add * part->m) + DOMAIN_NS * size <
           k * (ROW_NS + LOOK_UP_NS * (double)n_items + part->m);
}

static agg_err pick(int64_t *support, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, const uint64_t *items, size_t n_items,
                    unsigned n_threads)
{
    size_t size = agg_whole_domain_size(part);
    void *memory = agg_alloc(error, size + AGG_LINE, sizeof(int64_t));
    if (memory == NULL) return AGG_ERR_MEMORY;
    int64_t *all = agg_line_start(memory);
    agg_err err = agg_whole_domain(all, error, part, sketch, n_threads);
    for (size_t i = 0; err == SHOAL_OK && i < n_items; i++) support[i] = all[items[i] & (size - 1)];
    free(memory);
    return err;
}

agg_err agg_sketch_support(int64_t *support, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, agg_row_values values, const uint64_t *items,
                           size_t n_items, size_t block, unsigned n_threads)
{
    if (part->hash == SHOAL_HASH_AFFINE1 && whole_is_cheaper(part, n_items))
        return pick(support, error, part, sketch, items, n_items, n_threads);
    return agg_row_scan(support, error, part, sketch, values, items, n_items, block, n_threads);
}

uint64_t agg_sketch_support_memory(const shoal_part *part, size_t n_items, unsigned n_threads)
{
    if (part->hash != SHOAL_HASH_AFFINE1 || !whole_is_cheaper(part, n_items))
        return agg_row_scan_memory(part, n_items, n_threads);
    size_t size = agg_whole_domain_size(part);
    uint64_t parts = parts_of(size, n_threads);
    return parts * (size + part->m) *
           sizeof(int64_t); // all threads' sums; the first thread's become the supports
}
