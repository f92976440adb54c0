// SPDX-License-Identifier: Apache-2.0
// What results promise: which bound, of what epsilon and delta, for whom; and that text and JSON
// say the same.
//
// Where SHOAL_SHARED names a folder with golden/amplification.csv, every row of it is asked for
// through a recipe; SHOAL_REQUIRE_SHARED=1 makes its absence a failure.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>
#include <time.h>

#include "amplification.h"
#include "guarantee_print.h"
#include "renyi.h"

static agg_error error;

// A list of three; `more` are further members, starting with a comma, or "".
static agg_guarantee promise_of(const char *mechanism, double epsilon, const char *more, uint64_t n,
                                double honest)
{
    char text[1024];
    agg_recipe recipe;
    agg_guarantee g;
    snprintf(text, sizeof text,
             "{\"recipe\":\"list\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":%g,\"size\":3},\"limit\":{\"per_day\":2},\"expires\":"
             "\"2030-01-01\"%s}",
             mechanism, epsilon, more);
    read_recipe(&recipe, text);
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, n, honest));
    agg_recipe_release(&recipe);
    return g;
}

static double stronger(double e0, double n, double delta)
{
    const agg_crowd crowd = {e0, n, delta, 1};
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_STRONGER, 1));
    return central.upper;
}

static void check_shared_row(const char *line)
{
    double e0 = 0, n = 0, delta = 0, best = 0;
    char cohort[64];
    if (sscanf(line, "%lf,%lf,%lf,%*[^,],%*[^,],%*[^,],%lf", &e0, &n, &delta, &best) != 4)
        fail_msg("not: %s", line);
    snprintf(cohort, sizeof cohort, ",\"cohort\":{\"epsilon\":1,\"delta\":\"1e-%.0f\"}",
             -log10(delta));
    agg_guarantee g = promise_of("grr", e0, cohort, (uint64_t)n, 1);
    assert_true(g.delta == delta &&
                g.is_delta_stated); // the same double as a program that reads "1e-9" has
    if (best > e0 * (1 - 1e-3)) {
        assert_null(g.bound);
        return;
    }
    assert_string_equal(g.bound, "stronger");
    if (!(g.central >= best * (1 - 1e-6) && g.central <= best * (1 + 1e-5)))
        fail_msg("%s: %.9g", line, g.central);
    assert_int_equal(g.is_claim_kept, g.central <= 1);
}

