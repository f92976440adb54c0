// SPDX-License-Identifier: Apache-2.0
// Trends of the table of collections; see serve_trends.h.
#include "serve_trends.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimate.h"
#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "serve_spans.h"
#include "text_list.h"

#define VALUE_SHOWN 40u // characters of a value beside its picture

typedef enum stage { STAGE_DUE, STAGE_FILLING, STAGE_DONE } stage;

typedef struct point {
    serve_span of;
    agg_trend_point figure; // a share, or a mean; not known below the cohort or the threshold
    double stderr_;
    bool is_made; // it was estimated, whether there is a figure or not
} point;

// One collection. `shown` stays while the next one is made.
typedef struct kept {
    int64_t number; // of the collection in the store
    stage stage;
    bool is_checked; // the value was picked from a dictionary of the set
    bool is_mean;
    uint64_t item; // of the value
    char value[SHOAL_VALUE_MAX];
    size_t value_len, n;
    point points[AGG_SPARK_POINTS];
    serve_trend shown; // n = 0: none
} kept;

struct serve_trends {
    uint64_t set; // its number; 0: none yet
    kept **list;  // as the set's collections; an entry is NULL where memory was short
    size_t n;
};

// ---- what is kept ----

serve_trends *serve_trends_make(agg_error *error)
{
    return agg_alloc(error, 1, sizeof(serve_trends));
}

static void release_list(kept **list, size_t n)
{
    for (size_t i = 0; i < n; i++) free(list[i]);
    free(list);
}

void serve_trends_release(serve_trends *trends)
{
    if (trends == NULL) return;
    release_list(trends->list, trends->n);
    free(trends);
}

uint64_t serve_trends_memory(size_t n)
{
    return n * (uint64_t)(sizeof(kept) + 2 * sizeof(kept *));
}

// Takes the entry of a collection out of the ones of before, or makes one.
static kept *take(serve_trends *before, int64_t number)
{
    for (size_t i = 0; i < before->n; i++) {
        kept *one = before->list[i];
        if (one == NULL || one->number != number) continue;
        before->list[i] = NULL;
        return one;
    }
    kept *made = agg_alloc(NULL, 1, sizeof *made);
    if (made != NULL) made->number = number;
    return made;
}

void serve_trends_settle(serve_trends *trends, const serve_set *set)
{
    if (trends->set == set->number) return;
    serve_trends before = *trends;
    *trends = (serve_trends){.set = set->number};
    trends->list = agg_alloc(NULL, set->collections.n, sizeof *trends->list);
    if (trends->list != NULL) trends->n = set->collections.n;
    for (size_t i = 0; i < trends->n; i++) {
        kept *one = take(&before, set->collections.list[i].number);
        trends->list[i] = one;
        if (one == NULL) continue;
        one->stage = STAGE_DUE;
        one->is_checked = false;
    }
    release_list(before.list, before.n);
}

const serve_trend *serve_trends_of(const serve_trends *trends, const serve_set *set, size_t i)
{
    if (trends->set != set->number || i >= trends->n || trends->list[i] == NULL) return NULL;
    const kept *one = trends->list[i];
    return one->is_checked && one->shown.n > 1 ? &one->shown : NULL;
}

// ---- picking the value ----

// Keeps the points of periods that are what they were, in their new places.
static void keep_points(kept *one, const serve_span *periods, size_t n)
{
    point points[AGG_SPARK_POINTS] = {{.is_made = false}};
    for (size_t i = 0; i < n; i++) {
        points[i].of = periods[i];
        for (size_t k = 0; k < one->n; k++) {
            const serve_span *a = &one->points[k].of, *b = &periods[i];
            if (a->n == b->n && a->first_number == b->first_number &&
                a->last_number == b->last_number)
                points[i] = one->points[k];
        }
    }
    memcpy(one->points, points, sizeof points);
    one->n = n;
}

static bool is_same_value(const kept *one, const agg_estimate_row *row, size_t len)
{
    return one->item == row->item && one->value_len == len &&
           memcmp(one->value, row->value.bytes, len) == 0;
}

