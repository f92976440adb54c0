// SPDX-License-Identifier: Apache-2.0
// What results promise: which bound, of what epsilon and delta, for whom, and where nothing is
// promised of a crowd; and that text and JSON say the same.
//
// Where SHOAL_SHARED names a folder with golden/amplification.csv, every row of it is asked for
// through a recipe; SHOAL_REQUIRE_SHARED=1 makes its absence a failure.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>
#include <time.h>

#include "amplification.h"
#include "guarantee_print.h"
#include "pair_law.h"
#include "renyi.h"

static agg_error error;

// A list of three; `more` are further members, starting with a comma, or "".
static void read_list(agg_recipe *recipe, const char *mechanism, double epsilon, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"list\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\","
             "\"parameters\":{\"epsilon\":%g,\"size\":3},\"limit\":{\"per_day\":2},\"expires\":"
             "\"2030-01-01\"%s}",
             mechanism, epsilon, more);
    read_recipe(recipe, text);
}

static agg_guarantee promise_of_release(const char *mechanism, double epsilon, const char *more,
                                        uint64_t n, const agg_release *release)
{
    agg_recipe recipe;
    agg_guarantee g;
    read_list(&recipe, mechanism, epsilon, more);
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, n, release));
    agg_recipe_release(&recipe);
    return g;
}

// All n reports are one block.
static agg_guarantee promise_of(const char *mechanism, double epsilon, const char *more, uint64_t n,
                                double honest)
{
    const agg_release release = {n, honest, 1};
    return promise_of_release(mechanism, epsilon, more, n, &release);
}

static double stronger(double e0, double n, double delta)
{
    const agg_crowd crowd = {e0, n, delta, 1, NULL};
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_STRONGER, true));
    return central.upper;
}

// The best of the bounds that sum, for the list of three.
static double of_grr(double e0, double n, double delta, double reports)
{
    agg_recipe recipe;
    read_list(&recipe, "grr", e0, "");
    agg_pair_law law;
    agg_pair_law_of(&law, recipe.recipe);
    const agg_crowd crowd = {e0, n, delta, reports, &law};
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_BLANKET, reports == 1));
    agg_recipe_release(&recipe);
    return fmin(central.upper, reports == 1 ? stronger(e0, n, delta) : INFINITY);
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
    // The table's is of the worst mechanism. Never above it, and just the figure of this one.
    if (g.bound == NULL) {
        assert_true(best > e0 * (1 - 1e-3));
        return;
    }
    assert_true(strcmp(g.bound, "blanket") == 0 || strcmp(g.bound, "stronger") == 0);
    if (!(g.central <= best * (1 + 1e-5) && g.central == of_grr(e0, n, delta, 1)))
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
    assert_true(promise_of("grr", 2, "", 30000, 0.1).central == of_grr(2, 3000, 1e-9, 1));
    assert_true(promise_of("grr", 2, "", 30009, 0.1).central ==
                of_grr(2, 3000, 1e-9, 1)); // a part of a report is none
    assert_true(agg_honest_reports(30, 0.1) == 3 && agg_honest_reports(5, 0.1) == 1);
}

#define DELTA_8 ",\"cohort\":{\"epsilon\":1,\"delta\":\"1e-8\"}"

// The figures of four answers at local epsilon 4 and delta 1e-8: 0.0443 in a million reports, 2.53
// in a thousand. A result of a million reports in blocks of a thousand has the second, since a
// report's own block can be asked for alone.
static void the_smallest_block_counts_and_not_the_span(void **state)
{
    (void)state;
    agg_guarantee whole = promise_of("grr", 4, DELTA_8, 1000000, 1),
                  block = promise_of("grr", 4, DELTA_8, 1000, 1);
    if (!(whole.central > 0.0438 && whole.central < 0.0448 && block.central > 2.5 &&
          block.central < 2.55))
        fail_msg("%g %g", whole.central, block.central);
    static const uint64_t spans[] = {1000, 1001, 30000, 1000000, 4000000000};
    const agg_release release = {1000, 1, 30};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        agg_guarantee g = promise_of_release("grr", 4, DELTA_8, spans[i], &release);
        assert_true(g.reports == 1000 && g.central == block.central);
    }
    const agg_release larger = {2000, 1, 1}; // a result cannot be larger than what is in it
    assert_true(promise_of_release("grr", 4, DELTA_8, 1000, &larger).central == block.central);
    // the honest ones of the block, not of the span
    const agg_release mixed = {10000, 0.1, 1};
    assert_true(promise_of_release("grr", 4, DELTA_8, 1000000, &mixed).central == block.central);
}