static void agrees_with_the_shared_table(void **state)
{
    char line[256], path[1024];
    const char *shared = getenv("SHOAL_SHARED"), *required = getenv("SHOAL_REQUIRE_SHARED");
    int rows = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/golden/amplification.csv", shared != NULL ? shared : "");
    FILE *file = shared != NULL ? fopen(path, "r") : NULL;
    if (file == NULL) {
        if (required != NULL && strcmp(required, "1") == 0)
            fail_msg("no golden/amplification.csv in SHOAL_SHARED");
        fputs("SKIPPED: golden/amplification.csv is not there; SHOAL_SHARED names its folder\n",
              stderr);
        skip();
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (line[0] >= '0' && line[0] <= '9') {
            check_shared_row(line);
            rows++;
        }
    fclose(file);
    assert_int_equal(rows, 72);
}

static void the_local_guarantee_is_the_recipes(void **state)
{
    agg_guarantee g = promise_of("grr", 1.7, "", 5000, 1);
    (void)state;
    assert_true(g.local == 1.7 && g.drawn <= 1.7 && g.drawn > 1.7 - 1e-5 && g.per_day == 2);
    assert_true(g.reports == 5000 && g.honest == 1 && g.delta == 1e-9 && !g.is_delta_stated &&
                g.claim == 0);
}

static void only_honest_reports_count(void **state)
{
    (void)state;
    assert_true(promise_of("grr", 2, "", 30000, 0.1).central == stronger(2, 3000, 1e-9));
    assert_true(promise_of("grr", 2, "", 30009, 0.1).central ==
                stronger(2, 3000, 1e-9)); // a part of a report is none
    assert_true(agg_honest_reports(30, 0.1) == 3 && agg_honest_reports(5, 0.1) == 1);
}

// Half of epsilon a bit. Of no other mechanism, not even of the other one-hot encoding.
static void the_renyi_route_is_of_the_symmetric_encoding(void **state)
{
    agg_renyi_curve curve;
    (void)state;
    agg_renyi_orders(&curve, 1.5, 2000);
    agg_renyi_one_hot(&curve, 1.5, 2000);
    agg_guarantee g = promise_of("onehot-symmetric", 3, "", 2000, 1);
    assert_string_equal(g.bound, "renyi");
    assert_true(g.central == agg_renyi_epsilon(&curve, 1e-9) &&
                g.central < stronger(3, 2000, 1e-9));
    assert_string_equal(promise_of("onehot-asymmetric", 3, "", 2000, 1).bound, "stronger");
}

static void what_gains_nothing_is_not_claimed(void **state)
{
    agg_guarantee g =
        promise_of("grr", 16, ",\"cohort\":{\"epsilon\":2,\"delta\":\"1e-15\"}", 1000, 1);
    (void)state;
    assert_true(g.bound == NULL && isnan(g.central) && !g.is_claim_kept);
    g = promise_of("grr", 1, ",\"cohort\":{\"epsilon\":1,\"delta\":\"1e-15\"}", 2, 1);
    assert_true(g.bound == NULL && g.is_claim_kept); // by the local epsilon, which needs no crowd
}

// Records of many parts may cost more than any bound is for; the local guarantee is still said.
static void epsilons_beyond_the_bounds(void **state)
{
    agg_recipe recipe;
    agg_guarantee g;
    (void)state;
    sketch_recipe(&recipe, "cms", 4, 1024, 256);
    fields_of(&recipe)->cost_micro = 40000000;
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 1000000, 1));
    assert_true(g.local == 40 && g.bound == NULL);
    fields_of(&recipe)->cost_micro = 900;
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 1000000, 1));
    assert_true(g.local == 0.0009 && g.bound == NULL);
    agg_recipe_release(&recipe);
}

static void a_claim_is_kept_from_its_very_figure_on(void **state)
{
    double central = stronger(2, 4000, 1e-6);
    char claim[80];
    (void)state;
    for (int above = 0; above < 2; above++) {
        snprintf(claim, sizeof claim, ",\"cohort\":{\"epsilon\":%.6f,\"delta\":\"1e-6\"}",
                 (floor(central * 1e6) + above) / 1e6);
        agg_guarantee g = promise_of("grr", 2, claim, 4000, 1);
        assert_true(g.central == central && g.is_claim_kept == above);
    }
}

static void of_two_results_both_are_borne(void **state)
{
    agg_guarantee a = {.local = 2, .central = 0.25, .bound = "stronger", .delta = 1e-9}, b = a;
    double epsilon = 0, delta = 0;
    (void)state;
    b.delta = 1e-6;
    agg_guarantee_both(&epsilon, &delta, &a, &b);
    assert_true(epsilon == 0.5 && delta == 1e-9 + 1e-6);
    b.bound = NULL; // the local epsilon needs no delta
    agg_guarantee_both(&epsilon, &delta, &a, &b);
    assert_true(epsilon == 2.25 && delta == 1e-9);
}

static char *lines_of(const agg_guarantee *a, const agg_guarantee *b)
{
    static char all[2000];
    char line[AGG_GUARANTEE_LINE_MAX];
    all[0] = '\0';
    for (size_t i = 0;
         b == NULL ? agg_guarantee_line(line, a, i) : agg_guarantee_line_of_two(line, a, b, i);
         i++) {
        strcat(all, line);
        strcat(all, "\n");
    }
    return all;
}

#define ASSUMES "The central epsilon assumes one report a person in this result, "

