// SPDX-License-Identifier: Apache-2.0
// Likelihoods of a part's records; see joint_likelihood.h.
#include "joint_likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "agg_size.h"
#include "estimator.h"
#include "joint_marks.h"
#include "poly1.h"

#define LEAST_OTHER 0.001 // share of Other's reports that shares among them are scaled by
#define DOUBT 2.0         // standard errors
#define CAUTION                                                                                    \
    1000.0 // times its noise that the spread of a row's shares must be, to be believed at all
#define ROUNDING 0x1p-52     // of a sum that is one
#define NO_COLUMN UINT32_MAX // a column that the same item has twice

struct agg_joint_law {
    const agg_joint_marks *marks;
    const shoal_part *part;
    const agg_sketch *sketch;
    agg_joint_coins coins;
    double log_hit, log_miss, log_none;
    int is_hashed, has_other;
    double n;           // reports
    uint32_t n_columns; // of one row, or of the list
    uint32_t n_items, hashes,
        none; // `none`: which item is "none of the list" without a column; n_items where none is
    uint64_t *items;
    double *shares, share_of_other; // hashed rows: of the items, of the rest
    double
        noise; // hashed rows: variance of a column's share among Other's, times the row's reports
    double spread; // hashed rows: and beyond what that makes it
    int has_row;
    uint32_t row;      // the one that is prepared
    uint32_t *columns; // n_items * hashes: of the prepared row, each once an item
    double *other; // n_columns: Other's shares (one column a value), or what a marked bit adds to
                   // the log-likelihood
    double other_none; // Other's share that has no column; or the log-likelihood of no bit marked
    uint8_t *is_named; // n_columns: of the row being prepared, or of the list and one for "none": a
                       // category has it
    double *uniform;   // n_columns, where hashed rows have an item that is none of the list
};

// -- Rows and columns
// -------------------------------------------------------------------------------------------------------------------

// Of a row that is hashed: the columns of one of its hash functions.
static void hash_items(agg_joint_law *law, uint32_t j, uint32_t h)
{
    const shoal_part *part = law->part;
    if (part->hash == SHOAL_HASH_AFFINE1) {
        shoal_affine1 row;
        shoal_affine1_row(&row, part->seed, j, part->m);
        for (uint32_t i = 0; i < law->n_items; i++)
            law->columns[i] = shoal_affine1_hash(&row, (uint32_t)law->items[i]);
        return;
    }
    shoal_poly1 row;
    shoal_poly1_row(&row, part->seed, j * law->hashes + h);
    for (uint32_t i = 0; i < law->n_items; i++)
        law->columns[i * law->hashes + h] =
            shoal_poly1_hash(&row, shoal_poly1_point(law->items[i]), part->m);
}

// A column that two hash functions of an item share is one bit.
static void drop_repeats(uint32_t *columns, uint32_t n)
{
    for (uint32_t a = 1; a < n; a++)
        for (uint32_t b = 0; b < a; b++)
            if (columns[a] == columns[b]) columns[a] = NO_COLUMN;
}

static void find_columns(agg_joint_law *law, uint32_t j)
{
    for (uint32_t h = 0; h < law->hashes; h++) hash_items(law, j, h);
    for (uint32_t i = 0; i < law->n_items; i++)
        drop_repeats(law->columns + i * law->hashes, law->hashes);
}

static void find_entries(agg_joint_law *law)
{
    for (uint32_t i = 0; i < law->n_items; i++)
        law->columns[i] =
            law->items[i] == SHOAL_ITEM_NONE ? law->part->size : (uint32_t)law->items[i];
}

// -- What Other sends
// -------------------------------------------------------------------------------------------------------------------

// Reports of row j. Signs do not say how many they were: there it is what chance gives every row,
// which reports in plenty come near.
static double reports_of(const agg_joint_law *law, uint32_t j)
{
    double sum = 0;
    if (law->sketch->rows != NULL) return law->sketch->rows[j];
    if (law->marks->transform != NULL) return law->n / law->part->k;
    for (uint32_t l = 0; l < law->part->m; l++)
        sum += law->sketch->cells.ones[(size_t)j * law->part->m + l];
    return sum;
}

// The share of a column among random values.
static double prior_of(const agg_joint_law *law)
{
    return -expm1(law->hashes * log1p(-1.0 / law->part->m));
}

