// SPDX-License-Identifier: Apache-2.0
// Comparisons on fixed seeds: the law of the differences and their intervals, false detections
// where nothing changed, what is refused and withheld, and the printed forms.
//
// Devices, records and sketches are real; a trial takes fresh hash functions and fresh noise.
// Tolerances are 4 standard errors of a mean over independent trials, measured over these trials: a
// right comparison misses one in 16,000 choices of the seeds.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "compare.h"
#include "compare_print.h"
#include "domain_dictionary.h"
#include "printed.h"

#define N_VALUES 20u
#define DEVICES_MAX 8192u
#define MINIMUM_ONE ",\"cohort\":{\"minimum\":1}"

typedef struct setting {
    const char *mechanism; // "cms" or "onehot"
    double epsilon;
    uint32_t n; // devices
} setting;

// One accumulator with what it was made from.
typedef struct collection {
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_accumulator acc;
    uint32_t truth[N_VALUES];
    uint32_t n;
} collection;

static void open_collection(collection *c, const setting *s, unsigned trial, const char *extra)
{
    char text[1024], seed[65], values[256];
    size_t len = 0;
    agg_error error;
    memset(c, 0, sizeof *c);
    snprintf(seed, sizeof seed, "%064x", trial + 1);
    if (strcmp(s->mechanism, "onehot") == 0)
        onehot_text(text, s->epsilon, "\"size\":20", extra);
    else
        sketch_text(text, "compared", s->mechanism, s->epsilon, 32, 64, seed, extra);
    read_recipe(&c->recipe, text);
    for (unsigned d = 0; d < N_VALUES; d++)
        len += (size_t)snprintf(values + len, sizeof values - len, "%u\n", d);
    assert_ok(agg_dictionary_parse(&c->dictionary, &error, &c->recipe, "values", values, len, false,
                                   NULL, NULL));
}

static void close_collection(collection *c)
{
    agg_accumulator_release(&c->acc);
    agg_dictionary_release(&c->dictionary);
    agg_recipe_release(&c->recipe);
}

// Makes the records of truth[d] devices for each value d.
static void fold_truth(collection *c, shoal_rng *rng)
{
    static uint8_t records[DEVICES_MAX * 16];
    size_t size = c->recipe.recipe->record_size;
    agg_error error;
    assert_true(size <= 16);
    c->n = 0;
    for (uint32_t d = 0; d < N_VALUES; d++)
        for (uint32_t i = 0; i < c->truth[d]; i++, c->n++) {
            assert_true(c->n < DEVICES_MAX);
            assert_ok(shoal_record_randomize(records + c->n * size, c->recipe.recipe,
                                             &c->dictionary.items[d], 1, NULL, rng));
        }
    assert_ok(agg_accumulator_init(&c->acc, &error, c->recipe.recipe));
    assert_ok(agg_accumulator_add(&c->acc, &error, records, c->n, 1));
}

static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

// The share of value d in a crowd; a crowd that turned round has the shares in opposite order.
static double share_of(uint32_t d, int is_turned)
{
    double sum = 0;
    for (uint32_t i = 0; i < N_VALUES; i++) sum += 1.0 / (i + 1);
    return 1.0 / ((is_turned ? N_VALUES - 1 - d : d) + 1) / sum;
}

// Draws n devices from the crowd.
static void draw_devices(collection *c, uint32_t n, int is_turned, shoal_rng *rng)
{
    memset(c->truth, 0, sizeof c->truth);
    for (uint32_t i = 0; i < n; i++) {
        double u = uniform(rng);
        uint32_t d = 0;
        while (d + 1 < N_VALUES && u >= share_of(d, is_turned)) u -= share_of(d++, is_turned);
        c->truth[d]++;
    }
}

// Draws a Poisson number of devices, n expected, from the crowd: each value's number is then
// Poisson by itself.
static void draw_arrivals(collection *c, uint32_t n, shoal_rng *rng)
{
    for (uint32_t d = 0; d < N_VALUES; d++) {
        double left = n * share_of(d, 0);
        for (c->truth[d] = 0; (left += log(uniform(rng))) > 0;) c->truth[d]++;
    }
}

