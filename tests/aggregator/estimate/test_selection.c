// SPDX-License-Identifier: Apache-2.0
// Intervals of rows that were selected, and of ranks: by hand, against the definition, and by the
// coverage that they promise.
#include "agg_test.h"

#include <math.h>

#include "multiple.h"
#include "normal_law.h"
#include "rng.h"
#include "selection.h"

#define N_ROWS 200
#define N_LISTS 2000

static double normal(shoal_rng *rng)
{
    return agg_normal_quantile(((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53);
}

// R 4.2: qnorm(1 - 0.05 * r / n / 2).
static void the_level_is_alpha_r_over_n(void **state)
{
    (void)state;
    agg_selection s = agg_selection_of(20, 1000, 0.95);
    assert_true(fabs(s.quantile - 3.290527) < 1e-6 && fabs(s.confidence - 0.999) < 1e-12);
    s = agg_selection_of(1000, 1000, 0.95);
    assert_true(fabs(s.quantile - 1.959964) < 1e-6 && s.confidence == 0.95);
    assert_int_equal(agg_selection_of(0, 10, 0.9).n_selected, 1); // the row that looks largest
    assert_int_equal(agg_selection_of(11, 10, 0.9).n_selected, 10);
    assert_int_equal(agg_selection_of(3, 0, 0.9).n_selected, 0);
    // So small a level is lost in 1 less a confidence.
    s = agg_selection_of(1, (size_t)1 << 50, 0.95);
    assert_true(isfinite(s.quantile) && s.quantile > 8.4 && s.quantile < 8.6);
}

static void the_note_is_for_selected_rows_only(void **state)
{
    char note[AGG_SELECTION_NOTE_MAX] = "";
    (void)state;
    agg_selection some = agg_selection_of(20, 1000, 0.95), all = agg_selection_of(5, 5, 0.95);
    assert_false(agg_selection_note(note, &all, 0.95));
    assert_true(agg_selection_note(note, &some, 0.95)); // 3.2905 / 1.9600
    assert_string_equal(note, "rows were selected (20 of 1,000): intervals that cover 95 % of them "
                              "are 1.68 times as wide");
}

// True values of rows in standard errors: a few far out, and a slope down to nothing.
static double truth_of(size_t row)
{
    return 40.0 / (double)(row + 1);
}

// The rows of one list, its estimates, and whether a rule selects each.
typedef struct list {
    double estimates[N_ROWS];
    bool is_selected[N_ROWS];
    size_t n_selected;
} list;

static void select_above(list *l, double least)
{
    l->n_selected = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        l->is_selected[i] = l->estimates[i] >= least;
        l->n_selected += l->is_selected[i];
    }
}

static double least_of_top(const list *l, size_t top)
{
    double sorted[N_ROWS];
    size_t n = 0;
    for (size_t i = 0; i < N_ROWS; i++) { // by insertion
        size_t j = n++;
        for (; j > 0 && sorted[j - 1] < l->estimates[i]; j--) sorted[j] = sorted[j - 1];
        sorted[j] = l->estimates[i];
    }
    return sorted[top - 1];
}

static double missed(const list *l, double quantile)
{
    double n = 0;
    for (size_t i = 0; i < N_ROWS; i++)
        n += l->is_selected[i] && fabs(l->estimates[i] - truth_of(i)) > quantile;
    return l->n_selected > 0 ? n / (double)l->n_selected : 0;
}

// Rules: the top 20, the top 50, and what is detected under `bh`. With 20 rows or less a list's
// share of misses has an sd below 0.06, so 4 sd of the mean of 2,000 lists are below 0.0055.
// Ordinary intervals miss far more: among the top 50 the noise is what selects.
static void selected_rows_are_covered(void **state)
{
    uint8_t seed[32] = {23};
    shoal_rng rng;
    double ours[3] = {0}, plain[3] = {0};
    (void)state;
    shoal_rng_init(&rng, seed);
    for (int k = 0; k < N_LISTS; k++) {
        list l;
        agg_error error;
        double least[3];
        for (size_t i = 0; i < N_ROWS; i++) l.estimates[i] = truth_of(i) + normal(&rng);
        least[0] = least_of_top(&l, 20);
        least[1] = least_of_top(&l, 50);
        assert_ok(agg_multiple_least(&least[2], &error, l.estimates, N_ROWS, AGG_BH, 0.05));
        for (int rule = 0; rule < 3; rule++) {
            select_above(&l, least[rule]);
            agg_selection s = agg_selection_of(l.n_selected, N_ROWS, 0.95);
            ours[rule] += missed(&l, s.quantile) / N_LISTS;
            plain[rule] += missed(&l, 1.959964) / N_LISTS;
        }
    }
    for (int rule = 0; rule < 3; rule++) {
        print_message("rule %d: %.4f of the selected are missed, %.4f by ordinary intervals\n",
                      rule, ours[rule], plain[rule]);
        assert_true(ours[rule] < 0.05 + 0.0055);
    }
    assert_true(plain[0] > 0.08 && plain[1] > 0.08 && plain[2] > 0.08);
}

static void fill(agg_ranks *ranks, const double *estimates, const double *stderrs)
{
    for (size_t i = 0; i < ranks->n; i++) {
        ranks->lows[i] = estimates[i] - ranks->quantile * stderrs[i];
        ranks->highs[i] = estimates[i] + ranks->quantile * stderrs[i];
    }
}

// Ten rows, four of which have no interval: they may lie anywhere.
static void ranks_by_hand(void **state)
{
    static const double estimates[] = {100, 90, 89, 50, 50, 0}, stderrs[] = {1, 1, 1, 1, 20, 1};
    static const agg_rank expected[] = {{1, 6}, {2, 8}, {2, 8}, {4, 9}, {1, 10}, {5, 10}};
    agg_error error;
    agg_ranks ranks;
    (void)state;
    assert_ok(agg_ranks_init(&ranks, &error, 6, 10, 0.95));
    assert_true(fabs(ranks.quantile - 2.807034) < 1e-6); // qnorm(1 - 0.05 / 20)
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        fill(&ranks, estimates, stderrs);
        if (is_sorted) agg_ranks_sort(&ranks);
        for (size_t i = 0; i < 6; i++) {
            double half = ranks.quantile * stderrs[i];
            agg_rank r = agg_ranks_find(&ranks, estimates[i] - half, estimates[i] + half);
            print_message("%g: %d to %d\n", estimates[i], (int)r.low, (int)r.high);
            assert_int_equal(r.low, expected[i].low);
            assert_int_equal(r.high, expected[i].high);
        }
    }
    agg_ranks_release(&ranks);
    assert_ok(agg_ranks_init(&ranks, &error, 0, 0, 0.95));
    agg_ranks_release(&ranks);
}

