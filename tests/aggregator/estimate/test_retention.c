// SPDX-License-Identifier: Apache-2.0
// Retention: ratios against Fieller's definition, which lists are ages, what is refused and
// withheld, the figures of a small table by hand, and the coverage of the intervals over simulated
// devices.
//
// The coverage is of cells with fresh coins each. `SHOAL_SEED=N` draws others than those of seed
// 1, and `SHOAL_CAMPAIGN` ten times as many: the table of docs/retention.md.
#include "agg_test.h"

#include <math.h>

#include "domain_dictionary.h"
#include "estimate.h"
#include "normal_law.h"
#include "recipe.h"
#include "retention.h"
#include "rng.h"

#define AGES 13u
#define WEEKS_MAX 4u
#define LIST                                                                                       \
    "\"values\":[\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\","       \
    "\"12 or more\"]"

// ---- ratios ----

// Both ends are r with (a - r b)^2 = z^2 (V_a + r^2 V_b), and what lies between is below.
static void ends_are_those_of_the_definition(void **state)
{
    static const double cases[][4] = {
        {40, 9, 100, 16}, {0, 9, 100, 16}, {-5, 4, 30, 25}, {100, 1, 100, 1}, {7, 0, 20, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double a = cases[i][0], v = cases[i][1], b = cases[i][2], w = cases[i][3], z = 1.96;
        agg_ratio r = agg_ratio_of(a, v, b, w, z);
        assert_true(r.is_bounded && r.ratio == a / b && r.low <= r.ratio && r.ratio <= r.high);
        for (int end = 0; end < 2; end++) {
            double at = end == 0 ? r.low : r.high, left = (a - at * b) * (a - at * b);
            assert_true(fabs(left - z * z * (v + at * at * w)) <= 1e-9 * (1 + left));
        }
        double error = sqrt(v / (b * b) + a * a * w / (b * b * b * b));
        assert_true(fabs(r.stderr_ - error) < 1e-12);
    }
}

// Far from zero the interval is the delta method's; near it, it reaches further up than down.
static void intervals_are_normal_for_large_cohorts_only(void **state)
{
    (void)state;
    agg_ratio large = agg_ratio_of(4000, 900, 10000, 900, 1.96),
              small = agg_ratio_of(40, 900, 100, 900, 1.96);
    assert_true(fabs(large.high - (large.ratio + 1.96 * large.stderr_)) < 1e-4);
    assert_true(fabs(large.low - (large.ratio - 1.96 * large.stderr_)) < 1e-4);
    assert_true(small.high - small.ratio > 1.2 * (small.ratio - small.low));
    assert_true(small.high > small.ratio + 1.96 * small.stderr_);
}

static void a_base_that_may_be_zero_has_no_ratio(void **state)
{
    (void)state;
    assert_true(agg_ratio_of(10, 4, 19.7, 100, 1.96).is_bounded);
    const double bases[] = {19.5, 0, -100};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        agg_ratio r = agg_ratio_of(10, 4, bases[i], 100, 1.96);
        assert_true(!r.is_bounded && isnan(r.ratio) && isnan(r.low) && isnan(r.high));
    }
}

// ---- recipes and weeks ----

static void open_recipe(agg_recipe *recipe, const char *mechanism, double epsilon,
                        const char *parameters, const char *extra)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"visits\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":%g,%s},\"limit\":{\"per_day\":1},"
             "\"expires\":\"2030-01-01\"%s}",
             mechanism, epsilon, parameters, extra);
    read_recipe(recipe, text);
}

