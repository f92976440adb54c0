// SPDX-License-Identifier: Apache-2.0
// Estimates of grr, subset, hadamard and onehot-symmetric on fixed seeds: bias, variance against
// the papers' formulas, stated error, coverage; Hadamard's transform against its definition; sums
// that merge.
//
// Tolerances of means are 4 standard errors over independent trials, measured over these trials: a
// right estimator misses one once in 16,000 choices of the seeds. 40 values in 900 trials give the
// mean square error to sqrt(2/36,000) = 0.75 %.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "account.h"
#include "bytes.h"
#include "estimator.h"
#include "normal_law.h"
#include "support_score.h"

#ifndef SEED
#define SEED 11
#endif
#define ASKED 40u
#define NONE 150u // devices whose value is not in the list
#define TRIALS 900u

typedef struct law {
    const char *mechanism;
    double epsilon;
    unsigned size;
    int is_heavy; // one value holds about half of the devices
} law;

static const law laws[] = {
    {"grr", 1, 40, 0},
    {"grr", 4, 40, 1},
    {"grr", 2, 100, 0},
    {"subset", 1, 60, 0},
    {"subset", 2, 40, 1},
    {"subset", 4, 400, 0},
    {"hadamard", 1, 80, 0},
    {"hadamard", 2, 40, 1},
    {"hadamard", 2, 200, 0},
    {"hadamard", 4, 120, 0},
    {"hadamard", 4, 1000, 1},
    {"onehot-symmetric", 1, 40, 0},
    {"onehot-symmetric", 4, 64, 1},
    {"onehot-symmetric", 8, 40, 0},
};

// The i-th asked value, and how many devices hold it: every other value nobody.
static uint64_t value_of(const law *l, uint32_t i)
{
    return i * (l->size / ASKED);
}

static uint32_t devices_of(const law *l, uint32_t i)
{
    if (i % 2 == 1) return 0;
    return l->is_heavy ? (i == 0 ? 1500 : 10 + 2 * i) : 20 + 4 * i;
}

static void read_law(agg_recipe *recipe, const law *l)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"law\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":%g,\"size\":%u},\"limit\":{\"per_day\":1},\"expires\":"
             "\"2030-01-01\"}",
             l->mechanism, l->epsilon, l->size);
    read_recipe(recipe, text);
}

static uint8_t *put_records(uint8_t *at, const agg_recipe *recipe, uint64_t item, uint32_t count,
                            shoal_rng *rng)
{
    for (uint32_t i = 0; i < count; i++, at += recipe->recipe->record_size)
        assert_ok(shoal_record_randomize(at, recipe->recipe, &item, 1, NULL, rng));
    return at;
}

// The records of one trial. Returns: how many.
static uint32_t trial_records(uint8_t *records, const agg_recipe *recipe, const law *l,
                              unsigned trial)
{
    uint8_t seed[32] = {SEED, (uint8_t)trial, (uint8_t)(trial >> 8)}, *at = records;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < ASKED; i++)
        at = put_records(at, recipe, value_of(l, i), devices_of(l, i), &rng);
    at = put_records(at, recipe, SHOAL_ITEM_NONE, NONE, &rng);
    return (uint32_t)((size_t)(at - records) / recipe->recipe->record_size);
}

// What one value's estimates must show, from the papers' probabilities and the true counts alone:
// e^eps in doubles, no threshold, no sketch.
typedef struct truth {
    double variance;
    double stated; // mean of the variance that is printed, which takes estimates, kept at zero or
                   // above, for what it does not know
} truth;

// Returns: the mean of a normal variable whose negative values are counted as zero.
static double mean_positive(double mean, double sd)
{
    double z = mean / sd;
    return mean * erfc(-z / sqrt(2)) / 2 + sd * exp(-z * z / 2) / sqrt(2 * acos(-1));
}

static truth pq_truth(double n, double f, double p, double q)
{
    double c = 1 / ((p - q) * (p - q)), slope = c * (p * (1 - p) - q * (1 - q)),
           base = c * n * q * (1 - q);
    return (truth){base + slope * f, base + slope * mean_positive(f, sqrt(base + slope * f))};
}

typedef struct blocks {
    unsigned blocks, columns;
    double z; // e^epsilon + 2 B - 1
} blocks;

static blocks blocks_of(const law *l)
{
    blocks b = {1, 1, 0};
    double a = exp(l->epsilon) - 1;
    while (b.blocks < l->size &&
           a * a / (2 * b.blocks) + 8 * b.blocks < a * a / b.blocks + 4 * b.blocks)
        b.blocks *= 2;
    while (b.blocks * b.columns < l->size) b.columns *= 2;
    b.z = a + 2 * b.blocks;
    return b;
}

