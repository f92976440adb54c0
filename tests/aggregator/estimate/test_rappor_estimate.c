// SPDX-License-Identifier: Apache-2.0
// RAPPOR from devices' records to rows, on fixed seeds: a list's counts against the formula,
// strings' counts against the truth, what the order of a dictionary and looking twice change.
#include "agg_test.h"

#include <math.h>

#include "estimate.h"

static void list_recipe(agg_recipe *recipe, unsigned size, double p, double q, double f)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"list\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"rappor\","
             "\"parameters\":{\"size\":%u,\"p\":%g,\"q\":%g,\"f\":%g},\"seed\":\"%s\",\"limit\":{"
             "\"per_day\":1},"
             "\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
             size, p, q, f, AGG_TEST_SEED);
    read_recipe(recipe, text);
}

static void bloom_recipe(agg_recipe *recipe, unsigned bits, unsigned hashes, unsigned cohorts,
                         double p, double q)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"recipe\":\"strings\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\","
        "\"mechanism\":\"rappor\","
        "\"parameters\":{\"bits\":%u,\"hashes\":%u,\"cohorts\":%u,\"p\":%g,\"q\":%g,\"f\":0.25},"
        "\"hash\":\"poly1\",\"seed\":\"%s\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
        bits, hashes, cohorts, p, q, AGG_TEST_SEED);
    read_recipe(recipe, text);
}

// One report of each of counts[i] new devices that hold items[i]; `first` numbers the devices.
static void fold(agg_accumulator *acc, const agg_recipe *recipe, const uint64_t *items,
                 const uint32_t *counts, size_t n_items, uint64_t first)
{
    static const uint8_t secrets[32] = {1, 0x52}, seeds[32] = {2, 0x52};
    uint8_t record[64];
    agg_error error;
    assert_true(shoal_record_size(recipe->recipe) <= sizeof record);
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    for (size_t i = 0; i < n_items; i++)
        for (uint32_t d = 0; d < counts[i]; d++, first++) {
            shoal_permanent permanent;
            shoal_rng rng;
            shoal_rng_init_stream(&rng, secrets, first);
            shoal_rng_bytes(&rng, permanent.secret, sizeof permanent.secret);
            shoal_rng_init_stream(&rng, seeds, first);
            assert_ok(
                shoal_record_randomize(record, recipe->recipe, &items[i], 1, &permanent, &rng));
            assert_ok(agg_accumulator_add(acc, &error, record, 1, 1));
        }
}

// 400 collections of 300 devices on a list of four: 150, 90, 60 and none. Bias: 4 sd of a mean of
// 400. Variance: its estimate from 400 has sd 7 %, 4 of them. Coverage: sd 0.011 from 400, and n q*
// of 60 is a little short of normal. The claimed variance moves with the count by a few percent and
// averages out.
static void lists_follow_their_formula(void **state)
{
    enum { TRIALS = 400 };
    static const uint64_t items[4] = {0, 1, 2, 3};
    static const uint32_t counts[4] = {150, 90, 60, 0};
    const double p = 0.3 + 0.1 * 0.5, q = 0.8 - 0.1 * 0.5, n = 300; // p = .3, q = .8, f = .2
    double mean[4] = {0}, square[4] = {0}, covered[4] = {0}, claimed[4] = {0};
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_error error;
    (void)state;
    list_recipe(&recipe, 4, 0.3, 0.8, 0.2);
    assert_ok(agg_dictionary_parse(&dictionary, &error, &recipe, "test", "0\n1\n2\n3\n", 8, false,
                                   NULL, NULL));
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    for (uint64_t t = 0; t < n_trials; t++) {
        agg_accumulator acc;
        agg_estimate estimate;
        const agg_estimate_options options = {.confidence = 0.95, .multiple = AGG_NONE};
        fold(&acc, &recipe, items, counts, 4, t * 300);
        assert_ok(agg_estimate_run(&estimate, &error, &recipe, &acc, &dictionary, &options));
        assert_int_equal(estimate.n_rows, 4);
        for (size_t r = 0; r < 4; r++) {
            const agg_estimate_row *row = &estimate.rows[r];
            int i = row->value.bytes[0] - '0';
            double off = row->count - counts[i];
            mean[i] += off / TRIALS;
            square[i] += off * off / TRIALS;
            claimed[i] += row->stderr_ * row->stderr_ / TRIALS;
            covered[i] += (row->low <= counts[i] && counts[i] <= row->high) / (double)TRIALS;
        }
        agg_estimate_release(&estimate);
        agg_accumulator_release(&acc);
    }
    for (int i = 0; n_trials == TRIALS && i < 4; i++) {
        double variance =
            (counts[i] * q * (1 - q) + (n - counts[i]) * p * (1 - p)) / ((q - p) * (q - p));
        assert_true(fabs(mean[i]) < 4 * sqrt(variance / TRIALS));
        assert_true(fabs(square[i] / variance - 1) < 4 * sqrt(2.0 / TRIALS));
        assert_true(fabs(claimed[i] / variance - 1) < 0.01);
        assert_true(fabs(covered[i] - 0.95) < 4 * 0.011);
    }
    agg_dictionary_release(&dictionary);
    agg_recipe_release(&recipe);
}

