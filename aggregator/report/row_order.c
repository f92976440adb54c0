// SPDX-License-Identifier: Apache-2.0
// Rows in an order; see row_order.h. The rows that are kept form a heap with the last one of them
// on top, so that each further row is compared with that one alone.
#include "row_order.h"

#include <string.h>

bool agg_row_order_has(const char *column)
{
    return strcmp(column, "value") == 0 || strcmp(column, "estimate") == 0 ||
           strcmp(column, "interval") == 0;
}

static int compare_texts(const agg_text *a, const agg_text *b)
{
    size_t least = a->len < b->len ? a->len : b->len;
    int by = least > 0 ? memcmp(a->bytes, b->bytes, least) : 0;
    return by != 0 ? by : (a->len > b->len) - (a->len < b->len);
}

// Returns: whether row a comes after row b.
static bool is_after(const agg_estimate *e, const agg_table_order *order, size_t a, size_t b)
{
    const agg_estimate_row *x = &e->rows[a], *y = &e->rows[b];
    int by = 0;
    if (agg_table_is_by(order, "value")) by = compare_texts(&x->value, &y->value);
    if (agg_table_is_by(order, "estimate")) by = (x->count > y->count) - (x->count < y->count);
    if (agg_table_is_by(order, "interval")) by = (x->low > y->low) - (x->low < y->low);
    by = agg_table_directed(order, by);
    return by != 0 ? by > 0 : a > b;
}

static void swap(size_t *a, size_t *b)
{
    size_t was = *a;
    *a = *b;
    *b = was;
}

static void sift_up(size_t *heap, size_t at, const agg_estimate *e, const agg_table_order *order)
{
    for (; at > 0 && is_after(e, order, heap[at], heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void sift_down(size_t *heap, size_t n, const agg_estimate *e, const agg_table_order *order)
{
    for (size_t at = 0;;) {
        size_t last = at, left = 2 * at + 1;
        for (size_t child = left; child < n && child <= left + 1; child++)
            if (is_after(e, order, heap[child], heap[last])) last = child;
        if (last == at) return;
        swap(&heap[at], &heap[last]);
        at = last;
    }
}

size_t agg_row_order_pick(size_t *picked, size_t cap, size_t *n_found, const agg_estimate *estimate,
                          const agg_table_order *order)
{
    size_t n = 0, found = 0;
    for (size_t i = 0; i < estimate->n_rows; i++) {
        const agg_text *value = &estimate->rows[i].value;
        if (!agg_table_holds(order, value->bytes, value->len)) continue;
        found++;
        if (n < cap) {
            picked[n] = i;
            sift_up(picked, n++, estimate, order);
        } else if (n > 0 && is_after(estimate, order, picked[0], i)) {
            picked[0] = i;
            sift_down(picked, n, estimate, order);
        }
    }
    for (size_t end = n; end > 1; end--) {
        swap(&picked[0], &picked[end - 1]);
        sift_down(picked, end - 1, estimate, order);
    }
    if (n_found != NULL) *n_found = found;
    return n;
}