static void run(agg_compare *result, const collection *a, const collection *b, agg_compare_of of,
                agg_multiple multiple)
{
    const agg_compare_side side_a = {&a->recipe, &a->acc, &a->dictionary};
    const agg_compare_side side_b = {&b->recipe, &b->acc, &b->dictionary};
    const agg_compare_options options = {of, 0, multiple, 0, 1};
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_compare_run(result, &error, &side_a, &side_b, &options) != SHOAL_OK)
        fail_msg("%s", error.text);
}

static uint32_t number_of(agg_text value)
{
    uint32_t number = 0;
    for (size_t i = 0; i < value.len; i++) number = number * 10 + (uint32_t)(value.bytes[i] - '0');
    return number;
}

typedef struct moments {
    double sum, squares, n;
} moments;

static void take(moments *m, double x)
{
    m->sum += x;
    m->squares += x * x;
    m->n++;
}

// Is the mean within 4 of its own standard errors, and `slack`, of what it should be?
static void assert_mean(const char *what, const setting *s, const moments *m, double expected,
                        double slack)
{
    double mean = m->sum / m->n, sd = sqrt((m->squares / m->n - mean * mean) / (m->n - 1));
    if (!(fabs(mean - expected) <= 4 * sd + slack))
        fail_msg("%s, epsilon %g against %s, %g: %s is %g +- %g, not %g", s[0].mechanism,
                 s[0].epsilon, s[1].mechanism, s[1].epsilon, what, mean, sd, expected);
}

static void make_trial(collection *a, collection *b, const setting *s, unsigned trial, uint8_t test,
                       shoal_rng *rng)
{
    const uint8_t seed[32] = {17, test, (uint8_t)trial, (uint8_t)(trial >> 8)};
    shoal_rng_init(rng, seed);
    open_collection(a, &s[0], 2 * trial, MINIMUM_ONE);
    open_collection(b, &s[1], 2 * trial + 1, MINIMUM_ONE);
}

// Pairs of one mechanism and of two, of equal and unequal size.
static const setting pairs[][2] = {{{"onehot", 1, 3000}, {"onehot", 1, 1500}},
                                   {{"onehot", 4, 1000}, {"onehot", 4, 3000}},
                                   {{"cms", 4, 2000}, {"cms", 4, 2000}},
                                   {{"onehot", 2, 2000}, {"cms", 6, 1000}},
                                   {{"onehot", 8, 2000}, {"onehot", 8, 2000}}};
#define N_PAIRS (sizeof pairs / sizeof pairs[0])
#define TRIALS 60u

// Two crowds that differ: is the difference of what their reports hold estimated without bias, its
// error as stated, its interval right in 95 of 100?
static void check_law(const setting *s, agg_compare_of of)
{
    moments bias = {0, 0, 0}, square = {0, 0, 0}, covered = {0, 0, 0};
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        collection a, b;
        agg_compare result;
        shoal_rng rng;
        double errors = 0, squares = 0, inside = 0;
        make_trial(&a, &b, s, trial, (uint8_t)of, &rng);
        draw_devices(&a, s[0].n, 0, &rng);
        draw_devices(&b, s[1].n, 1, &rng);
        fold_truth(&a, &rng);
        fold_truth(&b, &rng);
        run(&result, &a, &b, of, AGG_BONFERRONI);
        assert_int_equal(result.n_rows, N_VALUES);
        for (size_t i = 0; i < N_VALUES; i++) {
            const agg_compare_row *row = &result.rows[i];
            uint32_t d = number_of(row->value);
            double truth = of == AGG_COMPARE_SHARES
                               ? (double)b.truth[d] / b.n - (double)a.truth[d] / a.n
                               : (double)b.truth[d] - (double)a.truth[d];
            double off = (row->difference - truth) / row->stderr_;
            errors += off / N_VALUES;
            squares += off * off / N_VALUES;
            inside += row->low <= truth && truth <= row->high ? 1.0 / N_VALUES : 0;
            assert_true(row->difference == row->b - row->a);
            if (i > 0) assert_true(fabs(result.rows[i - 1].z) >= fabs(row->z));
        }
        take(&bias, errors);
        take(&square, squares);
        take(&covered, inside);
        agg_compare_release(&result);
        close_collection(&a);
        close_collection(&b);
    }
    if (n_trials < TRIALS) return; // too few to judge
    assert_mean("mean error", s, &bias, 0, 0);
    // Variances are stated at estimated counts, which moves their mean by less than 2 %; coverage
    // follows, and is not exactly normal at n of some thousands.
    assert_mean("mean square over the stated variance", s, &square, 1, 0.02);
    assert_mean("coverage", s, &covered, 0.95, 0.01);
}