// With the devices of each block known: E R = F (E + 1)/Z + (others) 2/Z + (none) 1/B.
static truth hadamard_truth(const law *l, double n, uint32_t i)
{
    blocks b = blocks_of(l);
    double e = exp(l->epsilon), in_block = 0, c = b.z / (e - 1), f = devices_of(l, i),
           least = 2 * n / b.z;
    for (uint32_t j = 0; j < ASKED; j++)
        if (value_of(l, j) % b.blocks == value_of(l, i) % b.blocks) in_block += devices_of(l, j);
    double reports =
        in_block * (e + 1) / b.z + (n - NONE - in_block) * 2 / b.z + (double)NONE / b.blocks;
    double variance = c * c * reports - f,
           seen = least + mean_positive(reports - least, sqrt(reports));
    return (truth){variance, c * c * seen - mean_positive(f, sqrt(variance))};
}

static truth truth_of(const law *l, double n, uint32_t i)
{
    double e = exp(l->epsilon), h = exp(l->epsilon / 2), s = l->size + 1, f = devices_of(l, i);
    double d = ceil(s / (e + 1)), p = d * e / (d * e + s - d);
    if (strcmp(l->mechanism, "grr") == 0) return pq_truth(n, f, e / (e + s - 1), 1 / (e + s - 1));
    if (strcmp(l->mechanism, "subset") == 0) return pq_truth(n, f, p, (d - p) / (s - 1));
    if (strcmp(l->mechanism, "hadamard") == 0) return hadamard_truth(l, n, i);
    return (truth){n * h / ((h - 1) * (h - 1)),
                   n * h / ((h - 1) * (h - 1))}; // apple-2022 Theorem C.2 at epsilon/2
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

static double error_of(const moments *m)
{
    double mean = mean_of(m);
    return sqrt((m->squares / m->n - mean * mean) / (m->n - 1));
}

static void assert_near(const law *l, const char *what, const moments *m, double expected,
                        double tolerance)
{
    if (fabs(mean_of(m) - expected) > tolerance)
        fail_msg("%s, epsilon %g, %u values: %s is %g +- %g, not %g", l->mechanism, l->epsilon,
                 l->size, what, mean_of(m), error_of(m), expected);
}

// Means over the values of one trial, one sample each.
typedef struct outcome {
    moments bias, square, stated, covered, first_bias, first_stated, null_square;
} outcome;

static void take_trial(outcome *o, const law *l, const agg_count counts[ASKED],
                       const truth truths[ASKED])
{
    double bias = 0, square = 0, stated = 0, covered = 0, null_square = 0;
    for (uint32_t i = 0; i < ASKED; i++) {
        double off = counts[i].count - devices_of(l, i),
               own = counts[i].stderr_ * counts[i].stderr_;
        bias += off / sqrt(truths[i].variance);
        square += off * off / truths[i].variance;
        stated += own / truths[i].stated;
        covered += fabs(off) <= 1.959964 * counts[i].stderr_ ? 1 : 0;
        if (i % 2 == 1) null_square += off * off / (counts[i].null_error * counts[i].null_error);
    }
    take(&o->bias, bias / ASKED);
    take(&o->square, square / ASKED);
    take(&o->stated, stated / ASKED);
    take(&o->covered, covered / ASKED);
    take(&o->null_square, null_square / (ASKED / 2));
    take(&o->first_bias, (counts[0].count - devices_of(l, 0)) / sqrt(truths[0].variance));
    take(&o->first_stated, counts[0].stderr_ * counts[0].stderr_ / truths[0].variance);
}

static void check_outcome(const outcome *o, const law *l)
{
    assert_near(l, "mean error", &o->bias, 0, 4 * error_of(&o->bias));
    assert_near(l, "mean error of value 0", &o->first_bias, 0, 4 * error_of(&o->first_bias));
    assert_near(l, "mean square over the formula", &o->square, 1, 4 * error_of(&o->square));
    assert_near(l, "mean square over the formula", &o->square, 1, 0.03);
    assert_near(l, "stated variance over its mean", &o->stated, 1, 0.01);
    if (l->is_heavy) assert_near(l, "stated variance of value 0", &o->first_stated, 1, 0.02);
    // What a value that nobody holds is tested with.
    assert_near(l, "square over that of the null error", &o->null_square, 1, 0.05);
    // The normal law is an approximation at n of about 2,000.
    assert_near(l, "coverage", &o->covered, 0.95, 0.015);
}

static void check_law(const law *l)
{
    static uint8_t records[4000 * 1024];
    agg_recipe recipe;
    agg_error error;
    truth truths[ASKED];
    uint64_t items[ASKED];
    outcome o;
    memset(&o, 0, sizeof o);
    read_law(&recipe, l);
    assert_true(recipe.recipe->record_size <= 1024);
    for (uint32_t i = 0; i < ASKED; i++) items[i] = value_of(l, i);
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        agg_accumulator acc;
        agg_count counts[ASKED];
        uint32_t n = trial_records(records, &recipe, l, trial);
        read_acc(&acc, &recipe, records, n, 1);
        for (uint32_t i = 0; trial == 0 && i < ASKED; i++) truths[i] = truth_of(l, n, i);
        assert_ok(agg_estimator_counts(counts, &error, &recipe.recipe->parts[0], &acc.parts[0], n,
                                       items, ASKED, 1));
        take_trial(&o, l, counts, truths);
        agg_accumulator_release(&acc);
    }
    if (n_trials == TRIALS) check_outcome(&o, l);
    agg_recipe_release(&recipe);
}

