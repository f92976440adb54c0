// SPDX-License-Identifier: Apache-2.0
// The law of the estimates, on fixed seeds: bias, variance against its formula, coverage, false
// detections; then release rules and the printed forms.
//
// A trial takes fresh hash functions and fresh noise over the same devices, so that the variance is
// the formula's, over both. Every tolerance below is in standard errors of a mean over independent
// trials, measured over these trials: 4 of them, two-sided, which a right estimator misses once in
// 16,000 choices of the seeds.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "estimate.h"
#include "estimate_print.h"
#include "estimator.h"
#include "printed.h"

#define N_VALUES 20u

typedef struct law {
    const char *mechanism;
    double epsilon;
    unsigned k, m;
    unsigned trials;
    int is_heavy; // one value holds 45 % of the devices
    int is_list;  // a sketch over a list (affine1) instead of open strings (poly1)
} law;

static const law laws[] = {
    {"cms", 1, 32, 64, 300, 0, 0},   {"cms", 4, 32, 64, 300, 0, 0},
    {"cms", 8, 8, 32, 600, 1, 0},    {"cms", 8, 64, 8, 300, 1, 0},
    {"hcms", 1, 32, 64, 300, 0, 0},  {"hcms", 4, 8, 32, 600, 1, 0},
    {"hcms", 8, 8, 32, 600, 1, 0},   {"onehot", 1, 1, 20, 300, 0, 0},
    {"onehot", 4, 1, 20, 300, 0, 0}, {"onehot", 8, 1, 20, 300, 1, 0},
    {"cms", 4, 32, 64, 300, 0, 1},   {"cms", 8, 8, 32, 600, 1, 1},
    {"hcms", 4, 8, 32, 600, 1, 1},
};

static void list_text(char out[1024], const law *l, const char *seed)
{
    snprintf(out, 1024,
             "{\"recipe\":\"law\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":%g,\"k\":%u,\"m\":%u,\"size\":20},\"hash\":\"affine1\","
             "\"seed\":\"%s\","
             "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\",\"cohort\":{\"minimum\":1}}",
             l->mechanism, l->epsilon, l->k, l->m, seed);
}

// How many devices hold value d.
static uint32_t devices_of(const law *l, uint32_t d)
{
    if (l->is_heavy && d == 0) return 850;
    return l->is_heavy ? 40 + 2 * d : 20 + 8 * d;
}

static void recipe_of_trial(agg_recipe *recipe, const law *l, unsigned trial)
{
    char text[1024], seed[65];
    snprintf(seed, sizeof seed, "%064x", trial + 1);
    if (strcmp(l->mechanism, "onehot") == 0)
        onehot_text(text, l->epsilon, "\"size\":20", ",\"cohort\":{\"minimum\":1}");
    else if (l->is_list)
        list_text(text, l, seed);
    else
        sketch_text(text, "law", l->mechanism, l->epsilon, l->k, l->m, seed,
                    ",\"cohort\":{\"minimum\":1}");
    read_recipe(recipe, text);
}

// The values as texts "0" .. "19", which are also the indices of a closed domain.
static void dictionary_of(agg_dictionary *dictionary, const agg_recipe *recipe, uint32_t first,
                          uint32_t n)
{
    char text[8192];
    size_t len = 0;
    agg_error error;
    for (uint32_t d = first; d < first + n; d++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%u\n", d);
    assert_ok(
        agg_dictionary_parse(dictionary, &error, recipe, "values", text, len, false, NULL, NULL));
}

static uint64_t fold_devices(agg_accumulator *acc, const agg_recipe *recipe, const law *l,
                             unsigned trial, const agg_dictionary *dictionary)
{
    uint8_t seed[32] = {3, (uint8_t)trial, (uint8_t)(trial >> 8)};
    static uint8_t records[4096 * 64];
    size_t size = recipe->recipe->record_size;
    agg_error error;
    uint32_t device = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t d = 0; d < N_VALUES; d++)
        for (uint32_t i = 0; i < devices_of(l, d); i++, device++) {
            assert_true((device + 1) * size <= sizeof records);
            assert_ok(shoal_record_randomize(records + device * size, recipe->recipe,
                                             &dictionary->items[d], 1, NULL, &rng));
        }
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    assert_ok(agg_accumulator_add(acc, &error, records, device, 1));
    return device;
}

