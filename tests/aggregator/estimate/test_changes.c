// SPDX-License-Identifier: Apache-2.0
// Changes over periods on fixed seeds: the bound of a scan beside exact figures and simulated
// scans, found changes with their dates, what is refused and withheld, and the printed forms.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "changes.h"
#include "changes_check.h"
#include "changes_print.h"
#include "normal_law.h"
#include "printed.h"
#include "split_tail.h"

// ---- the bound ----

// T(h, 1) = Q(h) (1 - Q(h)) / 2 and T(0, a) = atan(a) / (2 pi), Owen 1956, 2.3 and 2.4.
static void owens_function_has_its_known_values(void **state)
{
    (void)state;
    for (double h = 0; h <= 30; h += 0.25) {
        double q = agg_normal_tail(h), known = q * (1 - q) / 2;
        assert_true(fabs(agg_owens_t(h, 1) / known - 1) < 1e-8);
    }
    for (double a = 0.01; a <= 1; a += 0.03)
        assert_true(fabs(agg_owens_t(0, a) * 6.283185307179586 / atan(a) - 1) < 1e-9);
    assert_true(fabs(agg_normal_tail(-agg_normal_quantile(1e-12)) / 1e-12 - 1) < 1e-9);
}

static double normal(shoal_rng *rng)
{
    double u = ((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53,
           v = ((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static double bound(size_t n, double h)
{
    double sum = 2 * agg_normal_tail(h);
    for (size_t t = 1; t + 1 < n; t++) {
        double b = (double)t, a = (double)(n - t);
        sum += agg_split_tail_step(h, sqrt(b * (a - 1) / ((b + 1) * a)));
    }
    return sum;
}

// Of 200,000 scans, the share above the height of 1 % is binomial with sd 0.022 %: at most the
// bound and 4 sd. The bound is near: at least 0.8 of it up to 60 periods.
static void scans_of_normal_series_keep_the_bound(void **state)
{
    static const size_t lengths[] = {2, 3, 12, 60};
    const uint32_t n_runs = effort(200000, 200000, 200);
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){31});
    for (size_t i = 0; i < 4; i++) {
        size_t n = lengths[i];
        double low = 0, high = 10, above = 0, x[60];
        for (int step = 0; step < 50; step++) {
            double h = (low + high) / 2;
            *(bound(n, h) > 0.01 ? &low : &high) = h;
        }
        for (uint32_t run = 0; run < n_runs; run++) {
            double all = 0, head = 0, most = 0;
            for (size_t t = 0; t < n; t++) all += x[t] = normal(&rng);
            for (size_t t = 1; t < n; t++) {
                head += x[t - 1];
                double b = (double)t, a = (double)(n - t);
                most = fmax(most, fabs((all - head) / a - head / b) / sqrt(1 / a + 1 / b));
            }
            above += most >= high;
        }
        if (n_runs < 200000) continue; // too few to judge
        double share = above / n_runs;
        assert_true(share <= 0.01 + 4 * 0.00022);
        assert_true(share >= 0.8 * 0.01 - 4 * 0.00022);
    }
}

// ---- series ----

#define N_VALUES 40u
#define N_PERIODS 8u

typedef struct world {
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_accumulator accs[N_PERIODS];
    agg_changes_period periods[N_PERIODS];
    char labels[N_PERIODS][12];
} world;

static void open_world(world *w, const char *mechanism, const char *parameters, const char *extra)
{
    char text[1024], values[256];
    size_t len = 0;
    agg_error error;
    memset(w, 0, sizeof *w);
    snprintf(text, sizeof text,
             "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\",\"parameters\":{%s},\"limit\":{\"per_day\":1},"
             "\"expires\":\"2030-01-01\",\"cohort\":{\"minimum\":10}%s}",
             mechanism, parameters, extra);
    read_recipe(&w->recipe, text);
    for (unsigned d = 0; d < N_VALUES; d++)
        len += (size_t)snprintf(values + len, sizeof values - len, "%u\n", d);
    assert_ok(agg_dictionary_parse(&w->dictionary, &error, &w->recipe, "values", values, len, false,
                                   NULL, NULL));
}

static void close_world(world *w)
{
    for (size_t t = 0; t < N_PERIODS; t++) agg_accumulator_release(&w->accs[t]);
    agg_dictionary_release(&w->dictionary);
    agg_recipe_release(&w->recipe);
}

// Fills a period. Value 3 has `times` its share of 2 %; the rest is spread evenly.
static void fill_period(world *w, size_t t, uint32_t n, double times, shoal_rng *rng)
{
    size_t size = w->recipe.recipe->record_size;
    uint8_t *records = malloc(n * size + 1);
    agg_error error;
    assert_non_null(records);
    for (uint32_t i = 0; i < n; i++) {
        double u = ((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53;
        uint32_t d = u < 0.02 * times ? 3 : 4 + (uint32_t)(shoal_rng_u64(rng) % (N_VALUES - 4));
        assert_ok(shoal_record_randomize(records + i * size, w->recipe.recipe,
                                         &w->dictionary.items[d], 1, NULL, rng));
    }
    assert_ok(agg_accumulator_init(&w->accs[t], &error, w->recipe.recipe));
    assert_ok(agg_accumulator_add(&w->accs[t], &error, records, n, 1));
    snprintf(w->labels[t], sizeof w->labels[t], "2026-%02u", (unsigned)(t + 1) % 100);
    w->periods[t] = (agg_changes_period){
        {w->labels[t], strlen(w->labels[t])}, &w->recipe, &w->accs[t], &w->dictionary};
    free(records);
}

static agg_err try(agg_changes *result, agg_error *error, const world *w, size_t n)
{
    const agg_changes_options options = {0, AGG_BH, 0, 1};
    *error = (agg_error){SHOAL_OK, 0, ""};
    return agg_changes_run(result, error, w->periods, n, &options);
}

static void run_changes(agg_changes *result, const world *w)
{
    agg_error error;
    if (try(result, &error, w, N_PERIODS) != SHOAL_OK) fail_msg("%s", error.text);
}

static const char *const mechanisms[][3] = {{"subset", "\"epsilon\":3,\"size\":40", ""},
                                            {"olh", "\"epsilon\":3,\"k\":16,\"g\":16",
                                             ",\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED "\""},
                                            {"hadamard", "\"epsilon\":3,\"size\":40", ""},
                                            {"hcms", "\"epsilon\":4,\"k\":64,\"m\":64",
                                             ",\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED "\""}};
#define N_MECHANISMS (sizeof mechanisms / sizeof mechanisms[0])

// Value 3 rises from 2 % to 10 % with period 5. With 8,000 reports a period the error of a side is
// at most half a percent, so that the change is ten errors and more.
static void a_change_is_found_and_dated(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MECHANISMS; i++) {
        world w;
        agg_changes c;
        shoal_rng rng;
        const uint8_t seed[32] = {32, (uint8_t)i};
        shoal_rng_init(&rng, seed);
        open_world(&w, mechanisms[i][0], mechanisms[i][1], mechanisms[i][2]);
        for (size_t t = 0; t < N_PERIODS; t++) fill_period(&w, t, 8000, t < 5 ? 1 : 5, &rng);
        run_changes(&c, &w);
        const agg_changes_row *row = &c.rows[0];
        assert_int_equal(row->index, 3);
        assert_true(row->detected && row->score > 5 && row->p < 1e-5);
        assert_int_equal(row->at, 5);
        assert_true(row->dates.n > 0 && row->dates.first <= 5 && row->dates.last >= 5 &&
                    row->dates.last - row->dates.first <= 1);
        assert_int_equal(row->shape, AGG_CHANGE_STEP);
        double sd = sqrt(row->difference.variance);
        assert_true(sd > 0 && fabs(row->difference.share - 0.08) < 4 * sd);
        assert_true(fabs(row->before.share - 0.02) < 4 * sqrt(row->before.variance));
        assert_true(fabs(row->after.share - 0.1) < 4 * sqrt(row->after.variance));
        assert_true(row->difference.share == row->after.share - row->before.share);
        assert_false(c.rows[N_VALUES - 1].detected);
        assert_int_equal(c.selection.n_all, N_VALUES * (N_PERIODS - 1));
        // Collisions that all periods share are an error of a share, and none of a difference.
        assert_int_equal(c.is_shared, i == 1 || i == 3);
        if (i == 1) assert_true(row->difference.variance < row->before.variance);
        agg_changes_release(&c);
        close_world(&w);
    }
}

// In `n` series of unchanged crowds, the chance of any detection is 5 % at most: of 240, 12,
// sd 3.4; with 4 sd to spare, 25. Few reports must not make more.
static void nothing_is_found_where_nothing_changed(void **state)
{
    (void)state;
    const uint32_t n_trials = effort(240, 240, 1);
    for (size_t i = 0; i < N_MECHANISMS; i++)
        for (int is_small = 0; is_small < 2; is_small++) {
            unsigned found = 0;
            for (unsigned trial = 0; trial < n_trials; trial++) {
                world w;
                agg_changes c;
                shoal_rng rng;
                const uint8_t seed[32] = {33, (uint8_t)i, (uint8_t)trial, (uint8_t)is_small};
                shoal_rng_init(&rng, seed);
                open_world(&w, mechanisms[i][0], mechanisms[i][1], mechanisms[i][2]);
                for (size_t t = 0; t < N_PERIODS; t++)
                    fill_period(&w, t, is_small ? 60 + 40 * (uint32_t)(t % 3) : 2000, 1, &rng);
                run_changes(&c, &w);
                found += c.n_detected > 0;
                agg_changes_release(&c);
                close_world(&w);
            }
            if (n_trials < 60) continue; // too few to judge
            double expected = 0.05 * n_trials;
            if (found > expected + 4 * sqrt(expected))
                fail_msg("%s: %u of %u series changed", mechanisms[i][0], found, n_trials);
        }
}

static void a_drift_is_no_step(void **state)
{
    world w;
    agg_changes c;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){34});
    open_world(&w, mechanisms[0][0], mechanisms[0][1], "");
    for (size_t t = 0; t < N_PERIODS; t++) fill_period(&w, t, 20000, 1 + 2 * (double)t, &rng);
    run_changes(&c, &w);
    assert_int_equal(c.rows[0].index, 3);
    assert_int_equal(c.rows[0].dates.n, 0);
    assert_int_equal(c.rows[0].shape, AGG_CHANGE_GRADUAL);
    agg_changes_release(&c);
    close_world(&w);
    // Up and down again.
    open_world(&w, mechanisms[0][0], mechanisms[0][1], "");
    for (size_t t = 0; t < N_PERIODS; t++)
        fill_period(&w, t, 20000, t == 2 || t == 3 || t == 4 ? 12 : 1, &rng);
    run_changes(&c, &w);
    assert_int_equal(c.rows[0].index, 3);
    assert_int_equal(c.rows[0].shape, AGG_CHANGE_SEVERAL);
    agg_changes_release(&c);
    close_world(&w);
}

static void assert_refused(world *w, size_t n, agg_err expected, const char *says)
{
    agg_changes c;
    agg_error error;
    assert_err(try(&c, &error, w, n), expected);
    if (strstr(error.text, says) == NULL) fail_msg("%s", error.text);
    assert_null(c.rows);
}

static void what_is_no_series_is_refused(void **state)
{
    world w, other;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){35});
    open_world(&w, mechanisms[0][0], mechanisms[0][1], "");
    open_world(&other, mechanisms[0][0], "\"epsilon\":2,\"size\":40", "");
    for (size_t t = 0; t < N_PERIODS; t++) fill_period(&w, t, 100, 1, &rng);
    assert_refused(&w, 1, AGG_ERR_USAGE, "2 to 1000 periods");
    // The same reports twice, by their sums.
    agg_accumulator *kept = &w.accs[7];
    w.periods[7].acc = &w.accs[2];
    assert_refused(&w, N_PERIODS, AGG_ERR_USAGE, "hold the same reports");
    w.periods[7].acc = kept;
    // Labels: the same, and dates that fall.
    strcpy(w.labels[7], "2026-02");
    assert_refused(&w, N_PERIODS, AGG_ERR_USAGE, "two periods are named 2026-02");
    strcpy(w.labels[7], "2025-02");
    assert_refused(&w, N_PERIODS, AGG_ERR_USAGE, "2025-02 comes after 2026-07");
    strcpy(w.labels[7], "2026-08");
    // Another epsilon.
    fill_period(&other, 0, 100, 1, &rng);
    other.labels[0][6] = '9';
    w.periods[7] = other.periods[0];
    assert_refused(&w, N_PERIODS, AGG_ERR_USAGE, "2026-01 and 2026-09 differ in the epsilon");
    w.periods[7] = w.periods[6];
    w.periods[7].acc = kept;
    w.periods[7].label = (agg_text){"late", 4};
    // Too few reports, and none.
    agg_accumulator_release(kept);
    fill_period(&w, 7, 9, 1, &rng);
    assert_refused(&w, N_PERIODS, AGG_ERR_COHORT, "period 2026-08: 9 reports are fewer");
    agg_accumulator_release(kept);
    fields_of(&w.recipe)->cohort_minimum = 0;
    fill_period(&w, 7, 0, 1, &rng);
    assert_refused(&w, N_PERIODS, AGG_ERR_USAGE, "period 2026-08 has no reports");
    fields_of(&w.recipe)->epochs = 4;
    assert_refused(&w, N_PERIODS, AGG_ERR_USAGE, "use shoal track");
    close_world(&w);
    close_world(&other);
}