static void estimates_follow_their_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) check_law(&laws[i]);
}

// Hadamard's formula with the others where a list in random order has them: the share of pairs in
// one block, counted.
static double planned_hadamard(const law *l, double n, double f)
{
    blocks b = blocks_of(l);
    double e = exp(l->epsilon), c = b.z / (e - 1), together = 0,
           pairs = (double)l->size * (l->size - 1);
    for (unsigned x = 0; x < l->size; x++)
        for (unsigned y = 0; y < l->size; y++)
            together += x != y && x % b.blocks == y % b.blocks ? 1 : 0;
    return c * c * (2 * n / b.z + (f + (n - f) * together / pairs) * (e - 1) / b.z) - f;
}

// What a plan is told.
static void accounts_state_the_same_variance(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof laws / sizeof laws[0]; t++) {
        const law *l = &laws[t];
        agg_recipe recipe;
        agg_wish wish = {.eps_micro = (uint32_t)lround(l->epsilon * 1e6),
                         .size = l->size,
                         .n = 2000,
                         .cells = 1e9};
        shoal_part part;
        const char *field;
        double n = NONE;
        read_law(&recipe, l);
        const agg_account *account = agg_account_of(recipe.recipe->mechanism);
        assert_int_equal(account->propose(&part, &wish, 0), 1);
        assert_int_equal(account->propose(&part, &wish, 1), 0);
        assert_ok(shoal_part_prepare(&part, &field));
        assert_true(part.k == recipe.recipe->parts[0].k && part.m == recipe.recipe->parts[0].m);
        for (uint32_t i = 0; i < ASKED; i++) n += devices_of(l, i);
        for (uint32_t i = 0; i < ASKED; i++) {
            double f = devices_of(l, i), own = account->variance(&part, n, f, 0);
            int is_hadamard = strcmp(l->mechanism, "hadamard") == 0;
            double expected = is_hadamard ? planned_hadamard(l, n, f) : truth_of(l, n, i).variance;
            assert_true(fabs(own / expected - 1) < 1e-9);
        }
        agg_recipe_release(&recipe);
    }
}

