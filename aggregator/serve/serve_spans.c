// SPDX-License-Identifier: Apache-2.0
// Periods of collections; see serve_spans.h.
#include "serve_spans.h"

#include <stdbool.h>
#include <stdlib.h>

#include "store_releases.h"

// Finds the newest day up to `day` that a block belongs to.
// Returns: false if there is none.
static bool find_day(int32_t *day, const agg_release_row *rows, size_t n)
{
    bool is_found = false;
    int32_t newest = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].first_day > *day) continue;
        int32_t last = rows[i].last_day < *day ? rows[i].last_day : *day;
        if (!is_found || last > newest) newest = last;
        is_found = true;
    }
    if (is_found) *day = newest;
    return is_found;
}

// Returns: the blocks that a question for a day gets.
static serve_span blocks_of(int32_t day, const agg_release_row *rows, size_t n)
{
    serve_span found = {.days = {day, day}};
    for (size_t i = 0; i < n; i++) {
        if (!agg_span_overlaps((agg_span){rows[i].first_day, rows[i].last_day}, found.days))
            continue;
        if (found.n++ == 0) found.first_number = rows[i].first_number;
        found.last_number = rows[i].last_number;
    }
    return found;
}

agg_err serve_spans_find(serve_span *list, size_t *n, agg_error *error, agg_store *store,
                         int64_t collection, agg_span within, size_t most)
{
    agg_release_row *rows;
    size_t n_rows, found = 0;
    int32_t day = within.last;
    *n = 0;
    agg_err err = agg_store_releases(store, &rows, &n_rows, error, collection);
    while (err == SHOAL_OK && found < most && find_day(&day, rows, n_rows) && day >= within.first) {
        serve_span one = blocks_of(day--, rows, n_rows);
        // The day before may have the same blocks: one that was merged.
        if (found == 0 || list[found - 1].first_number != one.first_number) list[found++] = one;
    }
    free(rows);
    for (size_t i = 0; i < found / 2; i++) {
        serve_span swapped = list[i];
        list[i] = list[found - 1 - i];
        list[found - 1 - i] = swapped;
    }
    if (err == SHOAL_OK) *n = found;
    return err;
}
