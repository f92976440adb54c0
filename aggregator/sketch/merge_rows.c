// SPDX-License-Identifier: Apache-2.0
// Rows of several files in one accumulator; see merge_rows.h. One file at a time lies in memory
// beside the whole.
#include "merge_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

agg_err agg_merge_rows_parse(agg_rows *rows, agg_error *error, const char *text)
{
    char *end = NULL;
    unsigned long first = 0, last = 0;
    *rows = (agg_rows){0, 0};
    if (text == NULL) return SHOAL_OK;
    if (isdigit((unsigned char)*text)) first = strtoul(text, &end, 10);
    if (first > 0 && *end == '-' && isdigit((unsigned char)end[1])) {
        last = strtoul(end + 1, &end, 10);
        if (*end != '\0') last = 0;
    }
    if (first == 0 || last < first || last > UINT32_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--rows: not A-B with 1 <= A <= B: %s", text);
    *rows = (agg_rows){(uint32_t)first, (uint32_t)last};
    return SHOAL_OK;
}

typedef struct held {
    agg_rows rows;
    const char *file;
} held;

static bool claims_equal(const agg_claims *a, const agg_claims *b)
{
    return a->n == b->n && a->is_complete == b->is_complete &&
           (a->n == 0 || memcmp(a->ids, b->ids, AGG_CLAIM * a->n) == 0);
}

// Checks that a file counts what the others count.
static agg_err check_same(const agg_accumulator *whole, agg_error *error,
                          const agg_accumulator *part, const char *file)
{
    if (part->rows.first == 0)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                        "%s holds all rows, and the others hold some", file);
    agg_accumulator about = *part;
    about.rows = whole->rows;
    agg_err err = agg_accumulator_check_alike(whole, error, &about);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", file);
        return err;
    }
    if (part->n == whole->n && claims_equal(&part->claims, &whole->claims) &&
        agg_shard_claims_equal(&part->shards, &whole->shards))
        return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                    "%s does not count the same reports as the files before it; rows of one merge "
                    "are put together; nothing was written",
                    file);
}

static agg_err note_rows(held *list, agg_error *error, int n, agg_rows rows, const char *file)
{
    for (int i = 0; i < n; i++)
        if (rows.first <= list[i].rows.last && list[i].rows.first <= rows.last)
            return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                            "%s and %s both hold row %u; nothing was written", list[i].file, file,
                            rows.first > list[i].rows.first ? rows.first : list[i].rows.first);
    list[n] = (held){rows, file};
    return SHOAL_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const held *x = a, *y = b;
    return (x->rows.first > y->rows.first) - (x->rows.first < y->rows.first);
}

static agg_err check_all(held *list, agg_error *error, int n, uint32_t n_rows)
{
    uint32_t next = 1;
    qsort(list, (size_t)n, sizeof *list, compare_rows);
    for (int i = 0; i < n && list[i].rows.first == next; i++) next = list[i].rows.last + 1;
    if (next > n_rows) return SHOAL_OK;
    uint32_t last = n_rows;
    for (int i = n; i-- > 0;)
        if (list[i].rows.first > next) last = list[i].rows.first - 1;
    return agg_fail(error, AGG_ERR_INCOMPLETE, AGG_EXIT_RUNTIME,
                    "incomplete: no file holds rows %u-%u of %u; nothing was written", next, last,
                    n_rows);
}

static agg_err add_file(agg_accumulator *whole, agg_error *error, held *list, int index,
                        const char *file)
{
    agg_accumulator part;
    agg_err err = agg_accumulator_load_rows(&part, error, file, (agg_rows){0, 0});
    if (err != SHOAL_OK) return err;
    agg_rows rows = part.rows;
    const char *name = strcmp(file, "-") == 0 ? "standard input" : file;
    if (index > 0) err = check_same(whole, error, &part, name);
    if (err == SHOAL_OK) err = note_rows(list, error, index, rows, name);
    if (err == SHOAL_OK && index == 0) err = agg_accumulator_init_like(whole, error, &part);
    if (err == SHOAL_OK) agg_accumulator_put_rows(whole, &part);
    agg_accumulator_release(&part);
    return err;
}

agg_err agg_merge_rows(agg_accumulator *whole, agg_error *error, const char *const *files,
                       int n_files)
{
    held *list = agg_alloc(error, (size_t)n_files, sizeof *list);
    memset(whole, 0, sizeof *whole);
    if (list == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    for (int i = 0; err == SHOAL_OK && i < n_files; i++)
        err = add_file(whole, error, list, i, files[i]);
    if (err == SHOAL_OK) err = check_all(list, error, n_files, agg_accumulator_row_count(whole));
    free(list);
    if (err != SHOAL_OK) agg_accumulator_release(whole);
    return err;
}
