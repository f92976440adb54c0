// SPDX-License-Identifier: Apache-2.0
// From an accumulator to a joint result and its prints: what belongs to which cell, rates either
// way, names that clash, what is hidden or unknown, refusals; and look-ups of one variable. What
// the numbers are worth is the matter of test_joint_em.c, test_joint_covariance.c and
// test_joint_wald.c.
#include "agg_test.h"

#include <math.h>

#include "chi_square.h"
#include "dictionary.h"
#include "domain_dictionary.h"
#include "joint_analysis.h"
#include "joint_print.h"
#include "recipe.h"

enum { N = 6000 };

static const char json[] =
    "{\"recipe\":\"three\",\"analysis\":\"a\",\"stream\":\"s\",\"variables\":["
    "{\"name\":\"kind\",\"value\":\"item\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":5,"
    "\"values\":[\"Other\","
    "\"b\",\"c\"]}},"
    "{\"name\":\"spent\",\"value\":\"number\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":5,"
    "\"size\":2,\"low\":0,"
    "\"high\":10}},"
    "{\"name\":\"word\",\"value\":\"word\",\"mechanism\":\"olh\",\"parameters\":{\"epsilon\":5,"
    "\"k\":4096,\"g\":64},"
    "\"hash\":\"poly1\","
    "\"seed\":\"" AGG_TEST_SEED "\"}],"
    "\"limit\":{\"per_day\":1},\"release\":{\"threshold\":%u},\"cohort\":{\"minimum\":%u},"
    "\"expires\":\"2030-01-01\"}";

typedef struct scene {
    agg_recipe recipe;
    agg_accumulator acc;
} scene;

// Device i has kind i % 3; spends 7 where that is 0, else 2; and types "cod" where i is even, "eel"
// otherwise.
static void make_scene(scene *s, unsigned threshold, unsigned minimum)
{
    char text[1400];
    agg_error error;
    shoal_rng rng;
    const uint8_t seed[32] = {5};
    snprintf(text, sizeof text, json, threshold, minimum);
    read_recipe(&s->recipe, text);
    size_t size = shoal_record_size(s->recipe.recipe);
    uint8_t *records = calloc(N, size);
    assert_non_null(records);
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < N; i++) {
        static const char *const kinds[] = {"Other", "b", "c"};
        const char *spent = i % 3 == 0 ? "7" : "2", *word = i % 2 == 0 ? "cod" : "eel";
        uint64_t items[3];
        assert_true(
            agg_recipe_variable_item(&items[0], &s->recipe, 0, kinds[i % 3], strlen(kinds[i % 3])));
        assert_true(agg_recipe_variable_item(&items[1], &s->recipe, 1, spent, 1));
        assert_true(agg_recipe_variable_item(&items[2], &s->recipe, 2, word, 3));
        assert_ok(
            shoal_record_randomize(records + i * size, s->recipe.recipe, items, 3, NULL, &rng));
    }
    assert_ok(agg_accumulator_init(&s->acc, &error, s->recipe.recipe));
    assert_ok(agg_accumulator_add(&s->acc, &error, records, N, 1));
    free(records);
}

static void release_scene(scene *s)
{
    agg_accumulator_release(&s->acc);
    agg_recipe_release(&s->recipe);
}

static const agg_text kinds[] = {{"Other", 5}, {"b", 1}, {"c", 1}};
static const agg_text spent[] = {{"[0, 5)", 6}, {"[5, 10]", 7}};
static const uint64_t indices[] = {0, 1, 2};

static const agg_joint_choice choose_kind = {0, 3, kinds, indices, NULL, 0};
static const agg_joint_choice choose_spent = {1, 2, spent, indices, NULL, 0};

static char *print_as(const agg_joint_result *result, int format)
{
    agg_error error;
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    if (format < 0)
        assert_ok(agg_joint_svg(stream, &error, result));
    else
        assert_ok(agg_joint_print(stream, &error, result, (agg_format)format));
    fclose(stream);
    return text;
}

static void assert_near(double x, double expected, double tolerance)
{
    if (fabs(x - expected) > tolerance)
        fail_msg("%.17g is not %.17g +- %g", x, expected, tolerance);
}