static void differences_follow_their_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PAIRS; i++) {
        check_law(pairs[i], AGG_COMPARE_SHARES);
        check_law(pairs[i], AGG_COMPARE_COUNTS);
    }
}

// Two draws from one crowd: z must have variance 1, so that single tests are wrong at the stated
// rate, and rules for many tests at most.
static void check_no_change(const setting *s, agg_compare_of of)
{
    static const agg_multiple rules[] = {AGG_BONFERRONI, AGG_BH, AGG_NONE};
    moments square = {0, 0, 0}, rows = {0, 0, 0};
    unsigned families[3] = {0, 0, 0};
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        collection a, b;
        shoal_rng rng;
        make_trial(&a, &b, s, trial, (uint8_t)(2 + of), &rng);
        uint32_t n_a = s[0].n, n_b = of == AGG_COMPARE_COUNTS ? n_a : s[1].n;
        if (of == AGG_COMPARE_COUNTS) {
            draw_arrivals(&a, n_a, &rng);
            draw_arrivals(&b, n_b, &rng);
        } else {
            draw_devices(&a, n_a, 0, &rng);
            draw_devices(&b, n_b, 0, &rng);
        }
        fold_truth(&a, &rng);
        fold_truth(&b, &rng);
        for (int rule = 0; rule < 3; rule++) {
            agg_compare result;
            double squares = 0, found = 0;
            run(&result, &a, &b, of, rules[rule]);
            for (size_t i = 0; i < result.n_rows; i++) {
                squares += result.rows[i].z * result.rows[i].z / N_VALUES;
                found += result.rows[i].detected ? 1 : 0;
            }
            families[rule] += found > 0 ? 1 : 0;
            if (rules[rule] == AGG_NONE) take(&rows, found / N_VALUES);
            if (rules[rule] == AGG_NONE) take(&square, squares);
            agg_compare_release(&result);
        }
        close_collection(&a);
        close_collection(&b);
    }
    if (n_trials < TRIALS) return; // too few to judge
    assert_mean("mean square of z", s, &square, 1, 0.02);
    assert_mean("rate of single false detections", s, &rows, 0.05, 0.01);
    // At most 5 % of 60 trials: 3, sd 1.7; with 4 sd to spare, 9.
    if (families[0] > 9 || families[1] > 9)
        fail_msg("%s, epsilon %g: %u and %u of %u comparisons find a change", s->mechanism,
                 s->epsilon, families[0], families[1], TRIALS);
}

static void nothing_is_detected_where_nothing_changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_PAIRS; i++) {
        check_no_change(pairs[i], AGG_COMPARE_SHARES);
        check_no_change(pairs[i], AGG_COMPARE_COUNTS);
    }
}

// z against its formula, from the paper's probabilities alone: Var = n 4e/(e - 1)^2 + f
// (apple-2022, Theorem A.2).
static void z_is_pooled_by_precision(void **state)
{
    static const setting s[2] = {{"onehot", 2, 3000}, {"onehot", 4, 1500}};
    collection a, b;
    agg_compare result;
    shoal_rng rng;
    (void)state;
    make_trial(&a, &b, s, 0, 8, &rng);
    draw_devices(&a, 3000, 0, &rng);
    draw_devices(&b, 1500, 1, &rng);
    fold_truth(&a, &rng);
    fold_truth(&b, &rng);
    for (int of = AGG_COMPARE_SHARES; of <= AGG_COMPARE_COUNTS; of++) {
        double unit_a = of == AGG_COMPARE_SHARES ? 1.0 / 3000 : 1,
               unit_b = of == AGG_COMPARE_SHARES ? 1.0 / 1500 : 1;
        double none_a = unit_a * unit_a * 3000 * 4 * exp(2) / pow(exp(2) - 1, 2);
        double none_b = unit_b * unit_b * 1500 * 4 * exp(4) / pow(exp(4) - 1, 2);
        run(&result, &a, &b, (agg_compare_of)of, AGG_BH);
        for (size_t i = 0; i < N_VALUES; i++) {
            const agg_compare_row *row = &result.rows[i];
            double same = fmax(0, (row->a / none_a + row->b / none_b) / (1 / none_a + 1 / none_b));
            double crowd =
                of == AGG_COMPARE_SHARES ? same * (1 - same) * (1.0 / 3000 + 1.0 / 1500) : 2 * same;
            double variance = none_a + unit_a * same + none_b + unit_b * same + crowd;
            assert_true(fabs(row->z - row->difference / sqrt(variance)) <
                        1e-9 * (1 + fabs(row->z)));
        }
        agg_compare_release(&result);
    }
    close_collection(&a);
    close_collection(&b);
}