// All ranks of a list hold together in 95 of 100 lists at least: 4 sd are 0.02 of 2,000. Of 200
// rows the first ones must be told apart, else the intervals would say nothing.
static void all_ranks_hold_together(void **state)
{
    uint8_t seed[32] = {24};
    shoal_rng rng;
    size_t n_wrong = 0, n_first = 0;
    agg_error error;
    agg_ranks ranks;
    double ones[N_ROWS], estimates[N_ROWS];
    (void)state;
    shoal_rng_init(&rng, seed);
    assert_ok(agg_ranks_init(&ranks, &error, N_ROWS, N_ROWS, 0.95));
    for (size_t i = 0; i < N_ROWS; i++) ones[i] = 1;
    for (int k = 0; k < N_LISTS; k++) {
        bool is_wrong = false;
        for (size_t i = 0; i < N_ROWS; i++) estimates[i] = truth_of(i) + normal(&rng);
        fill(&ranks, estimates, ones);
        agg_ranks_sort(&ranks);
        for (size_t i = 0; i < N_ROWS; i++) {
            agg_rank r = agg_ranks_find(&ranks, estimates[i] - ranks.quantile,
                                        estimates[i] + ranks.quantile);
            is_wrong = is_wrong || i + 1 < r.low || i + 1 > r.high;
            n_first += i == 0 && r.low == 1 && r.high == 1;
        }
        n_wrong += is_wrong;
    }
    print_message("%zu of %d lists have a wrong rank; the first is alone in %zu\n", n_wrong,
                  N_LISTS, n_first);
    assert_true((double)n_wrong < 0.07 * N_LISTS && (double)n_first > 0.99 * N_LISTS);
    agg_ranks_release(&ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_is_alpha_r_over_n),
        cmocka_unit_test(the_note_is_for_selected_rows_only),
        cmocka_unit_test(selected_rows_are_covered),
        cmocka_unit_test(ranks_by_hand),
        cmocka_unit_test(all_ranks_hold_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