static void gaps_are_told(void **state)
{
    static const struct {
        const char *labels[4];
        size_t before; // N_PERIODS: none
    } cases[] = {{{"2026-01", "2026-02", "2026-04", "2026-05"}, 1},
                 {{"2025-11", "2025-12", "2026-01", "2026-02"}, N_PERIODS},
                 {{"2026-02-27", "2026-02-28", "2026-03-01", "2026-03-03"}, 2},
                 {{"2026-01-01", "2026-01-08", "2026-01-15", "2026-01-29"}, 2},
                 {{"2026-W01", "2026-W02", "2026-W03", "2026-W04"}, N_PERIODS},
                 {{"2025-W51", "2025-W52", "2026-W02", "2026-W03"}, 1},
                 {{"2026-01", "2026-02", "may", "2026-09"}, N_PERIODS}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        agg_changes_period periods[4] = {0};
        size_t before = N_PERIODS;
        for (size_t t = 0; t < 4; t++)
            periods[t].label = (agg_text){cases[i].labels[t], strlen(cases[i].labels[t])};
        bool has_gap = agg_changes_gap(&before, periods, 4, 0);
        assert_int_equal(has_gap, cases[i].before < N_PERIODS);
        assert_int_equal(before, cases[i].before);
        assert_false(agg_changes_gap(&before, periods, 4, 1));
    }
}