static double group(double e0, double n, double delta, double reports)
{
    const agg_crowd crowd = {e0, n, delta, reports, NULL};
    agg_central closed;
    assert_ok(agg_crowd_epsilon(&closed, &error, &crowd, AGG_BOUND_CLOSED_FORM, false));
    return fmin(closed.upper, of_grr(e0, n, delta, reports));
}

// limit.per_day is 2. Whatever blocks the reports fall into, they are a chain of single changes.
static void a_person_bears_all_reports_of_the_days(void **state)
{
    static const uint32_t days[] = {1, 7, 30};
    double one = of_grr(2, 90000, 1e-9, 1);
    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        const agg_release release = {100000, 0.9, days[i]};
        agg_guarantee g = promise_of_release("grr", 2, "", 5000000, &release);
        double reports = 2.0 * days[i];
        assert_true(g.central == one && g.person_reports == 2 * days[i] && g.days == days[i]);
        assert_true(g.person == group(2, 90000, 1e-9, reports));
        // a report in each of as many blocks, by basic composition at shares of delta, costs less
        assert_true(g.person >= reports * one &&
                    g.person >= 0.999 * reports * of_grr(2, 90000, 1e-9 / reports, 1));
        assert_true(g.person < 2 * reports);
    }
    const agg_release unknown = {100000, 0.9, 0};
    assert_int_equal(promise_of_release("grr", 2, "", 5000000, &unknown).days, 1);
    const agg_release year = {1000, 1, 365}; // a small block hides nobody with 730 reports
    agg_guarantee g = promise_of_release("grr", 2, "", 5000000, &year);
    assert_true(g.bound != NULL && isnan(g.person) && g.person_reports == 730);
}

static void a_query_is_answered_once(void **state)
{
    const agg_release release = {5000, 1, 30};
    (void)state;
    agg_recipe recipe;
    agg_guarantee g;
    sketch_recipe(&recipe, "cms", 2, 1024, 256);
    fields_of(&recipe)->version = 1;
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 5000, &release));
    assert_true(g.person_reports == 1 && g.days == 0 && g.person == g.central);
    fields_of(&recipe)->contributions = 3;
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 5000, &release));
    assert_true(g.is_of_items && g.person_reports == 3 && g.person > 3 * g.central);
    agg_recipe_release(&recipe);
}

// Where a figure would be untrue, or where nobody stated what it would assume.
static void cases_without_a_central_figure(void **state)
{
    static const struct {
        agg_release release;
        const char *mechanism, *parameters;
        uint32_t epochs;
        agg_central_none none;
    } cases[] = {
        {{0, 0, 0}, "grr", "\"epsilon\":2,\"size\":3", 0, AGG_CENTRAL_FILES},
        {{0, 1, 1}, "grr", "\"epsilon\":2,\"size\":3", 0, AGG_CENTRAL_FILES},
        {{50000, 0, 1}, "grr", "\"epsilon\":2,\"size\":3", 0, AGG_CENTRAL_HONEST},
        {{50000, 1, 1}, "grr", "\"epsilon\":2,\"size\":3", 0, AGG_CENTRAL_GIVEN},
        {{50000, 1, 1}, "grr", "\"epsilon\":2,\"size\":3", 4, AGG_CENTRAL_RUN},
        {{50000, 1, 1},
         "rappor",
         "\"size\":3,\"p\":0.25,\"q\":0.75,\"f\":0.5",
         0,
         AGG_CENTRAL_PERMANENT},
        {{2, 1, 1}, "grr", "\"epsilon\":2,\"size\":3", 0, AGG_CENTRAL_NO_GAIN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        agg_recipe recipe;
        agg_guarantee g;
        snprintf(text, sizeof text,
                 "{\"recipe\":\"list\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
                 "\"mechanism\":\"%s\",\"parameters\":{%s},%s\"limit\":{\"per_day\":1},"
                 "\"expires\":\"2030-01-01\"}",
                 cases[i].mechanism, cases[i].parameters,
                 strcmp(cases[i].mechanism, "rappor") == 0
                     ? "\"seed\":"
                       "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","
                     : "");
        read_recipe(&recipe, text);
        fields_of(&recipe)->epochs = cases[i].epochs;
        assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 50000, &cases[i].release));
        assert_int_equal(g.none, cases[i].none);
        assert_true((g.bound == NULL) == (g.none != AGG_CENTRAL_GIVEN));
        assert_true(isnan(g.central) == (g.bound == NULL) && (g.bound != NULL || isnan(g.person)));
        assert_true((agg_central_none_name(g.none) == NULL) == (g.bound != NULL));
        agg_recipe_release(&recipe);
    }
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
    assert_string_equal(promise_of("onehot-asymmetric", 3, "", 2000, 1).bound, "blanket");
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
    const agg_release release = {1000000, 1, 1};
    sketch_recipe(&recipe, "cms", 4, 1024, 256);
    fields_of(&recipe)->cost_micro = 40000000;
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 1000000, &release));
    assert_true(g.local == 40 && g.bound == NULL);
    fields_of(&recipe)->cost_micro = 900;
    assert_ok(agg_guarantee_run(&g, &error, recipe.recipe, 1000000, &release));
    assert_true(g.local == 0.0009 && g.bound == NULL);
    agg_recipe_release(&recipe);
}