// Lists at epsilon 8, where one report in 2,982 supports a value by accident: of 1,000 reports 3 do
// for one value in 200, which the normal law takes for one in 100,000. Counts and n are set by
// hand.
static void few_reports_are_no_change(void **state)
{
    static const setting s[2] = {{"onehot", 8, 1000}, {"onehot", 8, 100000}};
    collection a, b;
    shoal_rng rng;
    (void)state;
    make_trial(&a, &b, s, 0, 9, &rng);
    fold_truth(&a, &rng);
    fold_truth(&b, &rng);
    a.acc.n = 1000;
    b.acc.n = 100000;
    for (size_t i = 0; i < N_VALUES; i++) b.acc.parts[0].cells.ones[i] = 34; // 33.5 by accident
    a.acc.parts[0].cells.ones[3] = 3;
    a.acc.parts[0].cells.ones[7] = 20; // no accident
    for (int side = 0; side < 2; side++)
        for (int rule = AGG_BONFERRONI; rule <= AGG_BH; rule++) {
            agg_compare result;
            run(&result, side ? &b : &a, side ? &a : &b, AGG_COMPARE_SHARES, (agg_multiple)rule);
            for (size_t i = 0; i < result.n_rows; i++) {
                const agg_compare_row *row = &result.rows[i];
                uint32_t value = number_of(row->value);
                assert_int_equal(row->detected, value == 7);
                assert_true(fabs(row->score) <= fabs(row->z) && row->score * row->z >= 0);
                if (value == 3)
                    assert_true(fabs(row->z) > 4 &&
                                fabs(row->score) < 2.8); // a tail of 1 in 200: 2.6
            }
            agg_compare_release(&result);
        }
    close_collection(&a);
    close_collection(&b);
}

static void open_mean(collection *c, double epsilon, double low, double high)
{
    char text[1024];
    agg_error error;
    memset(c, 0, sizeof *c);
    snprintf(text, sizeof text,
             "{\"recipe\":\"m\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\","
             "\"mechanism\":\"one-bit-mean\","
             "\"parameters\":{\"epsilon\":%g,\"low\":%g,\"high\":%g},\"limit\":{\"per_day\":1},"
             "\"expires\":\"2030-01-01\"" MINIMUM_ONE "}",
             epsilon, low, high);
    read_recipe(&c->recipe, text);
    assert_ok(agg_dictionary_of_recipe(&c->dictionary, &error, &c->recipe));
    assert_ok(agg_accumulator_init(&c->acc, &error, c->recipe.recipe));
}

// n devices of a crowd whose numbers are uniform between from and to.
static void fold_numbers(collection *c, uint32_t n, double from, double to, shoal_rng *rng)
{
    agg_error error;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t record[8];
        int64_t micro = (int64_t)(1e6 * (from + (to - from) * uniform(rng)));
        uint64_t item = shoal_recipe_number_item(c->recipe.recipe, micro);
        assert_ok(shoal_record_randomize(record, c->recipe.recipe, &item, 1, NULL, rng));
        assert_ok(agg_accumulator_add(&c->acc, &error, record, 1, 1));
    }
}

