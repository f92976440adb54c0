// SPDX-License-Identifier: Apache-2.0
// EM for joint tables: against answers in closed form, against EM by the book over raw likelihoods,
// from records of a recipe to the table that they were drawn from; what cannot be told apart, what
// is empty, nothing at all.
#include "agg_test.h"

#include <math.h>

#include "joint_covariance.h"
#include "joint_em.h"
#include "joint_tables.h"

enum { CELLS = 64 };

// Likelihoods of records in up to three variables, with counts.
typedef struct tables {
    uint32_t n_variables, n_categories[3], n_cells;
    size_t n_records;
    double *likelihoods[3];
    uint32_t *counts;
} tables;

static double uniform(shoal_rng *rng)
{
    return (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
}

static uint32_t draw_of(shoal_rng *rng, const double *shares, uint32_t n)
{
    double at = uniform(rng);
    uint32_t i = 0;
    while (i + 1 < n && at >= shares[i]) at -= shares[i++];
    return i;
}

static void make_tables(tables *t, const uint32_t *n_categories, uint32_t n_variables,
                        size_t n_records)
{
    memset(t, 0, sizeof *t);
    t->n_variables = n_variables;
    t->n_records = n_records;
    t->n_cells = 1;
    for (uint32_t v = 0; v < n_variables; v++) {
        t->n_categories[v] = n_categories[v];
        t->n_cells *= n_categories[v];
        t->likelihoods[v] = calloc(n_records * n_categories[v], sizeof(double));
        assert_non_null(t->likelihoods[v]);
    }
    t->counts = calloc(n_records, sizeof *t->counts);
    assert_true(t->counts != NULL && t->n_cells <= CELLS);
}

static void release_tables(tables *t)
{
    for (uint32_t v = 0; v < t->n_variables; v++) free(t->likelihoods[v]);
    free(t->counts);
}

static uint32_t category(const tables *t, uint32_t cell, uint32_t v)
{
    for (uint32_t w = t->n_variables; w-- > v + 1;) cell /= t->n_categories[w];
    return cell % t->n_categories[v];
}

// Records of one bit a category, each flipped with probability `lie`; every seventh came twice.
static void draw_bits(tables *t, const double *truth, double lie, uint8_t number)
{
    const uint8_t seed[32] = {number, 11};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t k = 0; k < t->n_records; k++) {
        uint32_t cell = draw_of(&rng, truth, t->n_cells);
        t->counts[k] = k % 7 == 0 ? 2 : 1;
        for (uint32_t v = 0; v < t->n_variables; v++)
            for (uint32_t c = 0; c < t->n_categories[v]; c++) {
                int bit = (category(t, cell, v) == c) ^ (uniform(&rng) < lie);
                // a factor of the record, which must not matter, and is not the same for two
                // records that are alike
                double factor = 1 + (double)(k % 3);
                t->likelihoods[v][k * t->n_categories[v] + c] =
                    factor * (bit ? (1 - lie) / lie : lie / (1 - lie));
            }
    }
}

static void data_of(agg_joint_data *data, const tables *t)
{
    agg_error error;
    const double *likelihoods[3] = {t->likelihoods[0], t->likelihoods[1], t->likelihoods[2]};
    assert_ok(joint_data_of_tables(data, &error, likelihoods, t->n_categories, t->n_variables,
                                   t->counts, t->n_records));
    assert_int_equal(data->n_cells, t->n_cells);
}

// EM by the book, record by record and cell by cell, from the uniform table.
static void by_the_book(double *p, const tables *t, uint32_t iterations)
{
    double next[CELLS], part[CELLS];
    for (uint32_t i = 0; i < t->n_cells; i++) p[i] = 1.0 / t->n_cells;
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        double n = 0;
        memset(next, 0, sizeof next);
        for (size_t k = 0; k < t->n_records; k++) {
            double sum = 0;
            for (uint32_t i = 0; i < t->n_cells; i++) {
                part[i] = p[i];
                for (uint32_t v = 0; v < t->n_variables; v++)
                    part[i] *= t->likelihoods[v][k * t->n_categories[v] + category(t, i, v)];
                sum += part[i];
            }
            for (uint32_t i = 0; i < t->n_cells; i++) next[i] += t->counts[k] * part[i] / sum;
            n += t->counts[k];
        }
        for (uint32_t i = 0; i < t->n_cells; i++) p[i] = next[i] / n;
    }
}