// The variance with the true counts, from the papers' probabilities alone: e^eps in doubles, no
// threshold, no sketch.
static double true_variance(const law *l, double n, double f, double pairs)
{
    double m = l->m, s = (1 - 1 / m) / m, stretch = m / (m - 1), e = exp(l->epsilon),
           h = exp(l->epsilon / 2);
    if (strcmp(l->mechanism, "cms") == 0)
        return stretch * stretch *
               (n * h / ((h - 1) * (h - 1)) + (n - f) * s + s / l->k * (pairs - f * f + f));
    if (strcmp(l->mechanism, "hcms") == 0) {
        double c = (e + 1) / (e - 1);
        return stretch * stretch *
               (n * c * c - f - (n - f) / (m * m) + s / l->k * (pairs - f * f + f));
    }
    return n * 4 * e / ((e - 1) * (e - 1)) + f; // Theorem A.2
}

typedef struct moments {
    double sum, squares;
    unsigned n;
} moments;

static void take(moments *m, double x)
{
    m->sum += x;
    m->squares += x * x;
    m->n++;
}

static double mean_of(const moments *m)
{
    return m->sum / m->n;
}

// Is the mean within 4 of its own standard errors of what it should be?
static void assert_mean(const law *l, const char *what, const moments *m, double expected)
{
    double mean = mean_of(m), sd = sqrt((m->squares / m->n - mean * mean) / (m->n - 1));
    if (fabs(mean - expected) > 4 * sd)
        fail_msg("%s, epsilon %g: %s is %g +- %g, not %g", l->mechanism, l->epsilon, what, mean, sd,
                 expected);
}

static uint32_t number_of(agg_text value)
{
    uint32_t number = 0;
    for (size_t i = 0; i < value.len; i++) number = number * 10 + (uint32_t)(value.bytes[i] - '0');
    return number;
}

static void check_law(const law *l)
{
    moments bias = {0, 0, 0}, heavy_bias = {0, 0, 0}, heavy_stated = {0, 0, 0}, square = {0, 0, 0},
            stated = {0, 0, 0}, covered = {0, 0, 0};
    double n = 0, pairs = 0;
    for (uint32_t d = 0; d < N_VALUES; d++) {
        double f = devices_of(l, d);
        n += f;
        pairs += f * f - f;
    }
    const uint32_t n_trials = effort(l->trials, l->trials, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        agg_recipe recipe;
        agg_dictionary dictionary;
        agg_accumulator acc;
        agg_estimate estimate;
        agg_error error;
        agg_estimate_options options = {.confidence = 0, .multiple = AGG_BONFERRONI};
        double error_sum = 0, square_sum = 0, stated_sum = 0, covered_sum = 0;
        recipe_of_trial(&recipe, l, trial);
        dictionary_of(&dictionary, &recipe, 0, N_VALUES);
        assert_int_equal(fold_devices(&acc, &recipe, l, trial, &dictionary), (uint64_t)n);
        assert_ok(agg_estimate_run(&estimate, &error, &recipe, &acc, &dictionary, &options));
        assert_int_equal(estimate.n_rows, N_VALUES);
        for (uint32_t i = 0; i < N_VALUES; i++) {
            const agg_estimate_row *row = &estimate.rows[i];
            double f = devices_of(l, number_of(row->value)),
                   variance = true_variance(l, n, f, pairs);
            double off = row->count - f;
            error_sum += off / sqrt(variance);
            square_sum += off * off / variance;
            stated_sum += row->stderr_ * row->stderr_ / variance;
            covered_sum += row->low <= f && f <= row->high ? 1 : 0;
            if (number_of(row->value) != 0) continue;
            take(&heavy_bias, off / sqrt(variance));
            take(&heavy_stated, row->stderr_ * row->stderr_ / variance);
        }
        take(&bias, error_sum / N_VALUES);
        take(&square, square_sum / N_VALUES);
        take(&stated, stated_sum / N_VALUES);
        take(&covered, covered_sum / N_VALUES);
        agg_estimate_release(&estimate);
        agg_accumulator_release(&acc);
        agg_dictionary_release(&dictionary);
        agg_recipe_release(&recipe);
    }
    if (n_trials < l->trials) return; // too few to judge
    assert_mean(l, "mean error", &bias, 0);
    assert_mean(l, "mean error of value 0", &heavy_bias, 0);
    assert_mean(l, "mean square over the formula", &square, 1);
    // The stated variance uses estimated counts and pairs: nearly unbiased, clamping at 0 moves it
    // by less than 2 %.
    if (fabs(mean_of(&stated) - 1) > 0.02)
        fail_msg("%s, epsilon %g: stated variance is %g of the true", l->mechanism, l->epsilon,
                 mean_of(&stated));
    if (fabs(mean_of(&heavy_stated) - 1) > 0.04)
        fail_msg("%s, epsilon %g: stated variance of value 0 is %g of the true", l->mechanism,
                 l->epsilon, mean_of(&heavy_stated));
    // Coverage: the normal law is an approximation at n of about 2,000. Where few flips make the
    // noise (epsilon 8), exact intervals cover more than they say, since supports are whole.
    if (mean_of(&covered) < 0.93 || mean_of(&covered) > 0.975)
        fail_msg("%s, epsilon %g: coverage %g", l->mechanism, l->epsilon, mean_of(&covered));
}