// Writes each column's share among Other's reports of row j, whose columns are found; unbiased.
static void share_row(agg_joint_law *law, uint32_t j, double reports)
{
    law->marks->row_shares(law->other, &law->coins, law->sketch, j, reports);
    for (uint32_t i = 0; i < law->n_items; i++)
        for (uint32_t h = 0; h < law->hashes && i != law->none; h++) {
            uint32_t column = law->columns[i * law->hashes + h];
            if (column != NO_COLUMN) law->other[column] -= law->shares[i];
        }
    double anywhere = law->none < law->n_items ? law->shares[law->none] / law->n_columns : 0;
    for (uint32_t l = 0; l < law->n_columns; l++)
        law->other[l] = (law->other[l] - anywhere) / law->share_of_other;
}

static double square_off(const double *x, uint32_t n, double middle)
{
    double sum = 0;
    for (uint32_t l = 0; l < n; l++) sum += (x[l] - middle) * (x[l] - middle);
    return sum;
}

// Of a column's share among the reports of a row, times their number: of a bit that all columns set
// alike.
static double share_variance(const agg_joint_law *law)
{
    const agg_joint_coins *c = &law->coins;
    double ones = 0, gap = c->own - c->other;
    if (law->marks->transform != NULL) return 1 / ((c->own - c->not_own) * (c->own - c->not_own));
    for (uint64_t i = 0; i < law->sketch->n_cells; i++) ones += law->sketch->cells.ones[i];
    double rate = ones / (law->n * law->part->m);
    return rate * (1 - rate) / (gap * gap);
}

// How much columns differ beyond what chance makes them: no more than is sure, since what rows of
// few reports are believed comes back in the likelihood of these same reports.
static void find_spread(agg_joint_law *law)
{
    double squares = 0, reports = 0, rows = 0;
    law->noise = share_variance(law) / (law->share_of_other * law->share_of_other);
    for (uint32_t j = 0; j < law->part->k; j++) {
        double of_row = reports_of(law, j);
        if (!(of_row > 0)) continue;
        find_columns(law, j);
        share_row(law, j, of_row);
        squares += of_row * square_off(law->other, law->n_columns, prior_of(law));
        reports += of_row;
        rows++;
    }
    double chance =
        rows +
        DOUBT * sqrt(2 * rows / law->n_columns); // each row's mean square has variance 2 / columns
    law->spread =
        reports > 0 ? fmax(0, squares / law->n_columns - chance * law->noise) / reports : 0;
}

static double drawn_towards(double middle, double x, double trust)
{
    double drawn = middle + trust * (x - middle);
    return drawn < 0 ? 0 : drawn > 1 ? 1 : drawn;
}

// Scales to a sum of one with other_none; of nothing, to columns that are all alike.
static void scale_to_one(agg_joint_law *law)
{
    double sum = law->other_none;
    for (uint32_t l = 0; l < law->n_columns; l++) sum += law->other[l];
    for (uint32_t l = 0; l < law->n_columns; l++)
        law->other[l] = sum > 0 ? law->other[l] / sum : 1.0 / law->n_columns;
    law->other_none = sum > 0 ? law->other_none / sum : 0;
}

// Bits that are independent: each marked one adds to the log-likelihood of none marked.
static void use_bits(agg_joint_law *law)
{
    const agg_joint_coins *c = &law->coins;
    law->other_none = 0;
    for (uint32_t l = 0; l < law->n_columns; l++) {
        double v = law->other[l];
        double one = c->other * (1 - v) + c->own * v,
               zero = c->not_other * (1 - v) + c->not_own * v;
        double of_zero = log(zero / c->not_other);
        law->other[l] = log(one / c->other) - of_zero;
        law->other_none += of_zero;
    }
}

// Leaves of the columns that no category has only what they say (joint_marks.h), which no share of
// theirs enters.
static void forget_unnamed(agg_joint_law *law)
{
    double named = 0, n_unnamed = 0;
    for (uint32_t l = 0; l < law->n_columns; l++) {
        if (law->is_named[l])
            named += law->other[l];
        else
            n_unnamed++;
    }
    double rest = fmax(0, 1 - named);
    int is_apart = law->marks->columns == AGG_JOINT_APART;
    double each = is_apart || !(n_unnamed > 0) ? 0 : rest / n_unnamed;
    for (uint32_t l = 0; l < law->n_columns; l++)
        if (!law->is_named[l]) law->other[l] = each;
    law->other_none = is_apart ? rest : 0;
}

