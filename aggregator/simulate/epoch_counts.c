// SPDX-License-Identifier: Apache-2.0
// Counts files over time; see epoch_counts.h.
#include "epoch_counts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"

#define FILE_MAX ((size_t)1 << 30)
#define SUM_MAX ((uint64_t)1 << 53)
#define EPOCH_MAX 65537u

typedef struct line {
    agg_text value, group;
    uint32_t value_index, group_index, epoch;
    uint64_t count;
    size_t number; // of the line in the file, from 1
} line;

typedef struct lines {
    line *all;
    size_t n, cap;
    int n_columns; // 3 or 4; 0 before the first line
} lines;

static agg_err refuse(agg_error *error, size_t number, const char *why)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "line %zu: %s", number, why);
}

// ---- lines ----

static bool read_whole(uint64_t *out, agg_text text)
{
    uint64_t sum = 0;
    if (text.len == 0 || text.len > 16) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return false;
        sum = 10 * sum + (uint64_t)(text.bytes[i] - '0');
    }
    *out = sum;
    return sum <= SUM_MAX;
}

// Cuts a line at its tabs. Returns: the number of columns; 5 for more than 4.
static int cut(agg_text columns[4], const char *at, size_t len)
{
    int n = 0;
    for (;;) {
        const char *tab = memchr(at, '\t', len);
        size_t own = tab != NULL ? (size_t)(tab - at) : len;
        if (n == 4) return 5;
        columns[n++] = (agg_text){at, own};
        if (tab == NULL) return n;
        at += own + 1;
        len -= own + 1;
    }
}

static agg_err take_line(lines *out, agg_error *error, const char *at, size_t len, size_t number)
{
    agg_text columns[4] = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {"", 0}};
    uint64_t epoch = 0, count = 0;
    int n = cut(columns, at, len);
    if (n != 3 && n != 4)
        return refuse(error, number,
                      "a line must be epoch<TAB>value<TAB>count, with <TAB>group at its end if "
                      "there are groups");
    if (out->n_columns != 0 && n != out->n_columns)
        return refuse(error, number, "either all lines must have a group, or none");
    out->n_columns = n;
    if (!read_whole(&epoch, columns[0]) || epoch < 1 || epoch > EPOCH_MAX)
        return refuse(error, number, "the epoch is not a whole number from 1 to 65537");
    if (columns[1].len == 0 || memchr(columns[1].bytes, 0, columns[1].len) != NULL)
        return refuse(error, number, "the value is empty, or holds a NUL");
    if (!read_whole(&count, columns[2]))
        return refuse(error, number, "the count is not a whole number up to 2^53");
    agg_err err = agg_grow((void **)&out->all, &out->cap, out->n + 1, sizeof *out->all, error);
    if (err != SHOAL_OK) return err;
    out->all[out->n++] = (line){columns[1], columns[3], 0, 0, (uint32_t)epoch, count, number};
    return SHOAL_OK;
}

static agg_err take_lines(lines *out, agg_error *error, const char *bytes, size_t len)
{
    size_t number = 1;
    for (const char *at = bytes, *end = bytes + len; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)),
                   *stop = newline != NULL ? newline : end;
        size_t own = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        agg_err err = own > 0 ? take_line(out, error, at, own, number) : SHOAL_OK;
        if (err != SHOAL_OK) return err;
        at = stop + 1;
    }
    return out->n > 0 ? SHOAL_OK : agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "holds no line");
}

// ---- names ----

static int by_text(const void *a, const void *b)
{
    return agg_text_compare(*(const agg_text *)a, *(const agg_text *)b);
}

// Lists the texts that occur, each once, sorted by bytes.
static agg_err name(agg_list *names, agg_error *error, const lines *all, const char *path,
                    bool is_group)
{
    agg_text *texts = agg_alloc(error, all->n, sizeof *texts);
    size_t n = 0;
    if (texts == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < all->n; i++) texts[i] = is_group ? all->all[i].group : all->all[i].value;
    qsort(texts, all->n, sizeof *texts, by_text);
    for (size_t i = 0; i < all->n; i++)
        if (n == 0 || agg_text_compare(texts[i], texts[n - 1]) != 0) texts[n++] = texts[i];
    agg_err err = is_group && n > EPOCH_COUNTS_GROUPS_MAX
                      ? agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "more than %u groups",
                                 EPOCH_COUNTS_GROUPS_MAX)
                      : agg_list_copy(names, error, path, texts, n);
    free(texts);
    return err;
}

static agg_err name_all(epoch_counts *counts, agg_error *error, lines *all)
{
    agg_err err = name(&counts->values, error, all, "values", false);
    if (err == SHOAL_OK) err = name(&counts->groups, error, all, "groups", true);
    for (size_t i = 0; i < all->n && err == SHOAL_OK; i++) {
        all->all[i].value_index = agg_list_find(&counts->values, all->all[i].value);
        all->all[i].group_index = agg_list_find(&counts->groups, all->all[i].group);
    }
    return err;
}

// ---- laws ----