// Signs times matrix entries, record by record, against what the sketch and its transform give.
static void hadamard_by_definition(void **state)
{
    static const law settings[] = {
        {"hadamard", 1, 80, 0}, {"hadamard", 4, 1000, 0}, {"hadamard", 8, 4000, 0}};
    static uint8_t records[4000 * 4];
    (void)state;
    for (size_t t = 0; t < sizeof settings / sizeof settings[0]; t++) {
        agg_recipe recipe;
        agg_accumulator acc;
        agg_error error;
        agg_count counts[ASKED], threaded[ASKED];
        uint64_t items[ASKED];
        read_law(&recipe, &settings[t]);
        const shoal_part *part = &recipe.recipe->parts[0];
        uint32_t n = trial_records(records, &recipe, &settings[t], (unsigned)t);
        double e = exp(settings[t].epsilon), scale = (e + 2 * part->k - 1) / (e - 1);
        for (uint32_t i = 0; i < ASKED; i++) items[i] = value_of(&settings[t], i);
        read_acc(&acc, &recipe, records, n, 1);
        assert_ok(agg_estimator_counts(counts, &error, part, &acc.parts[0], n, items, ASKED, 1));
        assert_ok(agg_estimator_counts(threaded, &error, part, &acc.parts[0], n, items, ASKED, 3));
        assert_memory_equal(counts, threaded, sizeof counts);
        for (uint32_t i = 0; i < ASKED; i++) {
            int64_t sum = 0;
            for (uint32_t r = 0; r < n; r++) {
                uint32_t index = load32_le(records + 4 * r) >> 1,
                         column = (uint32_t)(items[i] / part->k), odd = 0;
                if (index / part->m != items[i] % part->k) continue;
                for (uint32_t x = index % part->m & column; x != 0; x &= x - 1) odd ^= 1;
                sum += (records[4 * r] & 1) != odd ? 1 : -1;
            }
            assert_true(fabs(counts[i].count - scale * (double)sum) <
                        1e-9 * (1 + fabs(counts[i].count)));
        }
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
}

// One report says nothing about the other blocks, and the result says that it says nothing.
static void no_estimate_is_certain(void **state)
{
    static const law l = {"hadamard", 16, 1000, 0};
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    uint8_t record[4] = {1};
    (void)state;
    read_law(&recipe, &l);
    read_acc(&acc, &recipe, record, 1, 1);
    for (uint64_t item = 0; item < l.size; item += 333) {
        agg_count count;
        assert_ok(agg_estimator_counts(&count, &error, &recipe.recipe->parts[0], &acc.parts[0], 1,
                                       &item, 1, 1));
        assert_true(count.null_error > 0 && (item == 0 || count.stderr_ > 0));
    }
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// log P(X = x) of a binomial X.
static double log_binomial(double x, double n, double q)
{
    return lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(q) + (n - x) * log1p(-q);
}

// P(X >= x).
static double upper_tail(uint32_t x, uint32_t n, double q)
{
    double sum = 0;
    for (uint32_t i = x; i <= n; i++) sum += exp(log_binomial(i, n, q));
    return sum;
}

// A score is a standard normal's of no smaller tail than the support's own, so that what it calls
// rare is rare; and it gives little away. Where reports are few the normal law believes in far too
// much: the last lines say how much.
static void scores_believe_no_more_than_the_binomial_law(void **state)
{
    static const struct {
        uint32_t n;
        double q;
    } cases[] = {{1, 0.15},     {3, 0.02},    {1000, 0.00034}, {1000, 0.0025},
                 {2000, 0.018}, {1000, 0.25}, {5000, 0.4},     {300, 0.7}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double n = cases[c].n, q = cases[c].q, spread = sqrt(n * q * (1 - q));
        for (uint32_t x = 1; x <= cases[c].n; x++) {
            double tail = upper_tail(x, cases[c].n, q),
                   score = agg_support_score(x, n, n * q, spread);
            if (tail > 0.2 || tail < 1e-12) continue; // no row is tested at such levels
            double exact = -agg_normal_quantile(tail);
            assert_true(score <= exact + 0.01);
            assert_true(score > exact - 0.5 || x == n);
            assert_true(agg_support_score(x, n, n * q, 2 * spread) <=
                        score / 2 + 1e-12); // shared rows
        }
        assert_true(agg_support_score(0, n, n * q, spread) < -1e300);
    }
    assert_true(agg_support_score(3, 1000, 0.34, 0.583) < 3.2);        // the normal law says 4.6
    assert_true(agg_support_score(1e9 + 2e5, 4e9, 1e9, 27386) > 7.29); // and is right here: 7.303
    assert_true(agg_support_score(0, 0, 0, 0) <= 0);
}

static void halves_merge_and_strangers_are_refused(void **state)
{
    static const law settings[] = {{"grr", 2, 50, 0},
                                   {"subset", 2, 50, 0},
                                   {"hadamard", 2, 50, 0},
                                   {"onehot-symmetric", 2, 50, 0}};
    static uint8_t records[4000 * 64];
    (void)state;
    for (size_t t = 0; t < sizeof settings / sizeof settings[0]; t++) {
        agg_recipe recipe;
        agg_accumulator whole, left, right;
        agg_error error;
        agg_count count;
        uint64_t stranger = 50; // "none" has a cell in some sketches, but no count
        read_law(&recipe, &settings[t]);
        uint32_t n = trial_records(records, &recipe, &settings[t], 0), half = n / 3;
        read_acc(&whole, &recipe, records, n, 1);
        read_acc(&left, &recipe, records, half, 1);
        read_acc(&right, &recipe, records + (size_t)half * recipe.recipe->record_size, n - half, 2);
        assert_ok(agg_accumulator_merge(&left, &error, &right));
        assert_same_acc(&whole, &left);
        assert_err(agg_estimator_counts(&count, &error, &recipe.recipe->parts[0], &whole.parts[0],
                                        n, &stranger, 1, 1),
                   SHOAL_ERR_RANGE);
        agg_accumulator_release(&whole);
        agg_accumulator_release(&left);
        agg_accumulator_release(&right);
        agg_recipe_release(&recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_believe_no_more_than_the_binomial_law),
        cmocka_unit_test(estimates_follow_their_law),
        cmocka_unit_test(accounts_state_the_same_variance),
        cmocka_unit_test(hadamard_by_definition),
        cmocka_unit_test(no_estimate_is_certain),
        cmocka_unit_test(halves_merge_and_strangers_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