static void name_columns(agg_joint_law *law)
{
    memset(law->is_named, 0, law->n_columns);
    for (uint32_t i = 0; i < law->n_items; i++)
        for (uint32_t h = 0; h < law->hashes && i != law->none; h++)
            if (law->columns[i * law->hashes + h] != NO_COLUMN)
                law->is_named[law->columns[i * law->hashes + h]] = 1;
}

static void model_row(agg_joint_law *law, uint32_t j)
{
    double reports = reports_of(law, j), middle = prior_of(law);
    share_row(law, j, reports > 0 ? reports : 1);
    double trust = law->spread > 0 && reports > 0
                       ? fmax(0, 1 - CAUTION * law->noise / (reports * law->spread))
                       : 0;
    for (uint32_t l = 0; l < law->n_columns; l++)
        law->other[l] = drawn_towards(middle, law->other[l], trust);
    law->other_none = 0;
    name_columns(law);
    forget_unnamed(law);
    if (law->hashes > 1) {
        use_bits(law);
        return;
    }
    scale_to_one(law);
    if (law->marks->transform != NULL) law->marks->transform(law->other, law->part);
}

// Gives each block what its entries that no category has are estimated to be; where all of that is
// below zero, as if entries were all alike.
static void fill_blocks(agg_joint_law *law, const agg_count *counts)
{
    double all = 0, sum = 0;
    uint32_t size = law->part->size;
    for (uint32_t x = 0; x < size && law->n > 0; x++) {
        all += counts[x].count / law->n;
        if (!law->is_named[x])
            law->other[law->marks->place(law->part, x)] += counts[x].count / law->n;
    }
    law->other_none = law->n > 0 && !law->is_named[size] ? fmax(0, 1 - all) : 0;
    for (uint32_t l = 0; l < law->n_columns; l++) sum += law->other[l] = fmax(0, law->other[l]);
    for (uint32_t x = 0; x < size && !(sum + law->other_none > 0); x++)
        if (!law->is_named[x]) law->other[law->marks->place(law->part, x)]++;
}

static agg_err count_entries(agg_count *counts, agg_error *error, const agg_joint_law *law,
                             unsigned n_threads)
{
    uint32_t size = law->part->size;
    uint64_t *items = agg_alloc(error, size, sizeof *items);
    if (items == NULL) return AGG_ERR_MEMORY;
    for (uint32_t x = 0; x < size; x++) items[x] = x;
    agg_err err = law->n > 0 ? agg_estimator_counts(counts, error, law->part, law->sketch,
                                                    (uint64_t)law->n, items, size, n_threads)
                             : SHOAL_OK;
    free(items);
    return err;
}

static agg_err model_blocks(agg_joint_law *law, agg_error *error, unsigned n_threads)
{
    agg_count *counts = agg_alloc(error, law->part->size, sizeof *counts);
    agg_err err = counts == NULL ? AGG_ERR_MEMORY : count_entries(counts, error, law, n_threads);
    if (err == SHOAL_OK) {
        fill_blocks(law, counts);
        scale_to_one(law);
    }
    free(counts);
    return err;
}

static agg_err model_list(agg_joint_law *law, agg_error *error, unsigned n_threads)
{
    uint32_t size = law->part->size;
    for (uint32_t i = 0; i < law->n_items; i++)
        law->is_named[law->items[i] < size ? law->items[i] : size] = 1;
    if (law->marks->columns == AGG_JOINT_BLOCKS) return model_blocks(law, error, n_threads);
    forget_unnamed(law);
    return SHOAL_OK;
}

// -- Making
// -----------------------------------------------------------------------------------------------------------------------------

static agg_err share_items(agg_joint_law *law, agg_error *error, const double *given,
                           unsigned n_threads)
{
    uint32_t n_estimated = given == NULL && law->n > 0
                               ? law->none
                               : 0; // "none of the list", the last one, is not estimated
    agg_count *counts = agg_alloc(error, law->n_items, sizeof *counts);
    if (counts == NULL) return AGG_ERR_MEMORY;
    agg_err err = n_estimated > 0
                      ? agg_estimator_counts(counts, error, law->part, law->sketch,
                                             (uint64_t)law->n, law->items, n_estimated, n_threads)
                      : SHOAL_OK;
    double sum = 0;
    for (uint32_t i = 0; err == SHOAL_OK && i < law->n_items; i++) {
        double share = given != NULL ? given[i] : i < n_estimated ? counts[i].count / law->n : 0;
        law->shares[i] = share > 0 ? fmin(share, 1) : 0;
        sum += law->shares[i];
    }
    law->share_of_other = fmax(1 - sum, LEAST_OTHER);
    free(counts);
    return err;
}