// Means of 20 and of 35, measured on ranges of 0 .. 40 and -50 .. 150.
static void means_are_compared_in_their_unit(void **state)
{
    static const setting s[2] = {{"mean", 2, 400}, {"mean", 4, 900}};
    moments bias = {0, 0, 0}, square = {0, 0, 0}, covered = {0, 0, 0};
    (void)state;
    for (unsigned trial = 0; trial < 400; trial++) {
        const uint8_t seed[32] = {17, 10, (uint8_t)trial, (uint8_t)(trial >> 8)};
        collection a, b;
        agg_compare result;
        shoal_rng rng;
        shoal_rng_init(&rng, seed);
        open_mean(&a, 2, 0, 40);
        open_mean(&b, 4, -50, 150);
        fold_numbers(&a, 400, 10, 30, &rng);
        fold_numbers(&b, 900, 0, 70, &rng);
        run(&result, &a, &b, AGG_COMPARE_SHARES, AGG_BONFERRONI);
        assert_int_equal(result.of, AGG_COMPARE_MEANS);
        assert_int_equal(result.n_rows, 1);
        const agg_compare_row *row = &result.rows[0];
        double off = (row->difference - 15) / row->stderr_;
        take(&bias, off);
        take(&square, off * off);
        take(&covered, row->low <= 15 && 15 <= row->high ? 1 : 0);
        assert_true(row->z == row->difference / row->stderr_);
        agg_compare_release(&result);
        close_collection(&a);
        close_collection(&b);
    }
    assert_mean("mean error", s, &bias, 0, 0);
    assert_mean("mean square over the stated variance", s, &square, 1, 0.02);
    assert_mean("coverage", s, &covered, 0.95, 0.01);
}

static agg_err try(const collection *a, const collection *b, agg_error *error, agg_compare *result)
{
    const agg_compare_side side_a = {&a->recipe, &a->acc, &a->dictionary};
    const agg_compare_side side_b = {&b->recipe, &b->acc, &b->dictionary};
    const agg_compare_options options = {AGG_COMPARE_SHARES, 0, AGG_BH, 0, 3};
    *error = (agg_error){SHOAL_OK, 0, ""};
    return agg_compare_run(result, error, &side_a, &side_b, &options);
}

static void a_mean_is_not_compared_with_counts(void **state)
{
    static const setting s = {"onehot", 4, 2000};
    collection a, b;
    agg_compare result;
    agg_error error;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){7});
    open_mean(&a, 2, 0, 40);
    fold_numbers(&a, 50, 10, 30, &rng);
    open_collection(&b, &s, 0, MINIMUM_ONE);
    draw_devices(&b, 100, 0, &rng);
    fold_truth(&b, &rng);
    assert_err(try(&a, &b, &error, &result), AGG_ERR_USAGE);
    assert_err(try(&b, &a, &error, &result), AGG_ERR_USAGE);
    assert_null(result.rows);
    // A mean that may not be released is not printed: all of its reports are below the threshold.
    close_collection(&b);
    open_mean(&b, 2, 0, 40);
    fold_numbers(&b, 60, 10, 30, &rng);
    fields_of(&a.recipe)->release_threshold = 51;
    fields_of(&b.recipe)->release_threshold = 61;
    assert_ok(try(&a, &b, &error, &result));
    assert_int_equal(result.n_rows, 0);
    assert_int_equal(result.n_withheld, 1);
    agg_compare_release(&result);
    fields_of(&b.recipe)->release_threshold = 60;
    assert_ok(try(&a, &b, &error, &result));
    assert_true(result.n_rows == 1 && result.rows[0].a_withheld && !result.rows[0].b_withheld);
    agg_compare_release(&result);
    close_collection(&a);
    close_collection(&b);
}

// A crowd that turned round: value 0 fell from 28 % to 1.4 %, value 19 rose as much; at epsilon 4
// the error is about 1.3 %.
static void large_changes_are_detected_with_their_sign(void **state)
{
    static const setting s[2] = {{"onehot", 4, 1000}, {"onehot", 4, 3000}};
    collection a, b;
    agg_compare result;
    shoal_rng rng;
    (void)state;
    make_trial(&a, &b, s, 0, 9, &rng);
    draw_devices(&a, 1000, 0, &rng);
    draw_devices(&b, 3000, 1, &rng);
    fold_truth(&a, &rng);
    fold_truth(&b, &rng);
    run(&result, &a, &b, AGG_COMPARE_SHARES, AGG_BONFERRONI);
    for (size_t i = 0; i < 2; i++) {
        int is_first = number_of(result.rows[i].value) == 0;
        assert_true(is_first || number_of(result.rows[i].value) == 19);
        assert_true(result.rows[i].detected);
        assert_true(is_first ? result.rows[i].difference < -0.2 : result.rows[i].difference > 0.2);
        assert_true(is_first ? result.rows[i].high < 0 : result.rows[i].low > 0);
    }
    assert_false(result.rows[N_VALUES - 1].detected);
    agg_compare_release(&result);
    close_collection(&a);
    close_collection(&b);
}