static int by_group_and_epoch(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->group_index != y->group_index) return x->group_index < y->group_index ? -1 : 1;
    if (x->epoch != y->epoch) return x->epoch < y->epoch ? -1 : 1;
    if (x->value_index != y->value_index) return x->value_index < y->value_index ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_one_law(const line *a, const line *b)
{
    return a->group_index == b->group_index && a->epoch == b->epoch;
}

static agg_err check_law(agg_error *error, const epoch_law *law, const epoch_law *before,
                         size_t number)
{
    if (law->total == 0)
        return refuse(error, number, "all counts of this epoch and group are zero");
    if (law->total > SUM_MAX)
        return refuse(error, number, "the counts of this epoch and group add up to more than 2^53");
    if ((before == NULL || before->group != law->group) && law->epoch != 1)
        return refuse(error, number, "a group has no line in epoch 1");
    return SHOAL_OK;
}

static agg_err make_laws(epoch_counts *counts, agg_error *error, const lines *all)
{
    for (size_t i = 0; i < all->n;) {
        const line *start = &all->all[i];
        epoch_law *law = &counts->laws[counts->n_laws];
        *law = (epoch_law){start->group_index, start->epoch, i, 0, 0};
        for (; i < all->n && is_one_law(start, &all->all[i]); i++) {
            if (law->n > 0 && all->all[i].value_index == all->all[i - 1].value_index)
                return refuse(error, all->all[i].number,
                              "the value came before in this epoch and group");
            counts->entries[i] = (epoch_count){all->all[i].value_index, all->all[i].count};
            law->total = law->total > SUM_MAX ? law->total : law->total + all->all[i].count;
            law->n++;
        }
        agg_err err = check_law(error, law, counts->n_laws > 0 ? law - 1 : NULL, start->number);
        if (err != SHOAL_OK) return err;
        if (law->epoch == 1) counts->sizes[law->group] = law->total;
        if (law->epoch > counts->last_epoch) counts->last_epoch = law->epoch;
        counts->n_laws++;
    }
    return SHOAL_OK;
}

static agg_err parse(epoch_counts *counts, agg_error *error, lines *all, const char *bytes,
                     size_t len)
{
    agg_err err = take_lines(all, error, bytes, len);
    if (err == SHOAL_OK) err = name_all(counts, error, all);
    if (err != SHOAL_OK) return err;
    qsort(all->all, all->n, sizeof *all->all, by_group_and_epoch);
    counts->entries = agg_alloc(error, all->n, sizeof *counts->entries);
    counts->laws = agg_alloc(error, all->n, sizeof *counts->laws);
    counts->sizes = agg_alloc(error, counts->groups.n, sizeof *counts->sizes);
    if (counts->entries == NULL || counts->laws == NULL || counts->sizes == NULL)
        return AGG_ERR_MEMORY;
    return make_laws(counts, error, all);
}

agg_err epoch_counts_parse(epoch_counts *counts, agg_error *error, const char *name_of_file,
                           const char *bytes, size_t len)
{
    lines all = {0};
    memset(counts, 0, sizeof *counts);
    agg_err err = parse(counts, error, &all, bytes, len);
    free(all.all);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", name_of_file);
    epoch_counts_release(counts);
    return err;
}

agg_err epoch_counts_load(epoch_counts *counts, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = epoch_counts_parse(counts, error, path, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

void epoch_counts_release(epoch_counts *counts)
{
    agg_list_release(&counts->values);
    agg_list_release(&counts->groups);
    free(counts->entries);
    free(counts->laws);
    free(counts->sizes);
    memset(counts, 0, sizeof *counts);
}

// ---- reading ----

const epoch_law *epoch_counts_law(const epoch_counts *counts, uint32_t group, uint32_t epoch)
{
    size_t low = 0, high = counts->n_laws; // find the last law that is not after (group, epoch)
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        const epoch_law *law = &counts->laws[middle];
        if (law->group > group || (law->group == group && law->epoch > epoch))
            high = middle;
        else
            low = middle;
    }
    return &counts->laws[low];
}

uint64_t epoch_counts_first_device(const epoch_counts *counts, uint32_t group, uint64_t n)
{
    double before = 0, all = 0;
    if (group == counts->groups.n) return n;
    for (uint32_t g = 0; g < counts->groups.n; g++) {
        if (g < group) before += (double)counts->sizes[g];
        all += (double)counts->sizes[g];
    }
    return (uint64_t)((double)n * (before / all) + 0.5);
}

static double mean_of_law(const epoch_counts *counts, const double *numbers, const epoch_law *law)
{
    double sum = 0;
    for (size_t i = law->first; i < law->first + law->n; i++)
        sum += (double)counts->entries[i].count * numbers[counts->entries[i].value];
    return sum / (double)law->total;
}

double epoch_counts_mean(const epoch_counts *counts, const double *numbers, uint32_t epoch,
                         uint64_t n)
{
    double sum = 0;
    for (uint32_t g = 0; g < counts->groups.n; g++) {
        uint64_t size =
            epoch_counts_first_device(counts, g + 1, n) - epoch_counts_first_device(counts, g, n);
        sum += (double)size * mean_of_law(counts, numbers, epoch_counts_law(counts, g, epoch));
    }
    return sum / (double)n;
}