static void make_uniform(agg_joint_law *law)
{
    for (uint32_t l = 0; l < law->n_columns; l++) law->uniform[l] = 1.0 / law->n_columns;
    if (law->marks->transform != NULL) law->marks->transform(law->uniform, law->part);
}

static int compare_items(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static agg_err check_items(agg_error *error, const shoal_part *part,
                           const agg_joint_categories *categories)
{
    uint32_t n = categories->n_items;
    uint64_t *sorted = agg_alloc(error, n, sizeof *sorted);
    agg_err err = sorted == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK && agg_joint_categories_count(categories) == 0)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a variable has no category");
    for (uint32_t i = 0; err == SHOAL_OK && i < n; i++) {
        sorted[i] = categories->items[i];
        if (!shoal_part_has_item(part, sorted[i]))
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                           "category %u is not in the variable's list", i + 1);
        else if (part->domain == SHOAL_DOMAIN_CLOSED && sorted[i] == SHOAL_ITEM_NONE && i + 1 < n)
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                           "\"none of the list\" is not the last item");
    }
    if (err == SHOAL_OK) qsort(sorted, n, sizeof *sorted, compare_items);
    for (uint32_t i = 1; err == SHOAL_OK && i < n; i++)
        if (sorted[i] == sorted[i - 1])
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a category is named twice");
    free(sorted);
    return err;
}

// Copies the categories. Where they name the whole list, Other is "none of the list", whose law is
// known.
static agg_err set_items(agg_joint_law *law, agg_error *error,
                         const agg_joint_categories *categories)
{
    const shoal_part *part = law->part;
    int has_none = 0, is_closed = part->domain == SHOAL_DOMAIN_CLOSED;
    for (uint32_t i = 0; is_closed && i < categories->n_items; i++)
        has_none |= categories->items[i] == SHOAL_ITEM_NONE;
    int is_whole = is_closed && categories->n_items - (uint32_t)has_none == part->size;
    if (is_whole && has_none && categories->has_other)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the categories leave nothing over for Other");
    law->has_other = categories->has_other && !is_whole;
    law->n_items = categories->n_items + (categories->has_other && is_whole);
    law->items = agg_alloc(error, law->n_items, sizeof *law->items);
    law->shares = agg_alloc(error, law->n_items, sizeof *law->shares);
    law->columns = agg_alloc(error, (size_t)law->n_items * law->hashes, sizeof *law->columns);
    if (law->items == NULL || law->shares == NULL || law->columns == NULL) return AGG_ERR_MEMORY;
    law->none = law->n_items;
    for (uint32_t i = 0; i < law->n_items; i++) {
        law->items[i] = i < categories->n_items ? categories->items[i] : SHOAL_ITEM_NONE;
        if (is_closed && law->items[i] == SHOAL_ITEM_NONE && !law->marks->none_has_column)
            law->none = i;
    }
    return SHOAL_OK;
}

static agg_err make(agg_joint_law *law, agg_error *error, const agg_joint_categories *categories,
                    unsigned n_threads)
{
    const shoal_part *part = law->part;
    int is_list = part->domain == SHOAL_DOMAIN_CLOSED;
    law->is_hashed =
        law->marks->row_shares != NULL && (!is_list || part->hash == SHOAL_HASH_AFFINE1);
    law->hashes = part->hashes > 1 ? part->hashes : 1;
    law->n_columns = law->is_hashed ? part->m : part->size + (uint32_t)law->marks->none_has_column;
    if (law->marks->place != NULL) law->n_columns = part->k * part->m;
    law->marks->set_coins(&law->coins, part);
    law->log_hit = log(law->coins.hit);
    law->log_miss = log(law->coins.miss);
    law->log_none = log(law->coins.none);
    agg_err err = set_items(law, error, categories);
    if (err != SHOAL_OK) return err;
    law->other = agg_alloc(error, law->has_other ? law->n_columns : 0, sizeof *law->other);
    law->uniform = agg_alloc(error, law->is_hashed && law->none < law->n_items ? law->n_columns : 0,
                             sizeof(double));
    law->is_named =
        agg_alloc(error, law->has_other ? (size_t)law->n_columns + 1 : 0, sizeof *law->is_named);
    if (law->other == NULL || law->uniform == NULL || law->is_named == NULL) return AGG_ERR_MEMORY;
    if (law->is_hashed && law->none < law->n_items) make_uniform(law);
    if (!law->is_hashed) find_entries(law);
    if (!law->has_other) return SHOAL_OK;
    if (!law->is_hashed) return model_list(law, error, n_threads);
    err = share_items(law, error, categories->shares, n_threads);
    if (err == SHOAL_OK) find_spread(law);
    return err;
}