static void estimates_follow_their_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) check_law(&laws[i]);
}

// 100 values that nobody sent, asked for in 200 trials: how many trials call any of them detected,
// and the rules' order.
static void nothing_is_detected_where_nothing_is(void **state)
{
    enum { TRIALS = 200, ASKED = 100 };
    static const law l = {"cms", 4, 64, 256, TRIALS, 0, 0};
    static const agg_multiple rules[] = {AGG_BONFERRONI, AGG_BH, AGG_NONE};
    unsigned families[3] = {0, 0, 0}, rows[3] = {0, 0, 0};
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    (void)state;
    for (unsigned trial = 0; trial < n_trials; trial++) {
        agg_recipe recipe;
        agg_dictionary sent, asked;
        agg_accumulator acc;
        agg_error error;
        recipe_of_trial(&recipe, &l, trial);
        dictionary_of(&sent, &recipe, 0, N_VALUES);
        dictionary_of(&asked, &recipe, 100, ASKED);
        fold_devices(&acc, &recipe, &l, trial, &sent);
        for (int rule = 0; rule < 3; rule++) {
            agg_estimate_options options = {.confidence = 0, .multiple = rules[rule]};
            agg_estimate estimate;
            unsigned found = 0;
            assert_ok(agg_estimate_run(&estimate, &error, &recipe, &acc, &asked, &options));
            for (size_t i = 0; i < estimate.n_rows; i++) found += estimate.rows[i].detected ? 1 : 0;
            families[rule] += found > 0 ? 1 : 0;
            rows[rule] += found;
            agg_estimate_release(&estimate);
        }
        agg_accumulator_release(&acc);
        agg_dictionary_release(&sent);
        agg_dictionary_release(&asked);
        agg_recipe_release(&recipe);
    }
    if (n_trials < TRIALS) return; // too few to judge
    // At most 5 % of 200 trials: 10, sd 3.1; with 4 sd to spare, 22. Alone, 5 % of 20,000 rows:
    // 1000, sd 31, far from 0.
    assert_true(families[0] <= 22 && families[1] <= 22);
    assert_in_range(rows[2], 800, 1200);
    // No rule detects a row that is not detected alone. Of the two rules, either may find one more:
    // bh's level is divided by an estimate.
    assert_true(rows[0] <= rows[2] && rows[1] <= rows[2]);
}