static void what_is_below_the_threshold_is_withheld(void **state)
{
    world w;
    agg_changes all, some;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){36});
    open_world(&w, mechanisms[0][0], mechanisms[0][1], "");
    for (size_t t = 0; t < N_PERIODS; t++) fill_period(&w, t, 8000, t < 5 ? 0 : 5, &rng);
    run_changes(&all, &w);
    assert_int_equal(all.n_withheld, 0);
    fields_of(&w.recipe)->release_threshold = 1000;
    run_changes(&some, &w);
    // Value 3 has about 0 reports before and 2,400 after; values 0 to 2 have none.
    assert_int_equal(some.n_withheld, 3);
    assert_int_equal(some.n_rows, N_VALUES - 3);
    assert_int_equal(some.rows[0].index, 3);
    assert_true(some.rows[0].before_withheld && !some.rows[0].after_withheld);
    assert_true(some.rows[0].p == all.rows[0].p);
    agg_changes_release(&all);
    agg_changes_release(&some);
    close_world(&w);
}

// ---- printing ----

static agg_err print_changes(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_changes_print(stream, error, result, format);
}

static void changes_are_printed_and_escaped(void **state)
{
    static const char hostile[] = "=1\"<b>\x1b[31m";
    world w;
    agg_changes c;
    shoal_rng rng;
    printed p;
    char *svg = NULL;
    size_t svg_len = 0;
    agg_error error;
    (void)state;
    shoal_rng_init(&rng, (const uint8_t[32]){37});
    open_world(&w, mechanisms[0][0], mechanisms[0][1], "");
    for (size_t t = 0; t < N_PERIODS; t++) fill_period(&w, t, 4000, t < 5 ? 1 : 8, &rng);
    w.periods[5].label = (agg_text){hostile, sizeof hostile - 1};
    run_changes(&c, &w);
    c.rows[0].value = (agg_text){hostile, sizeof hostile - 1};
    c.rows[0].before_withheld = true;
    c.n_rows = 2;
    const agg_changes_result result = {&c, NULL};
    print_all(&p, print_changes, &result);
    assert_non_null(strstr(p.text[AGG_TABLE], "=1\"<b>\\x1b[31m"));
    assert_non_null(strstr(p.text[AGG_TABLE], "withheld"));
    assert_non_null(strstr(p.text[AGG_TABLE], "rose since =1\"<b>\\x1b[31m"));
    assert_non_null(strstr(p.text[AGG_TABLE], "cannot tell"));
    assert_non_null(strstr(p.text[AGG_JSON], "\"value\":\"=1\\\"\\u003cb\\u003e\\u001b[31m\""));
    assert_non_null(strstr(p.text[AGG_JSON], "\"before\":null,\"before_low\":null"));
    assert_non_null(strstr(p.text[AGG_JSON], "\"difference\":null,\"stderr\":null"));
    assert_non_null(strstr(p.text[AGG_NDJSON], "\"since\":\"=1\\\"\\u003cb"));
    assert_non_null(strstr(p.text[AGG_CSV], "\n\"'=1\"\"<b>\\x1b[31m\","));
    assert_non_null(strstr(p.text[AGG_CSV], "value,share,z,p,detected,change,shape,since,"));
    FILE *stream = open_memstream(&svg, &svg_len);
    assert_non_null(stream);
    assert_ok(agg_changes_svg(stream, &error, &c));
    fclose(stream);
    assert_non_null(strstr(svg, "=1&#34;&#60;b&#62;"));
    assert_null(strstr(svg, "<b>"));
    assert_null(strchr(svg, '\x1b'));
    assert_null(strstr(svg, "nan"));
    free(svg);
    printed_release(&p);
    agg_changes_release(&c);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(owens_function_has_its_known_values),
                                       cmocka_unit_test(scans_of_normal_series_keep_the_bound),
                                       cmocka_unit_test(a_change_is_found_and_dated),
                                       cmocka_unit_test(nothing_is_found_where_nothing_changed),
                                       cmocka_unit_test(a_drift_is_no_step),
                                       cmocka_unit_test(what_is_no_series_is_refused),
                                       cmocka_unit_test(gaps_are_told),
                                       cmocka_unit_test(what_is_below_the_threshold_is_withheld),
                                       cmocka_unit_test(changes_are_printed_and_escaped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