static void a_claim_is_kept_from_its_very_figure_on(void **state)
{
    double central = of_grr(2, 4000, 1e-6, 1);
    char claim[80];
    (void)state;
    for (int above = 0; above < 2; above++) {
        snprintf(claim, sizeof claim, ",\"cohort\":{\"epsilon\":%.6f,\"delta\":\"1e-6\"}",
                 (floor(central * 1e6) + above) / 1e6);
        agg_guarantee g = promise_of("grr", 2, claim, 4000, 1);
        assert_true(g.central == central && g.is_claim_kept == above);
    }
}

// "Not kept" would say more than is known where nobody stated the block.
static void a_claim_without_a_figure_is_not_judged(void **state)
{
    const agg_release files = {0};
    (void)state;
    agg_guarantee g = promise_of_release("grr", 2, ",\"cohort\":{\"epsilon\":1,\"delta\":\"1e-6\"}",
                                         1000000, &files);
    assert_true(!g.is_claim_kept && !agg_guarantee_knows_claim(&g));
    g = promise_of_release("grr", 2, ",\"cohort\":{\"epsilon\":3,\"delta\":\"1e-6\"}", 1000000,
                           &files);
    assert_true(g.is_claim_kept && agg_guarantee_knows_claim(&g)); // the local epsilon keeps it
    g = promise_of("grr", 16, ",\"cohort\":{\"epsilon\":1,\"delta\":\"1e-6\"}", 1000, 1);
    assert_true(!g.is_claim_kept && agg_guarantee_knows_claim(&g));
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

#define ASSUMES(share)                                                                             \
    "The central epsilon assumes that " share " % of the reports are honest. It holds against "    \
    "readers of released blocks, not against whoever sees single reports or batches.\n"

static void lines_say_what_holds(void **state)
{
    const agg_guarantee first = {.local = 4,
                                 .drawn = 3.999999,
                                 .per_day = 1,
                                 .reports = 200000,
                                 .honest = 1,
                                 .delta = 1e-9,
                                 .central = 0.1148681,
                                 .bound = "stronger",
                                 .days = 1,
                                 .person_reports = 1,
                                 .person = 0.1148681};
    agg_guarantee g = first, other = first;
    (void)state;
    assert_string_equal(
        lines_of(&g, NULL),
        "epsilon per report  4 (as drawn: 3.999999)\n"
        "epsilon per day     4 (1 report)\n"
        "central epsilon     0.114869 (stronger bound, smallest block of 200,000 reports, 100 % "
        "honest, delta 1e-9, the recipe states none)\n"
        "central, person     0.114869 (1 report of 1 day, in any blocks)\n" ASSUMES("100"));
    other.reports = 1000;
    other.bound = NULL;
    other.none = AGG_CENTRAL_NO_GAIN;
    assert_string_equal(
        lines_of(&g, &other),
        "a: central epsilon     0.114869 (stronger bound, smallest block of 200,000 reports, 100 % "
        "honest, delta 1e-9, the recipe states none)\n"
        "a: central, person     0.114869 (1 report of 1 day, in any blocks)\n"
        "a: " ASSUMES("100") //
        "b: central epsilon     no better than that of a report (smallest block of 1,000 reports, "
        "100 % honest, delta 1e-9, the recipe states none)\n"
        "epsilon per report  4 (as drawn: 3.999999)\n"
        "epsilon per day     4 (1 report)\n"
        "A person with a report on both sides: epsilon 4.11487 at delta 1e-9.\n");
    g = (agg_guarantee){.local = 2,
                        .drawn = 2,
                        .per_day = 5,
                        .reports = 1,
                        .honest = 0.25,
                        .delta = 1e-12,
                        .is_delta_stated = true,
                        .central = 0.5,
                        .bound = "closed_form",
                        .days = 2,
                        .person_reports = 10,
                        .person = NAN,
                        .claim = 0.3};
    assert_string_equal(
        lines_of(&g, NULL),
        "epsilon per report  2 (as drawn: 2)\n"
        "epsilon per day     10 (5 reports)\n"
        "central epsilon     0.5 (closed form bound, smallest block of 1 report, 25 % honest, "
        "delta 1e-12)\n"
        "central, person     no better than 20, without a crowd (10 reports of 2 days, in any "
        "blocks)\n"
        "claim               central epsilon 0.3: not kept by such blocks\n" ASSUMES("25"));
    g = (agg_guarantee){.local = 2,
                        .drawn = 2,
                        .per_day = 1,
                        .reports = 10000,
                        .honest = 1,
                        .delta = 1e-3,
                        .is_delta_stated = true,
                        .central = 0.25,
                        .bound = "renyi",
                        .person_reports = 1,
                        .person = 0.25,
                        .claim = 0.5,
                        .is_claim_kept = true};
    assert_string_equal(
        lines_of(&g, NULL),
        "epsilon per report  2 (as drawn: 2)\n"
        "epsilon per day     2 (1 report)\n"
        "central epsilon     0.25 (renyi bound, smallest block of 10,000 reports, 100 % honest, "
        "delta 0.001)\n"
        "central, person     0.25 (1 report, all that a person sends)\n"
        "claim               central epsilon 0.5: kept\n"
        "delta               above 1 / reports: it would let one report be read\n" ASSUMES("100"));
}

// No line names a central figure unless another says what it assumes, and none is there without.
static void no_figure_without_its_assumptions(void **state)
{
    (void)state;
    for (int none = AGG_CENTRAL_GIVEN; none <= AGG_CENTRAL_NO_GAIN; none++)
        for (int is_of_items = 0; is_of_items < 2; is_of_items++) {
            agg_guarantee g = {.local = 2,
                               .drawn = 2,
                               .per_day = 1,
                               .is_of_items = is_of_items == 1,
                               .reports = 5000,
                               .honest = 0.8,
                               .delta = 1e-9,
                               .central = none == AGG_CENTRAL_GIVEN ? 0.123456 : NAN,
                               .bound = none == AGG_CENTRAL_GIVEN ? "stronger" : NULL,
                               .none = (agg_central_none)none,
                               .person = 0.123456,
                               .claim = 0.1};
            const char *lines = lines_of(&g, NULL);
            bool has_figure = strstr(lines, "0.123456") != NULL;
            assert_int_equal(has_figure, none == AGG_CENTRAL_GIVEN);
            assert_int_equal(has_figure, strstr(lines, ASSUMES("80")) != NULL);
            if (!has_figure)
                assert_non_null(strstr(lines, none == AGG_CENTRAL_NO_GAIN ? "no better than that"
                                                                          : "  none: "));
        }
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
    agg_guarantee g = {.local = 0.1,
                       .drawn = 0.099999,
                       .per_day = 3,
                       .reports = 5000,
                       .honest = 0.8,
                       .delta = 1e-9,
                       .is_delta_stated = true,
                       .central = 0.0123456789012345,
                       .bound = "stronger",
                       .days = 7,
                       .person_reports = 21,
                       .person = 0.3,
                       .claim = 0.01};
    (void)state;
    check_json(&g,
               "{\"local\":{\"epsilon\":0.1,\"drawn\":0.099999,\"model\":\"replacement\","
               "\"reports_per_day\":3,"
               "\"epsilon_per_day\":0.3},\"central\":{\"epsilon\":0.0123456789013,\"delta\":1e-"
               "9,\"bound\":\"stronger\","
               "\"reports\":5000,\"honest\":0.8,\"person\":{\"epsilon\":0.3,\"reports\":21,"
               "\"days\":7},\"assumes\":\"The central epsilon assumes that 80 % of the "
               "reports are honest. It holds against readers of released blocks, not against "
               "whoever sees single reports or batches.\"},\"claim\":{\"epsilon\":0.01,\"delta\":"
               "1e-9,\"kept\":false}}");
    g.bound = NULL;
    g.none = AGG_CENTRAL_FILES;
    check_json(&g, "{\"local\":{\"epsilon\":0.1,\"drawn\":0.099999,\"model\":\"replacement\","
                   "\"reports_per_day\":3,"
                   "\"epsilon_per_day\":0.3},\"central\":null,\"no_central\":\"files\","
                   "\"claim\":{\"epsilon\":0.01,\"delta\":1e-9,\"kept\":null}}");
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
        cmocka_unit_test(the_smallest_block_counts_and_not_the_span),
        cmocka_unit_test(a_person_bears_all_reports_of_the_days),
        cmocka_unit_test(a_query_is_answered_once),
        cmocka_unit_test(cases_without_a_central_figure),
        cmocka_unit_test(the_renyi_route_is_of_the_symmetric_encoding),
        cmocka_unit_test(what_gains_nothing_is_not_claimed),
        cmocka_unit_test(epsilons_beyond_the_bounds),
        cmocka_unit_test(a_claim_is_kept_from_its_very_figure_on),
        cmocka_unit_test(a_claim_without_a_figure_is_not_judged),
        cmocka_unit_test(of_two_results_both_are_borne),
        cmocka_unit_test(lines_say_what_holds),
        cmocka_unit_test(no_figure_without_its_assumptions),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(is_quick_at_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