#define N_SENT 24
#define N_ASKED 60 // the first 20 of those sent, and 40 that nobody sent

static double true_count(const agg_text *value, const uint32_t *counts)
{
    int number = 0;
    for (size_t i = 1; i < value->len; i++) number = 10 * number + (value->bytes[i] - '0');
    return number < N_SENT ? counts[number] : 0;
}

// Writes "w0\nw1\n.." of the asked ones, or the same backwards.
static size_t asked_words(char *text, int is_backwards)
{
    size_t len = 0;
    for (int i = 0; i < N_ASKED; i++) {
        int word = is_backwards ? N_ASKED - 1 - i : i;
        len += (size_t)sprintf(text + len, "w%d\n", word < 20 ? word : word + 100);
    }
    return len;
}

typedef struct crowd {
    agg_recipe recipe;
    agg_accumulator acc;
    uint32_t counts[N_SENT];
} crowd;

static void make_crowd(crowd *c, unsigned hashes, uint64_t first)
{
    uint64_t items[N_SENT];
    bloom_recipe(&c->recipe, 32, hashes, 16, 0.25, 0.75);
    for (int i = 0; i < N_SENT; i++) {
        char word[8];
        int len = sprintf(word, "w%d", i);
        assert_true(agg_recipe_item(&items[i], &c->recipe, word, (size_t)len));
        c->counts[i] = (uint32_t)(4000 * exp(-i / 6.0)) + 100;
    }
    fold(&c->acc, &c->recipe, items, c->counts, N_SENT, first);
}

static void estimate_words(agg_estimate *estimate, agg_dictionary *dictionary, const crowd *c,
                           int is_backwards, agg_multiple multiple)
{
    char text[1024];
    agg_error error;
    const agg_estimate_options options = {.confidence = 0.95, .multiple = multiple, .n_threads = 2};
    size_t len = asked_words(text, is_backwards);
    assert_ok(
        agg_dictionary_parse(dictionary, &error, &c->recipe, "test", text, len, false, NULL, NULL));
    assert_ok(agg_estimate_run(estimate, &error, &c->recipe, &c->acc, dictionary, &options));
    assert_int_equal(estimate->n_rows, N_ASKED);
}

// Ten crowds of 27,000 devices: 600 errors in their own standard errors. They have mean 0 and
// deviation 1 (4 sd: 0.16 and 0.12), and 0.95 of them lie in their intervals (4 sd: 0.036). One
// report's bit has variance 0.24/(0.375)^2: a count has sd sqrt(27,000 * 1.7) = 215 and more, and
// the bound for 60 is 3.1 of them: the twelve commonest, of 740 and more, are mostly found.
static void strings_are_counted(void **state)
{
    double sum = 0, square = 0, covered = 0, found = 0, wrong = 0;
    (void)state;
    for (uint64_t t = 0; t < 10; t++) {
        crowd c;
        agg_estimate estimate;
        agg_dictionary dictionary;
        make_crowd(&c, 1 + (unsigned)(t % 2), 1000000 + t * 100000);
        estimate_words(&estimate, &dictionary, &c, 0, AGG_BONFERRONI);
        for (size_t r = 0; r < N_ASKED; r++) {
            const agg_estimate_row *row = &estimate.rows[r];
            double truth = true_count(&row->value, c.counts),
                   z = (row->count - truth) / row->stderr_;
            sum += z / 600;
            square += z * z / 600;
            covered += (row->low <= truth && truth <= row->high) / 600.0;
            found += row->detected && truth > 0;
            wrong += row->detected && truth == 0;
        }
        agg_estimate_release(&estimate);
        agg_dictionary_release(&dictionary);
        agg_accumulator_release(&c.acc);
        agg_recipe_release(&c.recipe);
    }
    print_message("strings: mean %.3f, deviation %.3f, coverage %.3f, found %.1f, wrong %.1f\n",
                  sum, sqrt(square), covered, found / 10, wrong / 10);
    assert_true(fabs(sum) < 0.16 && fabs(sqrt(square) - 1) < 0.12);
    assert_true(fabs(covered - 0.95) < 0.036);
    assert_true(found / 10 > 9 && found / 10 < 16);
    assert_true(wrong <= 4); // 0.5 expected
}