static void lines_say_what_holds(void **state)
{
    agg_guarantee g = {4, 3.999999, 1, 0, 200000, 1, 1e-9, 0, 0.1148681, "stronger", 0, 0},
                  other = g;
    (void)state;
    assert_string_equal(lines_of(&g, NULL), "epsilon per report  4 (as drawn: 3.999999)\n"
                                            "epsilon per day     4 (1 report)\n"
                                            "central epsilon     0.114869 (stronger bound, 200000 "
                                            "reports, delta 1e-9, the recipe states none)\n" ASSUMES
                                            "all reporters honest, only the sum shown.\n");
    other.reports = 1000;
    other.bound = NULL;
    assert_string_equal(lines_of(&g, &other),
                        "a: central epsilon     0.114869 (stronger bound, 200000 reports, delta "
                        "1e-9, the recipe states none)\n"
                        "b: central epsilon     no better than that of a report (1000 reports, "
                        "delta 1e-9, the recipe states none)\n"
                        "epsilon per report  4 (as drawn: 3.999999)\n"
                        "epsilon per day     4 (1 report)\n" ASSUMES
                        "all reporters honest, only the sum shown.\n"
                        "A person with a report on both sides: epsilon 4.11487 at delta 1e-9.\n");
    g = (agg_guarantee){2, 2, 5, 0, 1, 0.25, 1e-12, 1, 0.5, "closed_form", 0.3, 0};
    assert_string_equal(
        lines_of(&g, NULL),
        "epsilon per report  2 (as drawn: 2)\n"
        "epsilon per day     10 (5 reports)\n"
        "central epsilon     0.5 (closed form bound, 1 report, delta 1e-12)\n"
        "claim               central epsilon 0.3: not kept by these reports\n" ASSUMES
        "25 % of the reporters honest, only the sum shown.\n");
    g = (agg_guarantee){2, 2, 1, 0, 10000, 1, 1e-3, 1, 0.25, "renyi", 0.5, 1};
    assert_string_equal(
        lines_of(&g, NULL),
        "epsilon per report  2 (as drawn: 2)\n"
        "epsilon per day     2 (1 report)\n"
        "central epsilon     0.25 (renyi bound, 10000 reports, delta 0.001)\n"
        "claim               central epsilon 0.5: kept by these reports\n"
        "delta               above 1 / reports: it would let one report be read\n" ASSUMES
        "all reporters honest, only the sum shown.\n");
}

static void check_json(const agg_guarantee *g, const char *expected)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    agg_guarantee_print_json(stream, g);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void json_says_the_same(void **state)
{
    agg_guarantee g = {0.1, 0.099999,           3,          0,    5000, 0.8, 1e-9,
                       1,   0.0123456789012345, "stronger", 0.01, 0};
    (void)state;
    check_json(&g, "{\"local\":{\"epsilon\":0.1,\"drawn\":0.099999,\"model\":\"replacement\","
                   "\"reports_per_day\":3,"
                   "\"epsilon_per_day\":0.3},\"central\":{\"epsilon\":0.0123456789013,\"delta\":1e-"
                   "9,\"bound\":\"stronger\","
                   "\"reports\":5000,\"honest\":0.8},\"claim\":{\"epsilon\":0.01,\"delta\":1e-9,"
                   "\"kept\":false}}");
    g.bound = NULL;
    g.claim = 0;
    check_json(&g, "{\"local\":{\"epsilon\":0.1,\"drawn\":0.099999,\"model\":\"replacement\","
                   "\"reports_per_day\":3,"
                   "\"epsilon_per_day\":0.3},\"central\":null}");
}

// Results wait for it.
static void is_quick_at_any_size(void **state)
{
    struct timespec start, end;
    (void)state;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    agg_guarantee g = promise_of("onehot-symmetric", 4, "", 1000000000, 1);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    assert_true(g.central < 1e-3);
    if (getenv("SHOAL_LONG") == NULL && seconds > 2)
        fail_msg("%g s", seconds); // on a machine that has better to do
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_shared_table),
        cmocka_unit_test(the_local_guarantee_is_the_recipes),
        cmocka_unit_test(only_honest_reports_count),
        cmocka_unit_test(the_renyi_route_is_of_the_symmetric_encoding),
        cmocka_unit_test(what_gains_nothing_is_not_claimed),
        cmocka_unit_test(epsilons_beyond_the_bounds),
        cmocka_unit_test(a_claim_is_kept_from_its_very_figure_on),
        cmocka_unit_test(of_two_results_both_are_borne),
        cmocka_unit_test(lines_say_what_holds),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(is_quick_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