static void lists_of_ages_are_told_from_others(void **state)
{
    static const struct {
        const char *list, *or_more, *says; // says: NULL for a good one
        size_t n_ages;
    } cases[] = {
        {LIST, "12 or more", NULL, 12},
        {"\"size\":4", "", NULL, 4},
        {"\"values\":[\"0\",\"1\"]", "", NULL, 2},
        {"\"values\":[\"0\",\"1\",\"3\"]", "3", NULL, 2},
        {"\"values\":[\"0\",\"more\"]", NULL, "entry 2 of its list is not \"1\"", 0},
        {"\"values\":[\"1\",\"2\",\"3\"]", NULL, "entry 1 of its list is not \"0\"", 0},
        {"\"values\":[\"0\",\"1\",\"more\",\"3\"]", NULL, "entry 3 of its list is not \"2\"", 0},
        {"\"values\":[\"0\",\"01\",\"2\"]", NULL, "entry 2 of its list is not \"1\"", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        agg_recipe recipe;
        agg_error error = {SHOAL_OK, 0, ""};
        agg_text or_more = {"", 0};
        size_t n_ages = 0;
        open_recipe(&recipe, "grr", 2, cases[i].list, "");
        agg_err err = agg_retention_ages(&n_ages, &or_more, &error, &recipe);
        if (cases[i].says == NULL) {
            assert_ok(err);
            assert_int_equal(n_ages, cases[i].n_ages);
            assert_int_equal(or_more.len, strlen(cases[i].or_more));
            assert_memory_equal(or_more.bytes, cases[i].or_more, or_more.len);
        } else {
            assert_err(err, AGG_ERR_USAGE);
            assert_non_null(strstr(error.text, cases[i].says));
        }
        agg_recipe_release(&recipe);
    }
}

static void other_recipes_are_refused(void **state)
{
    agg_recipe recipe;
    agg_error error = {SHOAL_OK, 0, ""};
    agg_text or_more;
    size_t n_ages = 0;
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 16, 64);
    assert_err(agg_retention_ages(&n_ages, &or_more, &error, &recipe), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "it takes any string"));
    agg_recipe_release(&recipe);
    open_recipe(&recipe, "grr", 2, LIST, ",\"send\":{\"pick\":\"uniform\",\"window\":\"day\"}");
    assert_err(agg_retention_ages(&n_ages, &or_more, &error, &recipe), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "answer for windows"));
    agg_recipe_release(&recipe);
}

// The weeks of one collection, and how many devices reported each age in each of them.
typedef struct crowd {
    agg_recipe recipe;
    size_t n_weeks;
    uint32_t truth[WEEKS_MAX][AGES];
    agg_accumulator accs[WEEKS_MAX];
    agg_retention_week weeks[WEEKS_MAX];
} crowd;

static const char *const labels[WEEKS_MAX] = {"w1", "w2", "w3", "w4"};

static void fold_week(crowd *c, size_t week, shoal_rng *rng)
{
    size_t size = c->recipe.recipe->record_size, n = 0;
    agg_dictionary list;
    agg_error error;
    for (size_t a = 0; a < AGES; a++) n += c->truth[week][a];
    uint8_t *records = malloc(n * size + 1), *at = records;
    assert_non_null(records);
    assert_ok(agg_dictionary_of_recipe(&list, &error, &c->recipe));
    for (size_t a = 0; a < AGES; a++)
        for (uint32_t i = 0; i < c->truth[week][a]; i++, at += size)
            assert_ok(shoal_record_randomize(at, c->recipe.recipe, &list.items[a], 1, NULL, rng));
    read_acc(&c->accs[week], &c->recipe, records, (uint32_t)n, 1);
    c->weeks[week] = (agg_retention_week){{labels[week], 2}, &c->accs[week]};
    agg_dictionary_release(&list);
    free(records);
}

static void fold_crowd(crowd *c, uint64_t stream)
{
    static const char *text = NULL;
    uint8_t seed[32] = {23};
    shoal_rng rng;
    if (text == NULL) text = getenv("SHOAL_SEED") != NULL ? getenv("SHOAL_SEED") : "1";
    strncpy((char *)seed + 1, text, 30);
    shoal_rng_init_stream(&rng, seed, stream);
    for (size_t w = 0; w < c->n_weeks; w++) fold_week(c, w, &rng);
}

static void release_weeks(crowd *c)
{
    for (size_t w = 0; w < c->n_weeks; w++) agg_accumulator_release(&c->accs[w]);
}

static void make_small_crowd(crowd *c, const char *extra)
{
    static const uint32_t truth[3][3] = {{900, 400, 300}, {800, 500, 200}, {700, 300, 450}};
    memset(c, 0, sizeof *c);
    open_recipe(&c->recipe, "grr", 4, LIST, extra);
    c->n_weeks = 3;
    for (size_t w = 0; w < 3; w++) memcpy(c->truth[w], truth[w], sizeof truth[w]);
    fold_crowd(c, 77);
}