// Cells are 32-bit unsigned for CMS, signed for HCMS; sums are wider than either.
static void large_cells_are_summed_exactly(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    int64_t support = 0;
    (void)state;
    for (int signs = 0; signs < 2; signs++) {
        char text[1024];
        sketch_text(text, "large", signs ? "hcms" : "cms", 4, 3, 16, AGG_TEST_SEED, "");
        read_recipe(&recipe, text);
        const shoal_part *part = &recipe.recipe->parts[0];
        uint64_t item = shoal_part_item(part, (const uint8_t *)"x", 1);
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        // A row of equal ones adds 3e9 wherever the item falls; a row with -2e9 in column 0
        // transforms to -2e9 everywhere.
        for (uint32_t i = 0; i < 48; i++) acc.parts[0].cells.ones[i] = signs ? 0 : 3000000000u;
        for (uint32_t j = 0; signs && j < 3; j++) acc.parts[0].cells.sums[16 * j] = -2000000000;
        const agg_estimator *estimator = agg_estimator_of(part->mechanism);
        assert_ok(estimator->support(&support, &error, part, &acc.parts[0], &item, 1, 2));
        assert_int_equal(support, signs ? -6000000000 : 9000000000);
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
}

// One fixed accumulator for what follows: 2,000 devices of laws[1].
typedef struct fixture {
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_accumulator acc;
} fixture;

static void make_fixture(fixture *f, const char *extra)
{
    char text[1024];
    sketch_text(text, "law", "cms", 4, 32, 64, AGG_TEST_SEED, extra);
    read_recipe(&f->recipe, text);
    dictionary_of(&f->dictionary, &f->recipe, 0, N_VALUES);
    fold_devices(&f->acc, &f->recipe, &laws[1], 0, &f->dictionary);
}

static void release_fixture(fixture *f)
{
    agg_accumulator_release(&f->acc);
    agg_dictionary_release(&f->dictionary);
    agg_recipe_release(&f->recipe);
}

static void threads_change_nothing(void **state)
{
    fixture f;
    agg_error error;
    agg_estimate one, five;
    agg_estimate_options options = {.confidence = 0, .multiple = AGG_BH};
    (void)state;
    make_fixture(&f, "");
    assert_ok(agg_estimate_run(&one, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    options.n_threads = 5;
    assert_ok(agg_estimate_run(&five, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    for (size_t i = 0; i < one.n_rows; i++) {
        assert_true(one.rows[i].count == five.rows[i].count &&
                    one.rows[i].stderr_ == five.rows[i].stderr_);
        assert_true(one.rows[i].value.bytes == five.rows[i].value.bytes);
        if (i > 0) assert_true(one.rows[i - 1].count >= one.rows[i].count);
    }
    agg_estimate_release(&one);
    agg_estimate_release(&five);
    release_fixture(&f);
}

static void small_cohorts_are_not_shown(void **state)
{
    fixture f;
    agg_error error;
    agg_estimate estimate;
    agg_estimate_options options = {.confidence = 0, .multiple = AGG_BONFERRONI};
    (void)state;
    make_fixture(&f, ",\"cohort\":{\"minimum\":1921}");
    assert_int_equal(f.acc.n, 1920);
    assert_err(agg_estimate_run(&estimate, &error, &f.recipe, &f.acc, &f.dictionary, &options),
               AGG_ERR_COHORT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    assert_null(estimate.rows);
    release_fixture(&f);
    make_fixture(&f, ",\"cohort\":{\"minimum\":1920}");
    assert_ok(agg_estimate_run(&estimate, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    agg_estimate_release(&estimate);
    release_fixture(&f);
}

static void rows_below_the_threshold_are_withheld(void **state)
{
    fixture f;
    agg_error error;
    agg_estimate all, some;
    agg_estimate_options options = {.confidence = 0, .multiple = AGG_BONFERRONI};
    size_t above = 0;
    (void)state;
    make_fixture(&f, "");
    assert_ok(agg_estimate_run(&all, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    for (size_t i = 0; i < all.n_rows; i++) above += all.rows[i].count >= 100 ? 1 : 0;
    assert_in_range(above, 1, N_VALUES - 1);
    fields_of(&f.recipe)->release_threshold = 100;
    assert_ok(agg_estimate_run(&some, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    assert_int_equal(some.n_rows, above);
    assert_int_equal(some.n_withheld, N_VALUES - above);
    // What is shown is judged as before: withholding does not make the other tests fewer.
    for (size_t i = 0; i < above; i++)
        assert_int_equal(some.rows[i].detected, all.rows[i].detected);
    // A withheld row is above none that is shown, and its rank says no more than the threshold.
    for (size_t i = 0; i < above; i++) {
        assert_int_equal(some.rows[i].rank.low, all.rows[i].rank.low);
        assert_in_range(some.rows[i].rank.high, all.rows[i].rank.high, N_VALUES);
    }
    assert_int_equal(some.rows[above - 1].rank.high, N_VALUES);
    assert_int_equal(some.selection.n_all, N_VALUES);
    agg_estimate_release(&some);
    options.top = 1;
    assert_ok(agg_estimate_run(&some, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    assert_int_equal(some.n_rows, 1);
    assert_int_equal(some.n_withheld, N_VALUES - above);
    assert_int_equal(some.selection.n_selected, 1);
    double half = agg_selection_of(1, N_VALUES, 0.95).quantile * some.rows[0].stderr_;
    assert_true(some.rows[0].fcr_low == some.rows[0].raw - half);
    assert_true(some.rows[0].fcr_high == some.rows[0].raw + half);
    agg_estimate_release(&some);
    // With a low threshold the first row lies above all withheld ones for sure.
    fields_of(&f.recipe)->release_threshold = (uint64_t)all.rows[N_VALUES - 4].raw;
    assert_ok(agg_estimate_run(&some, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    print_message("the first is %g: rank %d to %d of %d, %zu withheld\n", some.rows[0].raw,
                  (int)some.rows[0].rank.low, (int)some.rows[0].rank.high, N_VALUES,
                  some.n_withheld);
    assert_true(some.n_withheld > 1 && some.rows[0].rank.high <= N_VALUES - some.n_withheld);
    options.post.rule = AGG_POST_CLIP; // then nothing is said of them
    agg_estimate_release(&some);
    assert_ok(agg_estimate_run(&some, &error, &f.recipe, &f.acc, &f.dictionary, &options));
    assert_true(some.rows[0].rank.high > N_VALUES - some.n_withheld);
    agg_estimate_release(&some);
    agg_estimate_release(&all);
    release_fixture(&f);
}

static void wider_confidence_gives_wider_intervals(void **state)
{
    static const double z[][2] = {
        {0.5, 0.6744897501960817}, {0.95, 1.959963984540054}, {0.999, 3.290526731491926}};
    fixture f;
    agg_error error;
    agg_estimate estimate;
    (void)state;
    make_fixture(&f, "");
    for (size_t i = 0; i < 3; i++) {
        agg_estimate_options options = {.confidence = z[i][0], .multiple = AGG_NONE};
        assert_ok(agg_estimate_run(&estimate, &error, &f.recipe, &f.acc, &f.dictionary, &options));
        const agg_estimate_row *row = &estimate.rows[3];
        assert_true(fabs((row->high - row->count) / row->stderr_ - z[i][1]) < 1e-12);
        assert_true(fabs((row->count - row->low) / row->stderr_ - z[i][1]) < 1e-12);
        agg_estimate_release(&estimate);
    }
    agg_estimate_options bad = {.confidence = 1.5, .multiple = AGG_NONE};
    assert_err(agg_estimate_run(&estimate, &error, &f.recipe, &f.acc, &f.dictionary, &bad),
               SHOAL_ERR_RANGE);
    release_fixture(&f);
}

static agg_err print_estimate(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_estimate_print(stream, error, result, format);
}

// What is printed for two rows, one of which tries everything.
static void print_two_rows(printed *p)
{
    static const char hostile[] = "=1+\"<b>\x1b[31m\n\xe2\x80\xae\xff,";
    static const shoal_recipe fields = {.n_parts = 0};
    static const agg_recipe recipe = {.recipe = &fields, .id = "r", .hash_hex = "abc"};
    agg_estimate_row rows[] = {
        {{hostile, sizeof hostile - 1},
         0,
         0.1,
         1.0 / 3,
         -1e300,
         12345678,
         1,
         1,
         0.1,
         -2,
         1.5,
         {1, 1},
         {0.25, -1, 2}},
        {{"fig", 3}, 1, -2, 3, -8, 4, 3, 0, -2, -9, 5, {2, 2}, {NAN, NAN, NAN}}};
    agg_estimate estimate = {.recipe = &recipe,
                             .statistic = "count",
                             .n = 2000,
                             .epsilon = 0.5,
                             .confidence = 0.95,
                             .multiple = AGG_BH,
                             .n_dictionary = 2,
                             .n_rows = 2,
                             .selection = {1, 2, 0.975, 2.25, 0.025},
                             .adjusting = AGG_ADJUST_FITTED,
                             .rows = rows};
    print_all(p, print_estimate, &estimate);
}

static void results_are_printed_and_escaped(void **state)
{
    (void)state;
    printed p;
    print_two_rows(&p);
    const char *row =
        "{\"value\":\"=1+\\\"\\u003cb\\u003e\\u001b[31m\\u000a\\u202e\\ufffd,\",\"count\":0.1,"
        "\"stderr\":0.3333333333333333,\"low\":-1e+300,\"high\":12345678,\"detected\":true,"
        "\"fcr_low\":-2,\"fcr_high\":1.5,\"rank_low\":1,\"rank_high\":1,\"adjusted\":0.25,"
        "\"adjusted_low\":-1,\"adjusted_high\":2}";
    const char *fig =
        "{\"value\":\"fig\",\"count\":-2,\"stderr\":3,\"low\":-8,\"high\":4,\"detected\":false,"
        "\"fcr_low\":-9,\"fcr_high\":5,\"rank_low\":2,\"rank_high\":2,\"adjusted\":null,"
        "\"adjusted_low\":null,\"adjusted_high\":null}";
    const char *head =
        "\"schema\":1,\"recipe\":\"r\",\"recipe_hash\":\"abc\",\"n\":2000,\"epsilon\":0.5,"
        "\"confidence\":0.95,\"multiple\":\"bh\","
        "\"selection\":{\"selected\":1,\"of\":2,\"confidence\":0.975},"
        "\"adjusting\":\"fitted\"";
    const char *csv = "value,count,stderr,low,high,detected,fcr_low,fcr_high,rank_low,rank_high,"
                      "adjusted,adjusted_low,adjusted_high\n"
                      "\"'=1+\"\"<b>\\x1b[31m\\x0a\\xe2\\x80\\xae\\xff,\",0.100,0.333,-1e+300,"
                      "12345678.000,true,-2.000,1.500,1,1,0.250,-1.000,2.000\n"
                      "\"fig\",-2.00,3.00,-8.00,4.00,false,-9.00,5.00,2,2,,,\n";
    const char *table = p.text[AGG_TABLE];
    assert_printed(&p, head, row, fig, csv);
    assert_null(strchr(table, '\xff'));
    assert_non_null(strstr(table, "\\x1b[31m\\x0a\\xe2\\x80\\xae\\xff,"));
    assert_non_null(strstr(table, "not distinguishable from zero"));
    assert_non_null(
        strstr(table, "rows were selected (1 of 2): intervals that cover 95 % of them are 1.15 "
                      "times as wide\n")); // 2.25 / 1.96
    printed_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_follow_their_law),
                                       cmocka_unit_test(nothing_is_detected_where_nothing_is),
                                       cmocka_unit_test(large_cells_are_summed_exactly),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(small_cohorts_are_not_shown),
                                       cmocka_unit_test(rows_below_the_threshold_are_withheld),
                                       cmocka_unit_test(wider_confidence_gives_wider_intervals),
                                       cmocka_unit_test(results_are_printed_and_escaped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
