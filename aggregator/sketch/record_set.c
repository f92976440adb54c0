// SPDX-License-Identifier: Apache-2.0
// Sorted distinct records: newcomers are sorted, then merged in from the end; see record_set.h.
#include "record_set.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"

void agg_record_set_init(agg_record_set *set, uint32_t record_size)
{
    memset(set, 0, sizeof *set);
    set->record_size = record_size;
}

void agg_record_set_release(agg_record_set *set)
{
    free(set->records);
    free(set->counts);
    memset(set, 0, sizeof *set);
}

agg_err agg_record_set_reserve(agg_record_set *set, agg_error *error, uint64_t n_distinct)
{
    uint64_t most = AGG_RECORD_SET_BYTES / (set->record_size + 4u);
    if (n_distinct > most)
        return agg_fail(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME,
                        "an accumulator keeps at most %llu distinct records of %u bytes",
                        (unsigned long long)most, set->record_size);
    agg_err err = agg_grow((void **)&set->records, &set->records_cap, (size_t)n_distinct,
                           set->record_size, error);
    if (err != SHOAL_OK) return err;
    return agg_grow((void **)&set->counts, &set->counts_cap, (size_t)n_distinct,
                    sizeof *set->counts, error);
}

// A distinct record that is about to join a set.
typedef struct newcomer {
    uint64_t start; // the first eight bytes as a number that compares as they do: most comparisons
                    // need no more
    uint32_t index, count;
} newcomer;

// Distinct records in ascending order that are about to join a set.
typedef struct incoming {
    const uint8_t *records;
    size_t size;     // bytes of one
    uint64_t n;      // distinct
    newcomer *order; // NULL: the records lie in order, and `counts` counts them
    const uint32_t *counts;
} incoming;

static const uint8_t *record_of(const incoming *in, uint64_t i)
{
    return in->records + (in->order == NULL ? i : in->order[i].index) * in->size;
}

static uint32_t count_of(const incoming *in, uint64_t i)
{
    return in->order == NULL ? in->counts[i] : in->order[i].count;
}

static uint64_t start_of(const uint8_t *record, size_t size)
{
    uint8_t eight[8] = {0};
    memcpy(eight, record, size < 8 ? size : 8);
    return (uint64_t)load32_be(eight) << 32 | load32_be(eight + 4);
}

// Returns: how many records of the set come before the newcomer, at least `from`. The search
// gallops, since newcomers may be few beside the set, or as many.
static uint64_t find_place(const agg_record_set *set, uint64_t from, const uint8_t *record)
{
    uint64_t low = from, step = 1;
    while (low + step <= set->n_distinct &&
           memcmp(agg_record_set_at(set, low + step - 1), record, set->record_size) < 0) {
        low += step;
        step *= 2;
    }
    uint64_t high = low + step < set->n_distinct ? low + step : set->n_distinct;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (memcmp(agg_record_set_at(set, middle), record, set->record_size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const agg_record_set *set, uint64_t place, const uint8_t *record)
{
    return place < set->n_distinct &&
           memcmp(agg_record_set_at(set, place), record, set->record_size) == 0;
}

static uint64_t count_shared(const agg_record_set *set, const incoming *in)
{
    uint64_t shared = 0, place = 0;
    for (uint64_t i = 0; i < in->n; i++) {
        place = find_place(set, place, record_of(in, i));
        if (is_at(set, place, record_of(in, i))) shared++;
    }
    return shared;
}

// Merges from the end, so that every record moves once, to a place that is free by then.
static void join(agg_record_set *set, const incoming *in, uint64_t n_after)
{
    uint64_t left = set->n_distinct, out = n_after;
    for (uint64_t i = in->n; i-- > 0;) {
        const uint8_t *record = record_of(in, i);
        int order = 1;
        while (left > 0 &&
               (order = memcmp(agg_record_set_at(set, left - 1), record, in->size)) > 0) {
            left--;
            out--;
            if (out == left) continue; // the record lies where it belongs
            memcpy(set->records + out * in->size, agg_record_set_at(set, left), in->size);
            set->counts[out] = set->counts[left];
        }
        uint32_t count = count_of(in, i);
        out--;
        if (left > 0 && order == 0) count += set->counts[--left];
        if (out != left || order != 0) memcpy(set->records + out * in->size, record, in->size);
        set->counts[out] = count;
    }
    set->n_distinct = n_after;
}

static agg_err take(agg_record_set *set, agg_error *error, const incoming *in)
{
    uint64_t n_after = set->n_distinct + in->n - count_shared(set, in);
    agg_err err = agg_record_set_reserve(set, error, n_after);
    if (err == SHOAL_OK) join(set, in, n_after);
    return err;
}

// The records that newcomers point into. qsort cannot pass it to its comparison, which therefore
// compares starts alone.
typedef struct run {
    const uint8_t *records;
    size_t size;
} run;

static int compare_starts(const void *a, const void *b)
{
    const newcomer *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// A heap sort of newcomers of one start by the rest of their bytes: all may have the same start,
// and its worst case is no worse than its mean. sift restores the heap below `at`.
static void sift(const run *r, newcomer *order, uint64_t at, uint64_t n)
{
    for (uint64_t child; (child = 2 * at + 1) < n; at = child) {
        const uint8_t *own = r->records + order[at].index * r->size;
        const uint8_t *one = r->records + order[child].index * r->size;
        if (child + 1 < n &&
            memcmp(r->records + order[child + 1].index * r->size, one, r->size) > 0)
            one = r->records + order[++child].index * r->size;
        if (memcmp(own, one, r->size) >= 0) return;
        newcomer swap = order[at];
        order[at] = order[child];
        order[child] = swap;
    }
}

static void sort_alike(const run *r, newcomer *order, uint64_t n)
{
    for (uint64_t i = n / 2; i-- > 0;) sift(r, order, i, n);
    for (uint64_t i = n; i-- > 1;) {
        newcomer swap = order[0];
        order[0] = order[i];
        order[i] = swap;
        sift(r, order, 0, i);
    }
}

// Sorts newcomers and joins equal ones. Returns: how many are distinct.
static uint64_t sort_newcomers(newcomer *order, size_t n, const run *r)
{
    uint64_t kept = 0;
    qsort(order, n, sizeof *order, compare_starts);
    for (uint64_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && order[last].start == order[first].start;) last++;
        if (last - first > 1) sort_alike(r, order + first, last - first);
    }
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *record = r->records + order[i].index * r->size;
        bool is_again =
            kept > 0 && memcmp(r->records + order[kept - 1].index * r->size, record, r->size) == 0;
        if (is_again)
            order[kept - 1].count++;
        else
            order[kept++] = order[i];
    }
    return kept;
}

agg_err agg_record_set_add(agg_record_set *set, agg_error *error, const uint8_t *records,
                           uint32_t count)
{
    const run r = {records, set->record_size};
    newcomer *order = agg_alloc(error, count, sizeof *order);
    if (order == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (newcomer){start_of(records + i * r.size, r.size), i, 1};
    const incoming in = {records, r.size, sort_newcomers(order, count, &r), order, NULL};
    agg_err err = take(set, error, &in);
    free(order);
    return err;
}

agg_err agg_record_set_merge(agg_record_set *into, agg_error *error, const agg_record_set *from)
{
    const incoming in = {from->records, into->record_size, from->n_distinct, NULL, from->counts};
    return take(into, error, &in);
}