static void what_may_not_be_compared_is_refused(void **state)
{
    static const setting s = {"cms", 4, 1000};
    collection small, large, again;
    agg_compare result;
    agg_error error;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){5});
    open_collection(&small, &s, 0, ",\"cohort\":{\"minimum\":1000}");
    open_collection(&large, &s, 0, ",\"cohort\":{\"minimum\":1000}");
    open_collection(&again, &s, 0, ",\"cohort\":{\"minimum\":1000}");
    draw_devices(&small, 999, 0, &rng);
    draw_devices(&large, 1000, 0, &rng);
    fold_truth(&small, &rng);
    shoal_rng copy = rng;
    fold_truth(&large, &rng);
    memcpy(again.truth, large.truth, sizeof again.truth);
    fold_truth(&again, &copy);
    assert_err(try(&small, &large, &error, &result), AGG_ERR_COHORT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    assert_null(result.rows);
    assert_err(try(&large, &small, &error, &result), AGG_ERR_COHORT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    assert_null(result.rows);
    // The same reports, folded twice.
    assert_err(try(&large, &again, &error, &result), AGG_ERR_USAGE);
    assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
    assert_non_null(strstr(error.text, "hold the same reports"));
    agg_accumulator_release(&again.acc);
    fold_truth(&again, &rng);
    assert_ok(try(&large, &again, &error, &result));
    agg_compare_release(&result);
    // An accumulator of another recipe on either side.
    fields_of(&again.recipe)->recipe_hash[0] ^= 1;
    assert_err(try(&large, &again, &error, &result), SHOAL_ERR_RECIPE_HASH);
    assert_err(try(&again, &large, &error, &result), SHOAL_ERR_RECIPE_HASH);
    close_collection(&small);
    close_collection(&large);
    close_collection(&again);
}

static void values_that_both_withhold_are_left_out(void **state)
{
    static const setting s = {"onehot", 4, 2000};
    collection a, b;
    agg_compare all, some, top;
    agg_error error;
    shoal_rng rng;
    size_t both = 0, one = 0;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){6});
    open_collection(&a, &s, 0, MINIMUM_ONE);
    open_collection(&b, &s, 0, MINIMUM_ONE);
    draw_devices(&a, 2000, 0, &rng);
    draw_devices(&b, 2000, 0, &rng);
    fold_truth(&a, &rng);
    fold_truth(&b, &rng);
    assert_ok(try(&a, &b, &error, &all));
    assert_int_equal(all.n_withheld, 0);
    // Thresholds of 100 and 300 reports of 2,000.
    fields_of(&a.recipe)->release_threshold = 100;
    fields_of(&b.recipe)->release_threshold = 300;
    assert_ok(try(&a, &b, &error, &some));
    for (size_t i = 0, at = 0; i < N_VALUES; i++) {
        int low_a = all.rows[i].a * 2000 < 100, low_b = all.rows[i].b * 2000 < 300;
        both += low_a && low_b;
        one += low_a != low_b;
        assert_false(all.rows[i].a_withheld || all.rows[i].b_withheld);
        if (low_a && low_b) continue;
        assert_int_equal(some.rows[at].a_withheld, low_a);
        assert_int_equal(some.rows[at].b_withheld, low_b);
        // What is shown is judged as before.
        assert_true(some.rows[at].z == all.rows[i].z &&
                    some.rows[at].detected == all.rows[i].detected);
        at++;
    }
    assert_true(both > 0 && one > 0 && both + one < N_VALUES);
    assert_int_equal(some.n_withheld, both);
    assert_int_equal(some.n_rows, N_VALUES - both);
    const agg_compare_side side_a = {&a.recipe, &a.acc, &a.dictionary},
                           side_b = {&b.recipe, &b.acc, &b.dictionary};
    const agg_compare_options options = {AGG_COMPARE_SHARES, 0, AGG_BH, 1, 1};
    assert_ok(agg_compare_run(&top, &error, &side_a, &side_b, &options));
    assert_int_equal(top.n_rows, 1);
    assert_int_equal(top.n_withheld, both);
    assert_true(top.rows[0].z == some.rows[0].z);
    agg_compare_release(&all);
    agg_compare_release(&some);
    agg_compare_release(&top);
    close_collection(&a);
    close_collection(&b);
}

static agg_err print_compare(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_compare_print(stream, error, result, format);
}

