// SPDX-License-Identifier: Apache-2.0
// A page made with figures of the page before is to the byte the page that is made of all
// accumulators, and reads no accumulator for figures that were there.
#include "agg_test.h"

#include "domain_dictionary.h"
#include "static_report.h"

enum { PERIODS = 5, REPORTS = 3000 };

typedef struct site {
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_accumulator acc[PERIODS];
    unsigned loads[PERIODS]; // since they were set to 0
} site;

static const char *const names[PERIODS] = {"one", "two", "three", "four", "five"};
static const char *const others[PERIODS - 1] = {"two", "three", "four", "five"};

// Reports of a period: value i of the list has a share that falls with i, and value 2 rises.
static void fill_period(site *s, unsigned period)
{
    static const uint8_t seed[32] = {9};
    const shoal_recipe *recipe = s->recipe.recipe;
    size_t size = shoal_record_size(recipe);
    uint8_t *records = malloc(REPORTS * size);
    assert_non_null(records);
    for (uint32_t i = 0; i < REPORTS; i++) {
        shoal_rng rng;
        uint64_t item = i % 10 < 4 ? 0 : i % 10 < 6 ? 1 : i % 10 < 6 + period / 2 ? 2 : 3;
        shoal_rng_init_stream(&rng, seed, period * REPORTS + i);
        assert_ok(shoal_record_randomize(records + i * size, recipe, &item, 1, NULL, &rng));
    }
    read_acc(&s->acc[period], &s->recipe, records, REPORTS, 1);
    free(records);
}

static int set_up(void **state)
{
    site *s = calloc(1, sizeof *s);
    char text[1024];
    agg_error error;
    assert_non_null(s);
    onehot_text(text, 3, "\"values\":[\"a\",\"b\",\"c\",\"d\"]", ",\"cohort\":{\"minimum\":1000}");
    read_recipe(&s->recipe, text);
    assert_ok(agg_dictionary_of_recipe(&s->dictionary, &error, &s->recipe));
    for (unsigned i = 0; i < PERIODS; i++) fill_period(s, i);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    site *s = *state;
    for (int i = 0; i < PERIODS; i++) agg_accumulator_release(&s->acc[i]);
    agg_dictionary_release(&s->dictionary);
    agg_recipe_release(&s->recipe);
    free(s);
    return 0;
}

static site *loaded;     // whose accumulators are given
static size_t load_from; // the number of a report's first one

static agg_err load(void *context, agg_accumulator *acc, agg_error *error, size_t i)
{
    (void)context;
    size_t period = load_from + i;
    loaded->loads[period]++;
    agg_err err = agg_accumulator_init(acc, error, loaded->recipe.recipe);
    return err == SHOAL_OK ? agg_accumulator_merge(acc, error, &loaded->acc[period]) : err;
}

static agg_static_report report_of(site *s, size_t from, size_t n)
{
    loaded = s;
    load_from = from;
    memset(s->loads, 0, sizeof s->loads);
    return (agg_static_report){.title = "test",
                               .recipe = &s->recipe,
                               .dictionary = &s->dictionary,
                               .names = from == 0 ? names : others,
                               .n = n,
                               .load = load,
                               .options = {.n_threads = 1, .top = 10},
                               .release = {.block = 1000, .honest = 1, .days = 30},
                               .home = "/"};
}

static agg_static_made *make(const agg_static_report *report)
{
    agg_static_made *made;
    agg_error error;
    assert_ok(agg_static_report_make(&made, &error, report));
    return made;
}

static char *page_of(const agg_static_report *report, const agg_static_made *made)
{
    static char *text; // the stream keeps its address
    static size_t len;
    agg_error error;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    assert_ok(agg_static_report_print(stream, &error, report, made));
    fclose(stream);
    return text;
}

// Makes a page of periods `from` to `from + n` with what `before` has, and without, and compares.
//   least: loads of a period whose figures were there
static void check(site *s, size_t from, size_t n, const agg_static_made *before, const size_t *was)
{
    agg_static_report report = report_of(s, from, n);
    agg_static_made *anew = make(&report);
    char *expected = page_of(&report, anew);
    unsigned loads[PERIODS];
    memcpy(loads, s->loads, sizeof loads);
    report = report_of(s, from, n);
    report.before = before;
    report.was = was;
    agg_static_made *again = make(&report);
    char *page = page_of(&report, again);
    assert_string_equal(page, expected);
    assert_non_null(strstr(page, "<th scope=\"row\">four</th>"));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(loads[from + i] - s->loads[from + i], was[i] != AGG_STATIC_NEW);
    free(expected);
    free(page);
    agg_static_report_release(anew);
    agg_static_report_release(again);
}

static void figures_of_the_page_before_are_taken_over(void **state)
{
    site *s = *state;
    agg_static_report report = report_of(s, 0, 4);
    agg_static_made *before = make(&report);
    check(s, 0, 5, before, (const size_t[]){0, 1, 2, 3, AGG_STATIC_NEW}); // one that is new
    check(s, 1, 4, before, (const size_t[]){1, 2, 3, AGG_STATIC_NEW});    // and the oldest went
    check(s, 0, 5, before, (const size_t[]){0, AGG_STATIC_NEW, 2, 3, AGG_STATIC_NEW}); // changed
    agg_static_report_release(before);
}

// Where the largest values are others, no figure is of use.
static void other_values_are_estimated_anew(void **state)
{
    site *s = *state;
    agg_static_report report = report_of(s, 0, 1);
    agg_static_made *before = make(&report);
    const size_t was[] = {0, 0, 0, 0, 0}; // of one period there is nothing over time
    report = report_of(s, 0, 5);
    agg_static_made *anew = make(&report);
    char *expected = page_of(&report, anew);
    report.before = before;
    report.was = was;
    agg_static_made *again = make(&report);
    char *page = page_of(&report, again);
    assert_string_equal(page, expected);
    free(expected);
    free(page);
    agg_static_report_release(before);
    agg_static_report_release(anew);
    agg_static_report_release(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_the_page_before_are_taken_over),
        cmocka_unit_test(other_values_are_estimated_anew),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