// 20,000 devices of one string and 10,000 of another, of which the first is asked for.
static void ask_for_one(agg_estimate_row *row, unsigned bits, unsigned hashes, uint64_t first)
{
    static const uint32_t counts[2] = {20000, 10000};
    uint64_t items[2] = {0, 0};
    agg_recipe recipe;
    agg_accumulator acc;
    agg_dictionary dictionary;
    agg_estimate estimate;
    agg_error error;
    const agg_estimate_options options = {.confidence = 0.95, .multiple = AGG_NONE};
    bloom_recipe(&recipe, bits, hashes, 16, 0.45, 0.55);
    assert_true(agg_recipe_item(&items[0], &recipe, "w0", 2) &&
                agg_recipe_item(&items[1], &recipe, "w1", 2));
    fold(&acc, &recipe, items, counts, 2, first);
    assert_ok(
        agg_dictionary_parse(&dictionary, &error, &recipe, "test", "w0\n", 3, false, NULL, NULL));
    assert_ok(agg_estimate_run(&estimate, &error, &recipe, &acc, &dictionary, &options));
    assert_int_equal(estimate.n_rows, 1);
    *row = estimate.rows[0];
    agg_estimate_release(&estimate);
    agg_dictionary_release(&dictionary);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// Sixteen hashes fill a filter of two bits: every string looks alike, and nothing is said of any,
// however many sent it.
static void full_filters_say_nothing(void **state)
{
    agg_estimate_row row;
    (void)state;
    ask_for_one(&row, 2, 16, 7000000);
    assert_true(row.count == 0 && row.stderr_ == 30000 && !row.detected);
}

// Four hashes on eight bits often meet; a bit counts once. The 128 bits have sd 16 sqrt(1875 / 4) /
// 0.075 = 4,600 from coins and 10,000 sqrt(0.24) = 4,900 from the other string, and 0.41 of them
// belong to the one that is asked for: its count has an sd of 6,750 / sqrt(128 * 0.24) = 1,210.
// Counted twice where they meet, it is 1,560.
static void hashes_that_meet_count_once(void **state)
{
    agg_estimate_row row;
    (void)state;
    ask_for_one(&row, 8, 4, 8000000);
    print_message("one of two: %.0f +- %.0f\n", row.count, row.stderr_);
    assert_true(fabs(row.count - 20000) < 4 * row.stderr_ && fabs(row.stderr_ - 1210) < 200);
}

static const agg_estimate_row *row_of(const agg_estimate *e, agg_text value)
{
    for (size_t i = 0; i < e->n_rows; i++)
        if (agg_text_compare(e->rows[i].value, value) == 0) return &e->rows[i];
    return NULL;
}

static void order_of_the_dictionary_changes_nothing(void **state)
{
    crowd c;
    agg_estimate one, other;
    agg_dictionary forward, backward;
    (void)state;
    make_crowd(&c, 2, 5000000);
    estimate_words(&one, &forward, &c, 0, AGG_BH);
    estimate_words(&other, &backward, &c, 1, AGG_BH);
    for (size_t i = 0; i < N_ASKED; i++) {
        const agg_estimate_row *a = &one.rows[i], *b = row_of(&other, a->value);
        assert_non_null(b);
        assert_true(fabs(a->count - b->count) < 1e-6 * a->stderr_ &&
                    fabs(a->stderr_ - b->stderr_) < 1e-6 * a->stderr_);
        assert_int_equal(a->detected, b->detected);
    }
    agg_estimate_release(&one);
    agg_estimate_release(&other);
    agg_dictionary_release(&forward);
    agg_dictionary_release(&backward);
    agg_accumulator_release(&c.acc);
    agg_recipe_release(&c.recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_follow_their_formula), cmocka_unit_test(strings_are_counted),
        cmocka_unit_test(full_filters_say_nothing), cmocka_unit_test(hashes_that_meet_count_once),
        cmocka_unit_test(order_of_the_dictionary_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
