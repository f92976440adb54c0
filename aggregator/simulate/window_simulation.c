// SPDX-License-Identifier: Apache-2.0
// Simulated visits; see window_simulation.h.
#include "window_simulation.h"

#include <string.h>

#include "compound.h"
#include "recipe.h"
#include "record.h"
#include "value_draw.h"

#define MILLION 1000000u
#define UNIT_MAX 1000000u // 10^12 reports of a unit each still fit 64 bits

agg_err agg_windows_check(agg_error *error, const agg_windows *windows, const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    if (r->encoding.n_fields > 0 || r->contributions > 0 || r->epochs > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "windows are simulated for recipes of single values, not for queries, "
                        "tries and runs");
    if (agg_windows_unit(windows) == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--events: the numbers of events have a least common multiple above %u",
                        UNIT_MAX);
    if ((uint64_t)windows->days * r->per_day > AGG_WINDOW_RECORDS_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--days times limit.per_day is at most %u", AGG_WINDOW_RECORDS_MAX);
    return SHOAL_OK;
}

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t agg_windows_unit(const agg_windows *windows)
{
    uint64_t unit = 1;
    for (uint32_t i = 0; i < windows->n_sizes && unit <= UNIT_MAX; i++)
        unit = unit / divisor_of(unit, windows->sizes[i]) * windows->sizes[i];
    return unit <= UNIT_MAX ? unit : 0;
}

double agg_windows_share(const agg_windows *windows, const agg_dictionary *counts, size_t value)
{
    double all = (double)counts->counts[value] / (double)counts->total, first = all, weights = 0,
           of_first = 0, opening = 0, favourite = windows->favourite_micro / 1e6;
    for (uint32_t i = 0; i < windows->n_sizes; i++) {
        weights += (double)windows->size_weights[i];
        of_first += (double)windows->size_weights[i] / windows->sizes[i];
    }
    of_first /= weights; // the mean share of a window's events that is its first one
    if (windows->openings != NULL) {
        for (size_t i = 0; i < counts->n; i++) opening += (double)windows->openings[i];
        first = (1 - favourite) * (double)windows->openings[value] / opening + favourite * all;
    }
    return windows->active_micro / 1e6 * (of_first * first + (1 - of_first) * all);
}

static bool toss(shoal_rng *rng, uint32_t micro)
{
    return shoal_rng_below(rng, MILLION) < micro;
}

typedef struct window {
    uint32_t n; // events; 0 in a window in which nothing happens
    uint32_t events[AGG_EVENTS_MAX];
    bool is_last, is_killed;
} window;

// Draws the next window. It takes the same draws for every recipe.
static void draw_window(window *w, shoal_rng *crowd, const agg_window_law *law, uint32_t favourite)
{
    const agg_windows *asked = law->windows;
    w->n = 0;
    if (toss(crowd, asked->active_micro))
        w->n = asked->sizes[agg_draw_value(law->sizes_upto, asked->n_sizes, crowd)];
    for (uint32_t i = 0; i < w->n; i++) {
        const uint64_t *upto = i == 0 ? law->openings_upto : law->upto;
        w->events[i] = agg_draw_value(upto, law->counts->n, crowd);
        if (toss(crowd, asked->favourite_micro)) w->events[i] = favourite;
    }
    w->is_last = toss(crowd, asked->gone_micro);
    w->is_killed = toss(crowd, asked->killed_micro);
}

static bool is_lost(const window *w, const shoal_recipe *recipe)
{
    if (recipe->window == SHOAL_WINDOW_VISIT) return w->is_killed;
    return w->is_last && (recipe->window == SHOAL_WINDOW_DAY || recipe->delay_s > 0);
}

// Randomizes one event, or "none" for AGG_DRAWN_NOTHING.
static agg_err randomize(uint8_t *record, const agg_window_law *law, uint32_t event,
                         const shoal_permanent *permanent, shoal_rng *coins)
{
    const agg_dictionary *counts = law->counts;
    const shoal_recipe *recipe = law->recipe->recipe;
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    bool is_none = event == AGG_DRAWN_NOTHING;
    size_t width = counts->width;
    uint64_t none[SHOAL_PARTS_MAX];
    for (size_t i = 0; i < width; i++) none[i] = SHOAL_ITEM_NONE;
    if (compound != NULL && compound->randomize != NULL) {
        const agg_text text = is_none ? (agg_text){"", 0} : counts->values[event];
        return shoal_record_randomize_string(record, recipe, (const uint8_t *)text.bytes, text.len,
                                             permanent, coins);
    }
    if (!is_none && width == 1 && !agg_recipe_is_closed(law->recipe))
        return shoal_record_randomize_string(record, recipe,
                                             (const uint8_t *)counts->values[event].bytes,
                                             counts->values[event].len, permanent, coins);
    return shoal_record_randomize(record, recipe, is_none ? none : &counts->items[event * width],
                                  (uint32_t)width, permanent, coins);
}

// Adds each value's share of the window's events, once for each report.
static void add_shares(uint64_t *shares, const window *w, uint64_t unit, uint32_t n_reports)
{
    for (uint32_t i = 0; i < w->n; i++) shares[w->events[i]] += unit / w->n * n_reports;
}

// Chooses what each slot of the window reports.
//   drawn: limit.per_day entries, all of them silent
static void choose(uint32_t *drawn, const window *w, const shoal_recipe *recipe, shoal_rng *coins)
{
    if (recipe->pick == SHOAL_PICK_FIRST) {
        for (uint32_t i = 0, used = 0; i < w->n && used < recipe->per_day; i++)
            if (toss(coins, recipe->sample_micro)) drawn[used++] = w->events[i];
        return;
    }
    for (uint32_t i = 0; i < recipe->per_day; i++) {
        if (!toss(coins, recipe->sample_micro)) continue;
        drawn[i] = w->n > 0 ? w->events[shoal_rng_below(coins, w->n)] : AGG_DRAWN_NOTHING;
    }
}

static agg_err report_window(uint8_t *records, uint32_t *drawn, agg_window_tally *tally,
                             const agg_window_law *law, const window *w,
                             const shoal_permanent *permanent, shoal_rng *coins)
{
    const shoal_recipe *recipe = law->recipe->recipe;
    agg_err err = SHOAL_OK;
    uint32_t n_reports = 0;
    tally->n_windows++;
    tally->n_active += w->n > 0;
    if (is_lost(w, recipe)) {
        tally->n_lost++;
        return SHOAL_OK;
    }
    choose(drawn, w, recipe, coins);
    for (uint32_t i = 0; i < recipe->per_day && err == SHOAL_OK; i++) {
        if (drawn[i] == AGG_DRAWN_SILENT) continue;
        n_reports++;
        err = randomize(records + (size_t)i * recipe->record_size, law, drawn[i], permanent, coins);
    }
    if (tally->shares != NULL) add_shares(tally->shares, w, law->unit, n_reports);
    return err;
}

agg_err agg_window_device(uint8_t *records, uint32_t *drawn, agg_window_tally *tally,
                          const agg_window_law *law, uint64_t device)
{
    const shoal_recipe *recipe = law->recipe->recipe;
    bool is_permanent = shoal_recipe_is_permanent(recipe);
    shoal_permanent permanent;
    shoal_rng crowd, coins;
    window w = {.is_last = false};
    if (is_permanent) {
        shoal_rng_init_stream(&coins, law->secrets, device);
        shoal_rng_bytes(&coins, permanent.secret, sizeof permanent.secret);
    }
    shoal_rng_init_stream(&crowd, law->crowd, device);
    shoal_rng_init_stream(&coins, law->coins, device);
    for (size_t i = 0; i < (size_t)law->windows->days * recipe->per_day; i++)
        drawn[i] = AGG_DRAWN_SILENT;
    uint32_t favourite = agg_draw_value(law->upto, law->counts->n, &crowd);
    agg_err err = SHOAL_OK;
    for (uint32_t day = 0; day < law->windows->days && !w.is_last && err == SHOAL_OK; day++) {
        size_t slot = (size_t)day * recipe->per_day;
        draw_window(&w, &crowd, law, favourite);
        err = report_window(records + slot * recipe->record_size, drawn + slot, tally, law, &w,
                            is_permanent ? &permanent : NULL, &coins);
    }
    return err;
}