static void close_crowd(crowd *c)
{
    release_weeks(c);
    agg_recipe_release(&c->recipe);
}

// The unbiased count of an entry, by the mechanism's own formula.
static double count_of(const crowd *c, size_t week, size_t entry)
{
    // One answer more than ages: "none of the list".
    double e = exp(4), p = e / (e + AGES), q = 1 / (e + AGES);
    double n = (double)c->accs[week].n, own = c->accs[week].parts[0].cells.ones[entry];
    return (own - n * q) / (p - q);
}

static void assert_near(double x, double y)
{
    if (!(fabs(x - y) <= 1e-4 * (1 + fabs(y)))) fail_msg("%.10g is not %.10g", x, y);
}

static void a_table_by_hand(void **state)
{
    crowd c;
    agg_retention r;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    make_small_crowd(&c, ",\"cohort\":{\"minimum\":1000}");
    if (agg_retention_run(&r, &error, &c.recipe, c.weeks, 3, 0, 0) != SHOAL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(r.n_cells, 6);
    assert_int_equal(r.n_ages, 12);
    for (size_t i = 0; i < 6; i++) {
        const agg_retention_cell *cell = &r.cells[i];
        double base = count_of(&c, cell->cohort, 0),
               count = count_of(&c, cell->cohort + cell->age, cell->age);
        assert_ptr_equal(cell, agg_retention_find(&r, cell->cohort, cell->age));
        assert_int_equal(cell->why, AGG_RETENTION_SHOWN);
        assert_near(cell->count.count, count);
        assert_near(cell->share, cell->age == 0 ? 1 : count / base);
        if (cell->age == 0) assert_true(cell->stderr_ == 0 && cell->low == 1 && cell->high == 1);
        if (cell->age > 0) assert_true(cell->low < cell->share && cell->share < cell->high);
    }
    assert_null(agg_retention_find(&r, 1, 2));
    assert_null(agg_retention_find(&r, 3, 0));
    for (size_t w = 0; w < 3; w++) {
        const agg_retention_total *week = &r.weeks[w];
        assert_int_equal(week->n, c.accs[w].n);
        assert_near(week->new_.count, count_of(&c, w, 0));
        assert_near(week->returning.count + week->new_.count, (double)week->n);
        assert_near(week->returning.low + week->new_.high, (double)week->n);
        assert_true(week->returning.stderr_ == week->new_.stderr_);
        assert_near(week->or_more.count, count_of(&c, w, 12));
    }
    agg_retention_release(&r);
    close_crowd(&c);
}

static void a_week_may_be_missing(void **state)
{
    crowd c;
    agg_retention r;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    make_small_crowd(&c, "");
    c.weeks[1].acc = NULL;
    assert_ok(agg_retention_run(&r, &error, &c.recipe, c.weeks, 3, 0.9, 1));
    assert_true(r.weeks[1].is_missing && r.weeks[1].new_.is_missing);
    for (size_t i = 0; i < r.n_cells; i++) {
        const agg_retention_cell *cell = &r.cells[i];
        bool is_known = cell->cohort != 1 && cell->cohort + cell->age != 1;
        assert_int_equal(cell->why, is_known ? AGG_RETENTION_SHOWN : AGG_RETENTION_NO_WEEK);
        assert_true(is_known == isfinite(cell->share));
    }
    assert_true(isfinite(agg_retention_find(&r, 0, 2)->share));
    agg_retention_release(&r);
    c.weeks[0].acc = c.weeks[2].acc = NULL;
    assert_err(agg_retention_run(&r, &error, &c.recipe, c.weeks, 3, 0, 1), AGG_ERR_USAGE);
    close_crowd(&c);
}

static void weeks_that_cannot_be_are_refused(void **state)
{
    crowd c;
    agg_recipe other;
    agg_retention r;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    make_small_crowd(&c, ",\"cohort\":{\"minimum\":1500}");
    assert_err(agg_retention_run(&r, &error, &c.recipe, c.weeks, 3, 0, 1), AGG_ERR_COHORT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    assert_non_null(strstr(error.text, "w3: recipe visits: 1450 reports"));
    assert_err(agg_retention_run(&r, &error, &c.recipe, c.weeks, 1, 0, 1), AGG_ERR_USAGE);
    open_recipe(&other, "grr", 3, LIST, "");
    assert_err(agg_retention_run(&r, &error, &other, c.weeks, 2, 0, 1), SHOAL_ERR_RECIPE_HASH);
    agg_recipe_release(&other);
    const agg_retention_week twice[] = {c.weeks[0], c.weeks[1], {{"again", 5}, c.weeks[0].acc}};
    assert_err(agg_retention_run(&r, &error, &c.recipe, twice, 3, 0, 1), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "w1 and again"));
    close_crowd(&c);
}

// A count below the threshold goes with all that it would follow from.
static void counts_below_the_threshold_are_withheld(void **state)
{
    crowd c;
    agg_retention r;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    make_small_crowd(&c, ",\"release\":{\"threshold\":780}");
    assert_ok(agg_retention_run(&r, &error, &c.recipe, c.weeks, 3, 0, 1));
    assert_true(!r.weeks[0].new_.is_withheld && isfinite(r.weeks[0].returning.count));
    assert_true(r.weeks[2].new_.is_withheld && r.weeks[2].returning.is_withheld);
    assert_true(isnan(r.weeks[2].returning.count) && isnan(r.weeks[2].returning.low));
    for (size_t i = 0; i < r.n_cells; i++) {
        const agg_retention_cell *cell = &r.cells[i];
        if (cell->age == 0 && cell->cohort < 2) continue;
        assert_int_equal(cell->why, AGG_RETENTION_WITHHELD);
        assert_true(isnan(cell->share) && isnan(cell->count.count) && cell->count.is_withheld);
    }
    agg_retention_release(&r);
    close_crowd(&c);
}

// A share of the reports brings the drawing of people into the error, and moves no estimate.
static void sampled_reports_have_wider_intervals(void **state)
{
    crowd c;
    agg_retention all, some;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    make_small_crowd(&c, "");
    assert_ok(agg_retention_run(&all, &error, &c.recipe, c.weeks, 3, 0, 1));
    fields_of(&c.recipe)->sample_micro = 250000;
    assert_ok(agg_retention_run(&some, &error, &c.recipe, c.weeks, 3, 0, 1));
    const agg_retention_cell *x = agg_retention_find(&all, 0, 1),
                             *y = agg_retention_find(&some, 0, 1);
    double base = all.weeks[0].new_.count, s = x->share,
           more = 0.75 * (x->count.count + s * s * base) / (base * base);
    assert_near(y->stderr_ * y->stderr_, x->stderr_ * x->stderr_ + more);
    assert_true(x->share == y->share && x->count.stderr_ == y->count.stderr_);
    agg_retention_release(&all);
    agg_retention_release(&some);
    close_crowd(&c);
}

// ---- coverage ----

typedef struct setting {
    const char *mechanism, *parameters, *extra;
    double epsilon;
    uint32_t n, new_; // reports of a week; people in their first
    double back;      // share of them that comes again a week later, less each week
    bool is_marginal; // the cohort is near the bound below which no share is shown
} setting;

#define SIZE "\"size\":13"
#define HASHED ",\"hash\":\"affine1\",\"seed\":\"" AGG_TEST_SEED "\""

static const setting settings[] = {
    {"grr", LIST, "", 2, 20000, 5000, 0.4, false},
    {"grr", LIST, "", 2, 5000, 1500, 0.6, false},
    {"grr", LIST, "", 1, 20000, 6000, 0.3, false},
    {"subset", SIZE, "", 1, 10000, 3000, 0.5, false},
    {"onehot-asymmetric", SIZE, "", 2, 10000, 2500, 0.3, false},
    {"hadamard", SIZE, "", 2, 10000, 3000, 0.8, false},
    {"olh", SIZE ",\"k\":32768,\"g\":8", HASHED, 2, 10000, 3000, 0.05, false},
    {"grr", LIST, "", 1, 5000, 900, 0.4, false}, // 6 standard errors
    {"grr", LIST, "", 1, 5000, 450, 0.4, true},  // 3
    {"grr", LIST, "", 1, 5000, 300, 0.9, true}}; // 2

static void fill_truth(crowd *c, const setting *s)
{
    for (size_t w = 0; w < WEEKS_MAX; w++) {
        uint32_t sum = 0;
        for (size_t a = 0; a < AGES - 1; a++) {
            double share = a == 0 ? 1 : s->back / (double)a;
            c->truth[w][a] = a > w ? 100 : (uint32_t)(s->new_ * share);
            sum += c->truth[w][a];
        }
        assert_true(sum <= s->n);
        c->truth[w][AGES - 1] = s->n - sum;
    }
}

#define CELLS_MAX 9000u // 1,500 collections of 6

typedef struct tally {
    uint32_t cells, shown, covered;
    double widths[CELLS_MAX]; // halves of intervals, of those shown
} tally;

static int compare_numbers(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void count_covered(tally *t, const agg_retention *r, const crowd *c)
{
    for (size_t i = 0; i < r->n_cells; i++) {
        const agg_retention_cell *cell = &r->cells[i];
        if (cell->age == 0) continue;
        double truth =
            (double)c->truth[cell->cohort + cell->age][cell->age] / c->truth[cell->cohort][0];
        t->cells++;
        if (cell->why != AGG_RETENTION_SHOWN) continue;
        assert_true(t->shown < CELLS_MAX);
        t->widths[t->shown++] = (cell->high - cell->low) / 2;
        t->covered += cell->low <= truth && truth <= cell->high;
    }
}

static void try_setting(tally *t, const setting *s, uint64_t first, uint32_t trials)
{
    static crowd c;
    memset(t, 0, sizeof *t);
    memset(&c, 0, sizeof c);
    open_recipe(&c.recipe, s->mechanism, s->epsilon, s->parameters, s->extra);
    c.n_weeks = WEEKS_MAX;
    fill_truth(&c, s);
    for (uint32_t trial = 0; trial < trials; trial++) {
        agg_retention r;
        agg_error error = {SHOAL_OK, 0, ""};
        fold_crowd(&c, first + trial);
        if (agg_retention_run(&r, &error, &c.recipe, c.weeks, c.n_weeks, 0, 1) != SHOAL_OK)
            fail_msg("%s", error.text);
        count_covered(t, &r, &c);
        agg_retention_release(&r);
        release_weeks(&c);
    }
    agg_recipe_release(&c.recipe);
    qsort(t->widths, t->shown, sizeof *t->widths, compare_numbers);
}

// 95 % intervals: six cells a collection, so that 150 collections tell 0.8 %. Between 92 and 98 %
// of the intervals hold the truth; near the bound, of those that are shown, not fewer than 88 %.
static void intervals_cover(void **state)
{
    uint32_t trials = effort_of_campaign(1500, effort(450, 150, 4));
    (void)state;
    if (effort_is_small()) skip();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const setting *s = &settings[i];
        static tally t;
        try_setting(&t, s, 1000000 * (i + 1), trials);
        double covered = t.shown > 0 ? (double)t.covered / t.shown : 0;
        printf("| `%s` | %g | %u | %u | %g %% | %.1f %% | +-%.1f %% | %.1f %% |\n", s->mechanism,
               s->epsilon, s->n, s->new_, 100 * s->back, 100.0 * t.shown / t.cells,
               100 * t.widths[t.shown / 2], 100 * covered);
        if (s->is_marginal) {
            assert_true(t.shown < t.cells);
            assert_true(covered >= 0.88 && covered <= 0.995);
        } else {
            assert_true(t.shown > 0.99 * t.cells);
            assert_true(covered >= 0.92 && covered <= 0.98);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_those_of_the_definition),
        cmocka_unit_test(intervals_are_normal_for_large_cohorts_only),
        cmocka_unit_test(a_base_that_may_be_zero_has_no_ratio),
        cmocka_unit_test(lists_of_ages_are_told_from_others),
        cmocka_unit_test(other_recipes_are_refused),
        cmocka_unit_test(a_table_by_hand),
        cmocka_unit_test(a_week_may_be_missing),
        cmocka_unit_test(weeks_that_cannot_be_are_refused),
        cmocka_unit_test(counts_below_the_threshold_are_withheld),
        cmocka_unit_test(sampled_reports_have_wider_intervals),
        cmocka_unit_test(intervals_cover),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