// Picks the largest value that can be told from zero. Those of another value are forgotten.
// Returns: whether there is one.
static bool pick_value(kept *one, const agg_estimate *e)
{
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_estimate_row *row = &e->rows[i];
        if (!row->detected && !one->is_mean) continue;
        size_t len = row->value.len < sizeof one->value ? row->value.len : sizeof one->value;
        if (!is_same_value(one, row, len)) one->n = 0;
        one->item = row->item;
        one->value_len = len;
        memcpy(one->value, row->value.bytes, len);
        return true;
    }
    return false;
}

// Returns: the dictionary that a collection's page shows, or NULL if it can have no trend.
static const agg_dictionary *dictionary_of(const serve_set *set, const serve_collection *collection)
{
    const serve_dictionary *first = serve_dictionary_of(collection, NULL);
    bool has_periods = set->config.period != AGG_PERIOD_ALL;
    return first == NULL || !has_periods || collection->recipe.recipe->n_variables > 0
               ? NULL
               : &first->dictionary;
}

// Estimates a dictionary over a span. Returns: as agg_estimate_run; released by the caller on OK.
static agg_err estimate(agg_estimate *e, agg_error *error, agg_store *store,
                        const serve_collection *collection, const agg_dictionary *dictionary,
                        agg_span span)
{
    // One thread: what nobody waits for takes no core from folds.
    const agg_estimate_options options = {.n_threads = 1};
    agg_accumulator acc;
    agg_err err = agg_store_load(store, &acc, NULL, error, collection->number,
                                 collection->recipe.recipe, span);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_run(e, error, &collection->recipe, &acc, dictionary, &options);
    agg_accumulator_release(&acc);
    return err;
}

// Finds the periods and the value. Nothing is left to fill if there is no trend.
static agg_err pick(kept *one, agg_error *error, agg_store *store,
                    const serve_collection *collection, const agg_dictionary *dictionary)
{
    serve_span periods[AGG_SPARK_POINTS];
    size_t n = 0;
    agg_estimate e;
    bool is_picked = false;
    const shoal_recipe *recipe = collection->recipe.recipe;
    one->is_mean = recipe->n_parts > 0 && recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER;
    agg_err err = dictionary == NULL
                      ? SHOAL_OK
                      : serve_spans_find(periods, &n, error, store, collection->number,
                                         AGG_SPAN_ALL, AGG_SPARK_POINTS);
    if (err == SHOAL_OK && n > 1) {
        err = estimate(&e, error, store, collection, dictionary, AGG_SPAN_ALL);
        if (err == SHOAL_OK) is_picked = pick_value(one, &e);
        if (err == SHOAL_OK) agg_estimate_release(&e);
    }
    if (is_picked)
        keep_points(one, periods, n);
    else
        one->n = 0;
    return err == AGG_ERR_COHORT ? SHOAL_OK : err;
}

// ---- filling in points ----

// Takes the value's row of a period's estimate, if it is not withheld.
static void take_row(const kept *one, point *p, const agg_estimate *e)
{
    double unit = one->is_mean ? 1 : (double)e->n;
    for (size_t i = 0; i < e->n_rows; i++) {
        const agg_estimate_row *row = &e->rows[i];
        if (row->item != one->item) continue;
        p->figure = (agg_trend_point){row->count / unit, row->low / unit, row->high / unit,
                                      isfinite(row->low) && isfinite(row->high)};
        p->stderr_ = row->stderr_ / unit;
    }
}

// Estimates the value in one period. The labels of a closed domain's items, such as buckets, need
// not be values of the recipe, so that all of them are estimated; they are few.
static agg_err fill(const kept *one, point *p, agg_error *error, agg_store *store,
                    const serve_collection *collection, const agg_dictionary *dictionary)
{
    const shoal_recipe *recipe = collection->recipe.recipe;
    const agg_text text = {one->value, one->value_len};
    agg_dictionary picked = {0};
    agg_estimate e;
    uint32_t place;
    agg_err err = SHOAL_OK;
    p->is_made = true;
    if (recipe->n_parts == 0 || recipe->parts[0].domain == SHOAL_DOMAIN_OPEN) {
        err = agg_dictionary_of_texts(&picked, &place, error, &collection->recipe, &text, 1);
        dictionary = &picked;
    }
    if (err == SHOAL_OK) err = estimate(&e, error, store, collection, dictionary, p->of.days);
    if (err == SHOAL_OK) {
        take_row(one, p, &e);
        agg_estimate_release(&e);
    }
    agg_dictionary_release(&picked);
    return err == AGG_ERR_COHORT ? SHOAL_OK : err; // a gap
}