static double farthest(const double *a, const double *b, uint32_t n)
{
    double most = 0;
    for (uint32_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void estimate(double *p, agg_joint_em_result *result, const agg_joint_data *data,
                     agg_joint_em_options options)
{
    agg_error error;
    double sum = 0;
    assert_ok(agg_joint_em(p, result, &error, data, &options));
    for (uint32_t i = 0; i < data->n_cells; i++) {
        assert_true(p[i] >= 0);
        sum += p[i];
    }
    assert_true(fabs(sum - 1) < 1e-12);
}

// Options that go on to the maximum.
static agg_joint_em_options to_the_end(void)
{
    agg_joint_em_options options = agg_joint_em_defaults();
    options.gain = 1e-16;
    options.iterations_max = 100000;
    return options;
}

// Without noise a report is in one cell, and the estimate is how often that cell came.
static void without_noise_cells_are_counted(void **state)
{
    static const uint32_t n_categories[] = {3, 2}, counts[] = {5, 3, 2};
    static const double x[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, y[] = {2, 0, 0, 1, 0, 4},
                        expected[] = {0.5, 0, 0, 0.3, 0, 0.2};
    const double *likelihoods[] = {x, y};
    agg_joint_data data;
    agg_joint_em_result result;
    agg_error error;
    double p[6];
    (void)state;
    assert_ok(joint_data_of_tables(&data, &error, likelihoods, n_categories, 2, counts, 3));
    assert_true(data.n == 10 && data.n_tuples == 3 && data.variables[0].n_rows == 3 &&
                data.variables[1].n_rows == 2);
    estimate(p, &result, &data, to_the_end());
    assert_true(farthest(p, expected, 6) < 1e-12);
    assert_true(result.has_converged && result.is_identifiable && fabs(result.gap) < 1e-12);
    // log-likelihood of 10 reports in cells of 0.5, 0.3 and 0.2
    assert_true(fabs(result.log_likelihood - (5 * log(0.5) + 3 * log(0.3) + 2 * log(0.2))) < 1e-12);
    agg_joint_data_release(&data);
}

// Two coins that lie with probability e: undoing the matrices of both gives the maximum where
// nothing of it is negative.
static void coins_have_a_closed_form(void **state)
{
    static const uint32_t n_categories[] = {2, 2}, counts[] = {3400, 2300, 2100, 2200};
    const double e = 0.3, gap = 1 - 2 * e;
    double x[8], y[8], p[4];
    const double *likelihoods[] = {x, y};
    agg_joint_data data;
    agg_joint_em_result result;
    agg_error error;
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 2; c++) {
            x[2 * k + c] = k / 2 == c ? 1 - e : e;
            y[2 * k + c] = k % 2 == c ? 1 - e : e;
        }
    assert_ok(joint_data_of_tables(&data, &error, likelihoods, n_categories, 2, counts, 4));
    estimate(p, &result, &data, to_the_end());
    assert_true(result.has_converged);
    for (int c = 0; c < 4; c++) {
        double exact = 0;
        for (int k = 0; k < 4; k++)
            exact += ((k / 2 == c / 2 ? 1 - e : -e) / gap) * ((k % 2 == c % 2 ? 1 - e : -e) / gap) *
                     counts[k] / 1e4;
        assert_true(fabs(p[c] - exact) < 1e-8);
    }
    agg_joint_data_release(&data);
}

static const double blocks[24] = {0.2, 0, 0, 0.05, 0,   0.1, 0,   0, 0.1, 0,   0.05, 0,
                                  0,   0, 0, 0.05, 0.2, 0,   0.1, 0, 0,   0.1, 0,    0.05};

// One, two and three variables, in any order of size: step for step what the book says, and to the
// same maximum, cells of zero included.
static void agrees_with_the_book(void **state)
{
    static const uint32_t shapes[][3] = {{8, 0, 0}, {4, 6, 0}, {2, 3, 4}, {6, 4, 0}, {4, 2, 3}};
    (void)state;
    for (size_t shape = 0; shape < sizeof shapes / sizeof shapes[0]; shape++) {
        uint32_t n_variables = shapes[shape][2] > 0 ? 3 : shapes[shape][1] > 0 ? 2 : 1;
        tables t;
        agg_joint_data data;
        agg_joint_em_result result;
        double truth[24] = {0.5, 0, 0.3, 0.2}, p[CELLS], book[CELLS];
        agg_joint_em_options plain = to_the_end();
        make_tables(&t, shapes[shape], n_variables, 600);
        if (n_variables > 1) memcpy(truth, blocks, sizeof truth);
        draw_bits(&t, truth, 0.2, (uint8_t)(shape + 1));
        data_of(&data, &t);
        // In the last two the first variable has the most rows: EM works in another order.
        if (shape > 2) assert_true(data.variables[0].n_rows >= 2 * data.variables[1].n_rows);
        plain.is_plain = 1;
        plain.iterations_max = 8;
        estimate(p, &result, &data, plain);
        by_the_book(book, &t, 7);
        assert_true(farthest(p, book, t.n_cells) < 1e-13);
        assert_false(result.has_converged);
        assert_int_equal(result.iterations, 8); // the last one is that of the log-likelihood
        estimate(p, &result, &data, to_the_end());
        by_the_book(book, &t, 3000);
        assert_true(result.has_converged);
        // What is missing of the log-likelihood is at most 1e-6 a report; the book's own end is as
        // near.
        assert_true(result.gap >= -1e-12 && result.gap < 1e-6);
        assert_true(farthest(p, book, t.n_cells) < 1e-4);
        agg_joint_data_release(&data);
        release_tables(&t);
    }
}

static double log_likelihood_of(const agg_joint_data *data, const double *p)
{
    double sum = 0;
    for (size_t k = 0; k < data->n_tuples; k++) {
        double s = 0;
        for (uint32_t c = 0; c < data->n_cells; c++) {
            double part = p[c];
            for (uint32_t v = data->n_variables, rest = c; v-- > 0; rest /= data->variables[v].n)
                part *= agg_joint_data_row(data, k, v)[rest % data->variables[v].n];
            s += part;
        }
        sum += data->counts[k] * log(s);
    }
    return sum;
}

// Either rule stops far sooner than plain EM, where google/rappor's does no later; the
// log-likelihood is that of the shares returned.
static void stops_by_either_rule(void **state)
{
    static const uint32_t shape[] = {4, 6};
    tables t;
    agg_joint_data data;
    agg_joint_em_result plain, fast, best;
    double p[CELLS], best_p[CELLS];
    agg_joint_em_options options = to_the_end();
    (void)state;
    make_tables(&t, shape, 2, 5000);
    draw_bits(&t, blocks, 0.25, 9);
    data_of(&data, &t);
    estimate(best_p, &best, &data, options);
    for (int is_change = 0; is_change < 2; is_change++) {
        options.gain = is_change ? 0 : 1e-10;
        options.change = is_change ? 1e-6 : 0;
        options.is_plain = 1;
        estimate(p, &plain, &data, options);
        options.is_plain = 0;
        estimate(p, &fast, &data, options);
        assert_true(plain.has_converged && fast.has_converged);
        assert_true(2 * fast.iterations < plain.iterations);
        assert_true(fast.log_likelihood >= plain.log_likelihood - 1e-6 * (double)data.n);
        // The bound that the gap gives holds.
        assert_true(best.log_likelihood >= fast.log_likelihood);
        assert_true(best.log_likelihood <= fast.log_likelihood + (double)data.n * fast.gap);
        double exact = log_likelihood_of(&data, p);
        assert_true(fabs(exact - fast.log_likelihood) < 1e-9 * fabs(exact));
    }
    agg_joint_data_release(&data);
    release_tables(&t);
}

// From one kept point to the next; of noisy bits and empty cells, where extrapolation goes wrong
// now and then.
static void the_likelihood_never_falls(void **state)
{
    static const uint32_t shape[] = {4, 6};
    (void)state;
    for (uint8_t number = 30; number < 34; number++) {
        tables t;
        agg_joint_data data;
        agg_joint_em_result result;
        double p[CELLS], before = -HUGE_VAL;
        agg_joint_em_options options = to_the_end();
        make_tables(&t, shape, 2, 800);
        draw_bits(&t, blocks, 0.35, number);
        data_of(&data, &t);
        for (options.iterations_max = 2; options.iterations_max < 200; options.iterations_max++) {
            estimate(p, &result, &data, options);
            assert_true(result.iterations <= options.iterations_max);
            if (!(result.log_likelihood >= before - 1e-9))
                fail_msg("%u: %u evaluations, %.9f after %.9f", number, options.iterations_max,
                         result.log_likelihood, before);
            before = result.log_likelihood;
        }
        assert_true(fabs(log_likelihood_of(&data, p) - before) < 1e-9 * fabs(before));
        agg_joint_data_release(&data);
        release_tables(&t);
    }
}

// Any number of threads adds in the same order; tuples of several pieces.
static void threads_change_no_bit(void **state)
{
    static const uint32_t shape[] = {2, 3, 4};
    tables t;
    agg_joint_data data;
    agg_joint_em_result one, result;
    double p[CELLS], same[CELLS];
    agg_joint_em_options options = agg_joint_em_defaults();
    (void)state;
    make_tables(&t, shape, 3, 9000);
    draw_bits(&t, blocks, 0.2, 4);
    for (size_t k = 0; k < t.n_records; k++) // so that few tuples are alike
        t.likelihoods[2][4 * k] *= 1 + 1e-4 * (double)(k % 1000);
    data_of(&data, &t);
    assert_true(data.n_tuples > 4096);
    options.iterations_max = 60;
    estimate(p, &one, &data, options);
    assert_true(fabs(log_likelihood_of(&data, p) - one.log_likelihood) <
                1e-9 * fabs(one.log_likelihood));
    for (unsigned n_threads = 2; n_threads <= 9; n_threads += 3) {
        options.n_threads = n_threads;
        estimate(same, &result, &data, options);
        assert_memory_equal(p, same, data.n_cells * sizeof *p);
        assert_true(result.iterations == one.iterations);
        assert_memory_equal(&result.log_likelihood, &one.log_likelihood, sizeof(double));
    }
    agg_joint_data_release(&data);
    release_tables(&t);
}

// A category that nobody held gets nothing; two that are the same get what both have together, and
// it is said that only the sum is known.
static void empty_and_identical_categories(void **state)
{
    static const uint32_t shape[] = {4, 6};
    double truth[24], p[CELLS], merged[CELLS];
    tables t;
    agg_joint_data data;
    agg_joint_em_result result;
    (void)state;
    memcpy(truth, blocks, sizeof truth);
    truth[0] += truth[18]; // x = 3 is empty: its shares go to x = 0
    truth[3] += truth[21];
    truth[5] += truth[23];
    truth[18] = truth[21] = truth[23] = 0;
    make_tables(&t, shape, 2, 6000);
    draw_bits(&t, truth, 0.05, 21);
    data_of(&data, &t);
    estimate(p, &result, &data, to_the_end());
    assert_true(result.is_identifiable);
    double empty = 0;
    for (uint32_t c = 18; c < 24; c++) empty += p[c];
    // A share has a standard error of sqrt(e (1 - e) / n) / (1 - 2 e) = 0.003 here; 5 of them.
    assert_true(empty < 0.015);
    agg_joint_data_release(&data);
    for (size_t k = 0; k < t.n_records; k++) t.likelihoods[0][4 * k + 3] = t.likelihoods[0][4 * k];
    data_of(&data, &t);
    assert_int_equal(data.variables[0].twins[0], 0);
    assert_int_equal(data.variables[0].twins[1], 3);
    assert_true(data.variables[1].twins[0] == 0 && data.variables[1].twins[1] == 0);
    estimate(merged, &result, &data, to_the_end());
    assert_false(result.is_identifiable);
    assert_true(result.has_converged);
    for (uint32_t y = 0; y < 6; y++)
        assert_true(fabs(merged[y] - merged[18 + y]) < 1e-9); // alike from an even start
    agg_joint_data_release(&data);
    release_tables(&t);
}

static void one_record_and_none(void **state)
{
    static const uint32_t n_categories[] = {2, 2}, once[] = {1}, never[] = {0};
    static const double x[] = {3, 1}, y[] = {1, 4};
    const double *likelihoods[] = {x, y};
    agg_joint_data data;
    agg_joint_em_result result;
    agg_error error;
    double p[4];
    (void)state;
    assert_ok(joint_data_of_tables(&data, &error, likelihoods, n_categories, 2, once, 1));
    estimate(p, &result, &data, to_the_end());
    assert_true(result.has_converged && p[1] > 1 - 1e-9); // all in its likeliest cell
    agg_joint_data_release(&data);
    assert_ok(joint_data_of_tables(&data, &error, likelihoods, n_categories, 2, never, 1));
    assert_true(data.n == 0 && data.n_tuples == 0);
    estimate(p, &result, &data, to_the_end());
    for (int c = 0; c < 4; c++) assert_true(fabs(p[c] - 0.25) < 1e-15);
    assert_false(result.is_identifiable);
    agg_joint_data_release(&data);
}

static void refusals(void **state)
{
    static const uint32_t two[] = {2, 2}, wide[] = {65, 64}, once[] = {1};
    static const double x[4] = {1, 2, 1, 2};
    double many[65], p[4];
    const double *good[] = {x, x}, *of_many[] = {many, many};
    agg_joint_data data;
    agg_joint_em_result result;
    agg_error error;
    (void)state;
    for (int i = 0; i < 65; i++) many[i] = 1;
    assert_err(joint_data_of_tables(&data, &error, good, two, 0, once, 1), SHOAL_ERR_RANGE);
    assert_err(joint_data_of_tables(&data, &error, good, two, 9, once, 1), SHOAL_ERR_RANGE);
    assert_err(joint_data_of_tables(&data, &error, of_many, wide, 2, once, 1), SHOAL_ERR_RANGE);
    assert_ok(joint_data_of_tables(&data, &error, good, two, 2, once, 1));
    agg_joint_em_options no_rule = {0, 0, 10, 0, 1}, no_time = {1e-10, 0, 0, 0, 1};
    assert_err(agg_joint_em(p, &result, &error, &data, &no_rule), SHOAL_ERR_RANGE);
    assert_err(agg_joint_em(p, &result, &error, &data, &no_time), SHOAL_ERR_RANGE);
    agg_joint_data_release(&data);
}

// -- Records
// ----------------------------------------------------------------------------------------------------------------------------

#define VARIABLE_GRR                                                                               \
    "{\"name\":\"age\",\"value\":\"item\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2,"    \
    "\"values\":[\"young\","                                                                       \
    "\"old\",\"unknown\"]}}"
#define VARIABLE_RAPPOR                                                                            \
    "{\"name\":\"news\",\"value\":\"item\",\"mechanism\":\"rappor\",\"parameters\":{\"bits\":32,"  \
    "\"hashes\":2,"                                                                                \
    "\"cohorts\":8,\"p\":0.1,\"q\":0.9,\"f\":0},\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED      \
    "\"}"

enum { DEVICES = 20000, NEWS = 12 };

typedef struct collected {
    agg_recipe recipe;
    agg_accumulator acc;
    uint64_t news[NEWS];
    double truth[3][NEWS];
} collected;

// Reports of age and news: the news' shares fall by a fifth from one to the next, the old read the
// first one twice as often.
static void collect(collected *c, uint8_t number)
{
    const uint8_t seed[32] = {number, 5};
    double sum = 0, shares[3 * NEWS];
    agg_error error;
    shoal_rng rng;
    read_recipe(
        &c->recipe,
        "{\"recipe\":\"joint\",\"analysis\":\"a\",\"stream\":\"s\",\"variables\":[" VARIABLE_GRR
        "," VARIABLE_RAPPOR "],\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}");
    const shoal_recipe *recipe = c->recipe.recipe;
    for (uint32_t i = 0; i < NEWS; i++) {
        char text[16];
        int len = snprintf(text, sizeof text, "news%u", i);
        c->news[i] =
            shoal_part_item(shoal_recipe_part(recipe, 1), (const uint8_t *)text, (size_t)len);
        for (uint32_t x = 0; x < 3; x++)
            sum += c->truth[x][i] = pow(0.8, i) * (x == 1 && i == 0 ? 2 : 1) / (x + 1);
    }
    for (uint32_t i = 0; i < 3 * NEWS; i++) shares[i] = c->truth[i / NEWS][i % NEWS] /= sum;
    uint8_t *records = calloc(DEVICES, shoal_record_size(recipe));
    assert_non_null(records);
    shoal_rng_init(&rng, seed);
    for (size_t k = 0; k < DEVICES; k++) {
        shoal_permanent permanent;
        uint32_t cell = draw_of(&rng, shares, 3 * NEWS);
        uint64_t items[] = {cell / NEWS, c->news[cell % NEWS]};
        for (int i = 0; i < 32; i++) permanent.secret[i] = (uint8_t)shoal_rng_u64(&rng);
        assert_ok(shoal_record_randomize(records + k * shoal_record_size(recipe), recipe, items, 2,
                                         &permanent, &rng));
    }
    assert_ok(agg_accumulator_init(&c->acc, &error, recipe));
    assert_ok(agg_accumulator_add(&c->acc, &error, records, DEVICES, 1));
    free(records);
}

static void release_collected(collected *c)
{
    agg_accumulator_release(&c->acc);
    agg_recipe_release(&c->recipe);
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Rows are numbered as tuples come to them, those of one first row lie together, each tuple is
// there once.
static void tuples_are_in_order(const agg_joint_data *data)
{
    uint32_t next[2] = {0, 0};
    uint64_t *seen = calloc(data->n_tuples, sizeof *seen);
    assert_non_null(seen);
    for (size_t k = 0; k < data->n_tuples; k++) {
        const uint32_t *here = data->tuples + 2 * k;
        for (int v = 0; v < 2; v++) {
            assert_true(here[v] <= next[v]);
            next[v] += here[v] == next[v];
        }
        assert_true(k == 0 || here[0] >= here[-2]);
        seen[k] = (uint64_t)here[0] << 32 | here[1];
    }
    assert_true(next[0] == data->variables[0].n_rows && next[1] == data->variables[1].n_rows);
    qsort(seen, data->n_tuples, sizeof *seen, compare_words);
    for (size_t k = 1; k < data->n_tuples; k++) assert_true(seen[k] != seen[k - 1]);
    free(seen);
}

// Data hold every report and lead back to each record's own likelihoods.
static void data_hold_all_records(const agg_joint_data *data, const collected *c,
                                  const agg_joint_categories *categories)
{
    uint64_t n = 0;
    agg_error error;
    for (size_t k = 0; k < data->n_tuples; k++) n += data->counts[k];
    assert_true(n == data->n && n == DEVICES);
    tuples_are_in_order(data);
    agg_joint_law *law[2];
    for (uint32_t v = 0; v < 2; v++)
        assert_ok(agg_joint_law_make(&law[v], &error, shoal_recipe_part(c->recipe.recipe, v),
                                     &c->acc.parts[v], c->acc.n, &categories[v], 1));
    for (size_t i = 0; i < c->acc.set.n_distinct; i += 97) {
        double own[2][8];
        const uint8_t *record = agg_record_set_at(&c->acc.set, i);
        agg_joint_law_weigh(own[0], law[0], record);
        agg_joint_law_weigh(own[1], law[1],
                            record + shoal_recipe_part(c->recipe.recipe, 0)->record_size);
        size_t k = 0;
        while (k < data->n_tuples &&
               (memcmp(agg_joint_data_row(data, k, 0), own[0], 8 * data->variables[0].n) != 0 ||
                memcmp(agg_joint_data_row(data, k, 1), own[1], 8 * data->variables[1].n) != 0))
            k++;
        assert_true(k < data->n_tuples);
    }
    agg_joint_law_free(law[0]);
    agg_joint_law_free(law[1]);
}

static void plain_em_ends_there_too(const agg_joint_data *data)
{
    agg_joint_em_options options = to_the_end();
    agg_joint_em_result plain, fast;
    double p[16], same[16];
    estimate(p, &fast, data, options);
    options.is_plain = 1;
    estimate(same, &plain, data, options);
    assert_true(plain.has_converged && fast.has_converged);
    assert_true(farthest(p, same, 16) < 1e-5);
    assert_true(3 * fast.iterations < plain.iterations);
}

// Three news of twelve are named; what is left of a cell after five standard errors is not seen
// once.
static void records_lead_back_to_the_table(void **state)
{
    const uint64_t ages[] = {0, 1, 2};
    double bias[16] = {0}, squares = 0;
    enum { RUNS = 4 };
    (void)state;
    const uint32_t n_runs = effort(RUNS, RUNS, 1);
    for (uint8_t run = 1; run <= n_runs; run++) {
        collected c;
        collect(&c, run);
        const agg_joint_categories categories[] = {{0, 3, ages, NULL, 1}, {1, 3, c.news, NULL, 1}};
        agg_joint_covariance covariance;
        agg_joint_share shares[16];
        agg_joint_data data;
        agg_joint_em_result result;
        agg_error error;
        double p[16];
        assert_ok(agg_joint_data_make(&data, &error, shoal_recipe_part(c.recipe.recipe, 0), &c.acc,
                                      categories, 2, 1));
        if (run == 1) data_hold_all_records(&data, &c, categories);
        assert_int_equal(data.n_cells, 16);
        estimate(p, &result, &data, agg_joint_em_defaults());
        assert_true(result.has_converged && result.is_identifiable);
        if (run == 1) plain_em_ends_there_too(&data);
        assert_ok(agg_joint_covariance_make(&covariance, &error, &data, p, 1));
        agg_joint_cells(shares, &covariance, 0.95);
        for (uint32_t i = 0; i < 12; i++) { // the row of age "none of the list" is empty
            double truth = 0;
            for (uint32_t j = i % 4; j < (i % 4 < 3 ? i % 4 + 1 : NEWS); j++)
                truth += c.truth[i / 4][j];
            double z = (p[i] - truth) / shares[i].stderr_;
            assert_true(fabs(z) < 5);
            bias[i] += z;
            squares += z * z;
        }
        for (uint32_t i = 12; i < 16; i++) assert_true(p[i] < 5 * shares[i].stderr_);
        agg_joint_covariance_release(&covariance);
        agg_joint_data_release(&data);
        release_collected(&c);
    }
    if (n_runs < RUNS) return; // too few to judge
    for (uint32_t i = 0; i < 12; i++) assert_true(fabs(bias[i]) < 4.5 * sqrt(RUNS));
    // 48 squares of mean 1 and variance 2; cells of one run are anything but independent: 6 sigma.
    assert_true(squares < 48 + 6 * sqrt(2 * 48));
}

static void records_are_refused(void **state)
{
    static const uint64_t ages[] = {0, 1, 2}, bad[] = {0, 7}, twice[] = {1, 1},
                          none_first[] = {SHOAL_ITEM_NONE, 1};
    collected c;
    agg_joint_data data;
    agg_error error;
    (void)state;
    collect(&c, 1);
    const shoal_part *parts = shoal_recipe_part(c.recipe.recipe, 0);
    const agg_joint_categories same_part[] = {{0, 3, ages, NULL, 0}, {0, 3, ages, NULL, 0}};
    const agg_joint_categories refused[] = {{2, 3, ages, NULL, 0},
                                            {0, 0, ages, NULL, 0},
                                            {0, 2, bad, NULL, 0},
                                            {0, 2, twice, NULL, 1},
                                            {0, 2, none_first, NULL, 0}};
    assert_err(agg_joint_data_make(&data, &error, parts, &c.acc, same_part, 2, 1), SHOAL_ERR_RANGE);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_err(agg_joint_data_make(&data, &error, parts, &c.acc, &refused[i], 1, 1),
                   SHOAL_ERR_RANGE);
    // All of the list, none of the list, and still more.
    const uint64_t whole[] = {0, 1, 2, SHOAL_ITEM_NONE};
    const agg_joint_categories nothing_left = {0, 4, whole, NULL, 1};
    assert_err(agg_joint_data_make(&data, &error, parts, &c.acc, &nothing_left, 1, 1),
               SHOAL_ERR_RANGE);
    const agg_joint_categories good = {0, 3, ages, NULL, 0};
    agg_accumulator sums = c.acc;
    memset(&sums.set, 0, sizeof sums.set);
    assert_err(agg_joint_data_make(&data, &error, parts, &sums, &good, 1, 1), SHOAL_ERR_ARGUMENT);
    release_collected(&c);
}

// argv[1], when given, chooses tests by a pattern.
int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_noise_cells_are_counted),
                                       cmocka_unit_test(coins_have_a_closed_form),
                                       cmocka_unit_test(agrees_with_the_book),
                                       cmocka_unit_test(stops_by_either_rule),
                                       cmocka_unit_test(the_likelihood_never_falls),
                                       cmocka_unit_test(threads_change_no_bit),
                                       cmocka_unit_test(empty_and_identical_categories),
                                       cmocka_unit_test(one_record_and_none),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(records_lead_back_to_the_table),
                                       cmocka_unit_test(records_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