agg_err agg_joint_law_make(agg_joint_law **law, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, uint64_t n,
                           const agg_joint_categories *categories, unsigned n_threads)
{
    const agg_joint_marks *marks = agg_joint_marks_of(part->mechanism);
    if (marks == NULL)
        return agg_fail(error, SHOAL_ERR_MECHANISM, AGG_EXIT_USAGE,
                        "this mechanism's answers name no category");
    agg_err err = check_items(error, part, categories);
    if (err != SHOAL_OK) return err;
    agg_joint_law *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->marks = marks;
    made->part = part;
    made->sketch = sketch;
    made->n = (double)n;
    err = make(made, error, categories, n_threads);
    if (err == SHOAL_OK)
        *law = made;
    else
        agg_joint_law_free(made);
    return err;
}

void agg_joint_law_free(agg_joint_law *law)
{
    if (law == NULL) return;
    free(law->items);
    free(law->shares);
    free(law->columns);
    free(law->other);
    free(law->uniform);
    free(law->is_named);
    free(law);
}

// -- Weighing
// ---------------------------------------------------------------------------------------------------------------------------

uint32_t agg_joint_law_row(const agg_joint_law *law, const uint8_t *record)
{
    return law->marks->row != NULL ? law->marks->row(law->part, record) : 0;
}

static void prepare_row(agg_joint_law *law, uint32_t j)
{
    if (!law->is_hashed || (law->has_row && law->row == j)) return;
    law->has_row = 1;
    law->row = j;
    find_columns(law, j);
    if (law->has_other) model_row(law, j);
}

// Of a value that has each column with the given share, and none of them with `none`'s.
static double log_of_mixture(const agg_joint_law *law, const double *weights, double none,
                             const uint8_t *record)
{
    const agg_joint_coins *c = &law->coins;
    double marked = law->marks->sum_marked(weights, law->part, record);
    double sum = c->miss * (1 - none) + (c->hit - c->miss) * marked + c->none * none;
    return log(fmax(sum, ROUNDING * c->miss)); // below that it is a rounding error of the sums
}

static double log_of_other(const agg_joint_law *law, const uint8_t *record)
{
    if (law->hashes == 1) return log_of_mixture(law, law->other, law->other_none, record);
    return law->other_none + law->marks->sum_marked(law->other, law->part, record);
}

static double log_of_item(const agg_joint_law *law, uint32_t i, const uint8_t *record)
{
    const uint32_t *columns = law->columns + i * law->hashes;
    int n_hits = 0, n_misses = 0;
    if (i == law->none)
        return law->is_hashed ? log_of_mixture(law, law->uniform, 0, record) : law->log_none;
    for (uint32_t h = 0; h < law->hashes; h++) {
        if (columns[h] == NO_COLUMN) continue;
        int is_marked = law->marks->is_marked(law->part, record, columns[h]);
        n_hits += is_marked;
        n_misses += !is_marked;
    }
    return n_hits * law->log_hit + n_misses * law->log_miss;
}

void agg_joint_law_weigh(double *likelihood, agg_joint_law *law, const uint8_t *record)
{
    uint32_t n = law->n_items + (uint32_t)law->has_other;
    double best = -HUGE_VAL;
    prepare_row(law, agg_joint_law_row(law, record));
    for (uint32_t i = 0; i < law->n_items; i++) likelihood[i] = log_of_item(law, i, record);
    if (law->has_other) likelihood[n - 1] = log_of_other(law, record);
    for (uint32_t i = 0; i < n; i++) best = fmax(best, likelihood[i]);
    for (uint32_t i = 0; i < n; i++) likelihood[i] = exp(likelihood[i] - best);
}