// ---- what is shown ----

static void show_figures(kept *one, const point *first, const point *last)
{
    serve_trend *t = &one->shown;
    double unit = one->is_mean ? 1 : 100;
    int decimals = agg_error_decimals(unit * last->stderr_) - 1; // one digit of the error
    t->decimals = decimals < 0 ? 0 : decimals;
    t->first = unit * first->figure.value;
    t->last = unit * last->figure.value;
    t->error = unit * (last->figure.high - last->figure.low) / 2;
    agg_day_print(t->from, first->of.days.first);
    agg_day_print(t->to, last->of.days.first);
    t->blocks.first_number = first->of.first_number;
    t->blocks.last_number = last->of.last_number;
}

// Draws the points, once all are made.
static void show(kept *one)
{
    agg_trend_point points[AGG_SPARK_POINTS];
    const point *first = NULL, *last = NULL;
    one->shown = (serve_trend){.value_len = one->value_len, .is_mean = one->is_mean};
    memcpy(one->shown.value, one->value, one->value_len);
    for (size_t i = 0; i < one->n; i++) {
        points[i] = one->points[i].figure;
        if (!points[i].is_known) continue;
        if (first == NULL) first = &one->points[i];
        last = &one->points[i];
        one->shown.n++;
        one->shown.blocks.n += last->of.n;
    }
    if (one->shown.n < 2) return;
    show_figures(one, first, last);
    agg_spark_draw(one->shown.drawn, points, one->n);
}

// Takes one step with a collection that is not done.
static agg_err step(kept *one, agg_error *error, agg_store *store,
                    const serve_collection *collection, const agg_dictionary *dictionary)
{
    if (one->stage == STAGE_DUE) {
        agg_err err = pick(one, error, store, collection, dictionary);
        one->stage = STAGE_FILLING;
        return err;
    }
    size_t i = 0;
    while (i < one->n && one->points[i].is_made) i++;
    if (i < one->n) return fill(one, &one->points[i], error, store, collection, dictionary);
    show(one);
    one->is_checked = true;
    one->stage = STAGE_DONE;
    return SHOAL_OK;
}

bool serve_trends_step(serve_trends *trends, agg_store *store, const serve_set *set, size_t i)
{
    agg_error error = {.text = ""};
    const serve_collection *collection = &set->collections.list[i];
    if (i >= trends->n || trends->list[i] == NULL) return false;
    kept *one = trends->list[i];
    if (atomic_exchange(&collection->live->is_trend_due, false)) one->stage = STAGE_DUE;
    if (one->stage == STAGE_DONE) return false;
    agg_err err = step(one, &error, store, collection, dictionary_of(set, collection));
    if (err == SHOAL_OK) return true;
    fprintf(stderr, "shoal: serve: trend of %s: %s\n", collection->recipe.id, error.text);
    one->n = 0;
    one->shown.n = 0;
    one->stage = STAGE_DONE;
    return true;
}

static void put_figure(FILE *out, const serve_trend *t, double figure)
{
    agg_page_number(out, figure, t->decimals);
    if (!t->is_mean) fputs("\xe2\x80\xaf%", out);
}

static void put_value(FILE *out, const serve_trend *t)
{
    size_t cut = agg_characters_size((agg_text){t->value, t->value_len}, VALUE_SHOWN);
    if (t->is_mean) {
        fputs("mean", out);
        return;
    }
    agg_page_text(out, t->value, cut < t->value_len ? cut : t->value_len);
    if (cut < t->value_len) fputs("\xe2\x80\xa6", out);
}

void serve_trend_write(FILE *out, const serve_trend *t)
{
    fputs("<svg role=\"img\" viewBox=\"" AGG_SPARK_BOX "\" preserveAspectRatio=\"none\"><title>",
          out);
    if (!t->is_mean) fputs("share of ", out);
    put_value(out, t);
    fputs(": from ", out);
    put_figure(out, t, t->first);
    fputs(" to ", out);
    put_figure(out, t, t->last);
    fputs(", error \xc2\xb1", out);
    put_figure(out, t, t->error);
    fprintf(out, "; %zu periods, %s to %s</title>%s</svg><span><b>", t->n, t->from, t->to,
            t->drawn);
    put_value(out, t);
    fputs("</b> ", out);
    put_figure(out, t, t->last);
    fputs("</span>", out);
}