// At epsilon 5 a device lies once in a hundred times: the table is as it was, to a hundredth.
static void cells_rates_and_marginals_lie_where_they_belong(void **state)
{
    (void)state;
    scene s;
    agg_error error;
    agg_joint_analysis *a = calloc(2, sizeof *a);
    assert_non_null(a);
    make_scene(&s, 0, 100);
    const agg_joint_choice choices[] = {choose_kind, choose_spent};
    agg_joint_analysis_options options = {.n_threads = 1};
    assert_ok(agg_joint_analyse(&a[0], &error, &s.recipe, &s.acc, choices, 2, &options));
    const agg_joint_result *r = &a[0].result;
    static const double truth[] = {0, 1.0 / 3, 1.0 / 3, 0, 1.0 / 3, 0};
    assert_int_equal(r->n_cells, 6);
    for (int i = 0; i < 6; i++) assert_near(r->cells[i].p, truth[i], 0.01);
    for (int i = 0; i < 6; i++) assert_near(r->rates[i].p, 3 * truth[i], 0.03);
    assert_near(r->marginals[1][1].p, 1.0 / 3, 0.01);
    assert_int_equal(r->n_pairs, 1);
    assert_int_equal(r->pairs[0].df, 2);
    assert_true(r->pairs[0].p_value < 1e-12 && r->converged);
    assert_int_equal(r->rank, 5);
    options.given = 1;
    options.n_threads = 3;
    assert_ok(agg_joint_analyse(&a[1], &error, &s.recipe, &s.acc, choices, 2, &options));
    static const double given_spent[] = {0, 1, 0.5, 0, 0.5, 0};
    for (int i = 0; i < 6; i++) assert_near(a[1].result.rates[i].p, given_spent[i], 0.03);
    for (int i = 0; i < 6; i++)
        assert_true(a[0].cells[i].p == a[1].cells[i].p && a[0].cells[i].low == a[1].cells[i].low);
    agg_joint_analysis_release(&a[0]);
    agg_joint_analysis_release(&a[1]);
    free(a);
    release_scene(&s);
}

// The rest of a variable that has a value of that name, three variables, and strings.
static void the_rest_has_a_name_of_its_own(void **state)
{
    (void)state;
    scene s;
    agg_error error;
    agg_joint_analysis *a = calloc(1, sizeof *a);
    uint64_t cod = 0;
    static const agg_text words[] = {{"cod", 3}};
    assert_non_null(a);
    make_scene(&s, 0, 100);
    assert_true(agg_recipe_variable_item(&cod, &s.recipe, 2, "cod", 3));
    const agg_joint_choice choices[] = {
        {0, 1, kinds, indices, NULL, 1}, choose_spent, {2, 1, words, &cod, NULL, 1}};
    const agg_joint_analysis_options options = {.confidence = 0.9};
    assert_ok(agg_joint_analyse(a, &error, &s.recipe, &s.acc, choices, 3, &options));
    const agg_joint_result *r = &a->result;
    assert_int_equal(r->n_cells, 8);
    assert_null(r->rates);
    assert_int_equal(r->n_pairs, 3);
    assert_memory_equal(r->axes[0].labels[1].bytes, "<other>", 7);
    assert_memory_equal(r->axes[2].labels[1].bytes, "Other", 5);
    assert_near(r->cells[2].p, 1.0 / 6, 0.02); // of the kind, spends 7, cod
    assert_near(r->cells[4].p, 1.0 / 3, 0.03); // of another kind, spends 2, cod
    char *text = print_as(r, AGG_JSON);
    assert_non_null(strstr(text, "{\"values\":[\"Other\",\"[5, 10]\",\"cod\"],\"p\":0.1"));
    assert_non_null(strstr(text, "\"wald\":[{\"x\":\"kind\",\"y\":\"spent\","));
    assert_non_null(strstr(text, "\\u003cother\\u003e"));
    free(text);
    text = print_as(r, AGG_TABLE);
    assert_non_null(strstr(text, "kind and word: "));
    free(text);
    FILE *nowhere = tmpfile();
    assert_non_null(nowhere);
    assert_err(agg_joint_svg(nowhere, &error, r), AGG_ERR_USAGE);
    fclose(nowhere);
    agg_joint_analysis_release(a);
    free(a);
    release_scene(&s);
}