// What is printed for two rows, one of which tries everything and is withheld on one side.
static void print_two_rows(printed *p)
{
    static const char hostile[] = "=1\"<b>\x1b[31m";
    static const shoal_recipe fields_a = {.cost_micro = 500000},
                              fields_b = {.cost_micro = 4000000, .release_threshold = 10};
    static const agg_recipe recipe_a = {.recipe = &fields_a, .id = "r", .hash_hex = "abc"},
                            recipe_b = {.recipe = &fields_b, .id = "s", .hash_hex = "def"};
    agg_compare_row rows[] = {{{hostile, sizeof hostile - 1},
                               0.25,
                               0.125,
                               0,
                               1,
                               -0.125,
                               0.015625,
                               -0.25,
                               0.5,
                               -7,
                               7,
                               -8,
                               1,
                               -8},
                              {{"fig", 3}, -0.5, 0.5, 0, 0, 1, 2, -3, 4, -4, 6, 0.5, 0, 0.5}};
    const agg_compare compare = {.recipe_a = &recipe_a,
                                 .recipe_b = &recipe_b,
                                 .n_a = 2000,
                                 .n_b = 3000,
                                 .confidence = 0.95,
                                 .multiple = AGG_BH,
                                 .n_dictionary = 5,
                                 .n_withheld = 3,
                                 .n_rows = 2,
                                 .selection = {1, 5, 0.99, 2.5, 0.01},
                                 .rows = rows};
    print_all(p, print_compare, &compare);
}

static void comparisons_are_printed_and_escaped(void **state)
{
    (void)state;
    printed p;
    print_two_rows(&p);
    const char *row =
        "{\"value\":\"=1\\\"\\u003cb\\u003e\\u001b[31m\",\"a\":0.25,\"b\":null,\"difference\":null,"
        "\"stderr\":null,\"low\":null,\"high\":null,\"z\":null,\"detected\":true,"
        "\"fcr_low\":null,\"fcr_high\":null}";
    const char *fig = "{\"value\":\"fig\",\"a\":-0.5,\"b\":0.5,\"difference\":1,\"stderr\":2,"
                      "\"low\":-3,\"high\":4,"
                      "\"z\":0.5,\"detected\":false,\"fcr_low\":-4,\"fcr_high\":6}";
    const char *head =
        "\"schema\":1,\"a\":{\"recipe\":\"r\",\"recipe_hash\":\"abc\",\"n\":2000,\"epsilon\":0.5},"
        "\"b\":{\"recipe\":\"s\",\"recipe_hash\":\"def\",\"n\":3000,\"epsilon\":4},\"of\":"
        "\"share\","
        "\"confidence\":0.95,\"multiple\":\"bh\",\"withheld\":3,"
        "\"selection\":{\"selected\":1,\"of\":5,\"confidence\":0.99}";
    const char *csv = "value,a,b,difference,stderr,low,high,z,detected,fcr_low,fcr_high\n"
                      "\"'=1\"\"<b>\\x1b[31m\",0.2500,,,,,,,true,,\n"
                      "\"fig\",-0.50,0.50,1.00,2.00,-3.00,4.00,0.50,false,-4.00,6.00\n";
    const char *table = p.text[AGG_TABLE];
    assert_printed(&p, head, row, fig, csv);
    // Shares in %, two digits of the smallest error (1.5625 %).
    assert_non_null(strstr(
        table,
        "=1\"<b>\\x1b[31m        25.0    withheld           -           -           -        "
        "   -  down\n"));
    assert_non_null(strstr(table, "  cannot tell\n"));
    assert_non_null(strstr(table, "rows were selected (1 of 5): intervals"));
    assert_non_null(
        strstr(table, "\n3 values below the release threshold on both sides withheld\n"));
    printed_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(differences_follow_their_law),
                                       cmocka_unit_test(nothing_is_detected_where_nothing_changed),
                                       cmocka_unit_test(z_is_pooled_by_precision),
                                       cmocka_unit_test(few_reports_are_no_change),
                                       cmocka_unit_test(means_are_compared_in_their_unit),
                                       cmocka_unit_test(a_mean_is_not_compared_with_counts),
                                       cmocka_unit_test(large_changes_are_detected_with_their_sign),
                                       cmocka_unit_test(what_may_not_be_compared_is_refused),
                                       cmocka_unit_test(values_that_both_withhold_are_left_out),
                                       cmocka_unit_test(comparisons_are_printed_and_escaped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