// By hand: what is hidden, what is infinite, and characters that mean something in a picture.
static void prints_hide_and_escape(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, 1000, 100);
    static const agg_text x[] = {{"<&\"'>", 5}, {"=x", 2}},
                          y[] = {{"\x1b[2J", 4}, {"a category whose name is long", 29}};
    const agg_joint_share sure = {0.5, 0.01, 0.48, 0.52}, rare = {0.1, 0.01, 0.08, 0.12},
                          none = {0.2, INFINITY, 0, 1}, empty = {NAN, INFINITY, 0, 1};
    const agg_joint_share cells[] = {sure, rare, none, none}, rates[] = {sure, rare, empty, empty},
                          half[] = {sure, sure};
    const agg_joint_independence pair = {0, 1, 12.5, 1, 1e-320};
    const agg_joint_result r = {.recipe = &s.recipe,
                                .n = N,
                                .confidence = 0.95,
                                .n_axes = 2,
                                .axes = {{{"kind", 4}, 2, x, 0}, {{"spent", 5}, 2, y, 1}},
                                .n_cells = 4,
                                .cells = cells,
                                .marginals = {half, half},
                                .rates = rates,
                                .n_pairs = 1,
                                .pairs = &pair,
                                .rank = 2,
                                .n_free = 3,
                                .least = 0.15};
    char *text = print_as(&r, AGG_JSON);
    assert_non_null(strstr(text, "\"withheld\":1"));
    assert_null(strstr(text, "\"p\":0.1,"));
    assert_non_null(strstr(text, "\"p\":0.2,\"stderr\":null,\"low\":0,\"high\":1}"));
    assert_non_null(strstr(text, "\"p\":null,\"stderr\":null"));
    free(text);
    text = print_as(&r, AGG_CSV);
    assert_non_null(strstr(text, "\"'=x\",\"\\x1b[2J\",0.2,,0,1\n"));
    free(text);
    text = print_as(&r, AGG_TABLE);
    assert_non_null(strstr(text, "withheld"));
    assert_non_null(strstr(text, "20.00 +- ?"));
    assert_non_null(strstr(text, "p < 1e-300"));
    assert_non_null(strstr(text, "rank 2 of 3"));
    free(text);
    text = print_as(&r, -1);
    assert_non_null(strstr(text, "&#60;&#38;&#34;&#39;&#62;"));
    assert_non_null(strstr(text, "a category who..."));
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "10.0 %")); // what is hidden
    assert_non_null(strstr(text, ": withheld</title>"));
    free(text);
    release_scene(&s);
}

// The same reports, as if three of them answered for each window: every error is sqrt(3) times as
// large, and every statistic a third.
static void slots_of_windows_widen_everything(void **state)
{
    (void)state;
    scene s;
    agg_error error;
    agg_joint_analysis *a = calloc(4, sizeof *a);
    assert_non_null(a);
    make_scene(&s, 0, 100);
    const agg_joint_choice choices[] = {choose_kind, choose_spent};
    agg_joint_analysis_options options = {.n_threads = 1};
    shoal_recipe *fields = fields_of(&s.recipe);
    for (int i = 0; i < 4; i++) {
        options.is_em_wald = i >= 2;
        fields->pick = i % 2 == 0 ? SHOAL_PICK_FIRST : SHOAL_PICK_UNIFORM;
        fields->per_day = i % 2 == 0 ? 1 : 3;
        fields->sample_micro = 1000000;
        assert_ok(agg_joint_analyse(&a[i], &error, &s.recipe, &s.acc, choices, 2, &options));
    }
    for (int i = 0; i < 4; i += 2) {
        const agg_joint_result *one = &a[i].result, *three = &a[i + 1].result;
        for (size_t cell = 0; cell < one->n_cells; cell++) {
            assert_true(one->cells[cell].p == three->cells[cell].p);
            assert_near(three->cells[cell].stderr_ / one->cells[cell].stderr_, sqrt(3), 1e-9);
        }
        assert_near(one->pairs[0].statistic / three->pairs[0].statistic, 3, 1e-6);
        double tail = agg_chi_square_tail(three->pairs[0].statistic, three->pairs[0].df);
        assert_near(three->pairs[0].p_value / tail, 1, 1e-9);
    }
    char *text = print_as(&a[1].result, AGG_JSON);
    assert_non_null(strstr(text, "\"unit\":\"windows\""));
    free(text);
    text = print_as(&a[1].result, AGG_TABLE);
    assert_non_null(strstr(text, "shares are of windows"));
    free(text);
    fields->pick = SHOAL_PICK_FIRST;
    text = print_as(&a[0].result, AGG_JSON);
    assert_null(strstr(text, "windows"));
    free(text);
    for (int i = 0; i < 4; i++) agg_joint_analysis_release(&a[i]);
    free(a);
    release_scene(&s);
}

static void refusals_name_what_is_wrong(void **state)
{
    (void)state;
    scene s;
    agg_error error;
    agg_joint_analysis *a = calloc(1, sizeof *a);
    static agg_text many[40];
    static uint64_t items[40];
    assert_non_null(a);
    make_scene(&s, 0, N + 1);
    const agg_joint_choice two[] = {choose_kind, choose_spent};
    const agg_joint_analysis_options options = {.confidence = 0};
    assert_err(agg_joint_analyse(a, &error, &s.recipe, &s.acc, two, 2, &options), AGG_ERR_COHORT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    release_scene(&s);
    make_scene(&s, 0, 100);
    assert_err(agg_joint_analyse(a, &error, &s.recipe, &s.acc, two, 1, &options), AGG_ERR_USAGE);
    for (uint64_t i = 0; i < 40; i++) {
        many[i] = kinds[1];
        items[i] = i;
    }
    const agg_joint_choice wide[] = {{0, 40, many, items, NULL, 0}, {2, 40, many, items, NULL, 0}};
    assert_err(agg_joint_analyse(a, &error, &s.recipe, &s.acc, wide, 2, &options), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "1024 cells"));
    const agg_joint_choice unknown[] = {{0, 40, many, items, NULL, 0},
                                        choose_spent}; // entries that the list has not
    assert_int_not_equal((int)agg_joint_analyse(a, &error, &s.recipe, &s.acc, unknown, 2, &options),
                         (int)SHOAL_OK);
    agg_accumulator_forget(&s.acc);
    assert_err(agg_joint_analyse(a, &error, &s.recipe, &s.acc, two, 2, &options),
               SHOAL_ERR_ARGUMENT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    agg_recipe one;
    sketch_recipe(&one, "cms", 2, 4, 16);
    assert_err(agg_joint_may_run(&error, &one, &s.acc), AGG_ERR_USAGE);
    agg_recipe_release(&one);
    free(a);
    release_scene(&s);
}

static void a_variable_is_looked_up_alone(void **state)
{
    (void)state;
    scene s;
    agg_error error;
    agg_dictionary dictionary;
    uint64_t item = 9;
    make_scene(&s, 0, 100);
    assert_int_equal(agg_recipe_find_variable(&s.recipe, "spent", 5), 1);
    assert_int_equal(agg_recipe_find_variable(&s.recipe, "spen", 4), 3);
    assert_false(agg_recipe_variable_item(&item, &s.recipe, 0, "d", 1));
    assert_false(agg_recipe_variable_item(&item, &s.recipe, 1, "x", 1));
    assert_true(agg_recipe_variable_item(&item, &s.recipe, 1, "10",
                                         2)); // the upper end is in the last bucket
    assert_int_equal(item, 1);
    assert_false(agg_recipe_is_closed(&s.recipe));
    assert_err(agg_dictionary_of_recipe(&dictionary, &error, &s.recipe), AGG_ERR_USAGE);
    agg_recipe *view = agg_recipe_of_variable(&error, &s.recipe, 1);
    assert_non_null(view);
    assert_true(agg_recipe_is_closed(view));
    assert_true(agg_recipe_item(&item, view, "4.9", 3));
    assert_int_equal(item, 0);
    assert_ok(agg_dictionary_of_recipe(&dictionary, &error, view));
    assert_int_equal(dictionary.n, 2);
    assert_memory_equal(dictionary.values[1].bytes, "[5, 10]", 7);
    agg_dictionary_release(&dictionary);
    free(view);
    view = agg_recipe_of_variable(&error, &s.recipe, 2);
    assert_non_null(view);
    assert_false(agg_recipe_is_closed(view));
    free(view);
    release_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_rates_and_marginals_lie_where_they_belong),
        cmocka_unit_test(the_rest_has_a_name_of_its_own),
        cmocka_unit_test(prints_hide_and_escape),
        cmocka_unit_test(slots_of_windows_widen_everything),
        cmocka_unit_test(refusals_name_what_is_wrong),
        cmocka_unit_test(a_variable_is_looked_up_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
