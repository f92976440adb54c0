// SPDX-License-Identifier: Apache-2.0
// The section of found words as a pure function: hostile texts come out harmless wherever they are
// shown, and what is said of an empty or a false row depends on the mechanism.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compound.h"
#include "recipe.h"
#include "static_discovery.h"

static shoal_recipe fields = {.n_parts = 0};
static const agg_recipe recipe = {.recipe = &fields, .id = "found-test"};

static agg_found row_of(const char *text, size_t len, double count)
{
    agg_found row = {.value = {text, len},
                     .count = count,
                     .stderr_ = 10,
                     .low = count - 20,
                     .high = count + 20,
                     .rank = {1, 1}};
    snprintf(row.how, sizeof row.how, "2 <i>fragments</i>");
    return row;
}

// The section of these rows.
static const char *section_of(agg_static_found *found, agg_found *rows, size_t n,
                              const agg_static_report *like)
{
    static char text[1 << 16];
    agg_discovery *d = &found->discovery;
    found->guarantee = (agg_guarantee){
        .local = 2, .drawn = 2, .per_day = 1, .reports = 1000, .honest = 1, .bound = "stronger"};
    d->recipe = &recipe;
    d->n = 12345;
    d->confidence = 0.95;
    d->fdr = 0.05;
    d->rows = rows;
    d->n_rows = n;
    d->reach = 10;
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_non_null(stream);
    agg_static_found_write(stream, like, found, "<period>\xe2\x80\xae");
    long len = ftell(stream);
    fclose(stream);
    assert_int_equal(strlen(text), len); // no NUL inside
    assert_in_range(len, 1, sizeof text - 2);
    return text;
}

static void hostile_texts_are_harmless(void **state)
{
    (void)state;
    static const char script[] = "<script>alert('1')</script>\"&", turned[] = "x\xe2\x80\xae"
                                                                              "evil";
    static const char *const names[] = {"<day>", "\xe2\x81\xa6two"};
    char longest[256];
    memset(longest, 'x', sizeof longest);
    agg_found rows[] = {row_of(script, strlen(script), 900), row_of(turned, strlen(turned), 800),
                        row_of(longest, sizeof longest, 700)};
    size_t since[] = {0, 1, AGG_STATIC_NOT_ALONE};
    agg_static_found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    found->since = since;
    found->n_since = 3;
    found->discovery.n_open = 1;
    agg_open_start *open = &found->discovery.open[0];
    open->len = (size_t)snprintf(open->text, sizeof open->text, "<b>\xe2\x80\xae");
    found->discovery.n_notes = 1;
    snprintf(found->discovery.notes[0], AGG_DISCOVERY_NOTE_MAX, "<note>");
    const agg_static_report report = {.recipe = &recipe, .names = names, .n = 2, .among = "<a>"};
    const char *page = section_of(found, rows, 3, &report);
    const char *const markup[] = {"<script",  "<i>frag", "<day>",        "<b>\xef",     "<note>",
                                  "<period>", ": <a>",   "\xe2\x80\xae", "\xe2\x81\xa6"};
    for (size_t i = 0; i < sizeof markup / sizeof *markup; i++)
        assert_null(strstr(page, markup[i]));
    assert_non_null(strstr(page, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"));
    assert_non_null(strstr(page, "x\xef\xbf\xbd"
                                 "evil"));
    assert_non_null(strstr(page, "since &lt;day&gt;"));
    assert_non_null(strstr(page, "since \xef\xbf\xbd"
                                 "two"));
    assert_non_null(strstr(page, "only by all periods"));
    assert_non_null(strstr(page, "&lt;b&gt;\xef\xbf\xbd\xe2\x80\xa6"));
    assert_non_null(strstr(page, "3 of 3 words shown"));
    free(found);
}

static void a_table_sorts_and_searches(void **state)
{
    (void)state;
    agg_found rows[] = {row_of("b", 1, 900), row_of("c", 1, 800), row_of("ab", 2, 700)};
    agg_static_found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    agg_table_order order = {.column = "value", .find = "b"};
    const agg_static_report report = {.recipe = &recipe, .n = 1, .order = &order};
    const char *page = section_of(found, rows, 3, &report);
    const char *ab = strstr(page, "title=\"ab\""), *b = strstr(page, "title=\"b\"");
    assert_true(ab != NULL && b != NULL && ab < b);
    assert_null(strstr(page, "title=\"c\""));
    assert_non_null(strstr(page, "2 of 2 words that hold the text shown, of 3"));
    snprintf(order.column, sizeof order.column, "estimate");
    page = section_of(found, rows, 3, &report);
    ab = strstr(page, "title=\"ab\""), b = strstr(page, "title=\"b\"");
    assert_true(ab != NULL && b != NULL && ab < b); // the smallest first
    free(found);
    assert_true(agg_static_found_sorts_by("found") && !agg_static_found_sorts_by("period"));
}

static void what_rows_promise_depends_on_the_mechanism(void **state)
{
    (void)state;
    agg_found rows[40];
    for (size_t i = 0; i < 40; i++) rows[i] = row_of("w", 1, 900);
    agg_static_found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    const agg_static_report report = {.recipe = &recipe, .n = 1};
    const struct {
        uint32_t mechanism;
        const char *says;
    } cases[] = {{shoal_sfp_id, "here up to 2."},
                 {shoal_rappor_ngram_id, "chance that nobody sent one of them is at most 5"}};
    for (size_t i = 0; i < 2; i++) {
        fields.mechanism = cases[i].mechanism;
        const char *page = section_of(found, rows, 40, &report);
        assert_non_null(strstr(page, cases[i].says));
        assert_null(strstr(page, cases[1 - i].says));
    }
    fields.mechanism = 0;
    free(found);
}

static void nothing_found_is_no_proof_of_nothing(void **state)
{
    (void)state;
    agg_static_found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    const agg_static_report report = {.recipe = &recipe, .n = 1};
    found->least = 0.0213;
    const char *page = section_of(found, NULL, 0, &report);
    assert_non_null(strstr(page, "if 2.1\xe2\x80\xaf% of them hold it"));
    assert_null(strstr(page, "<table"));
    found->least = 1;
    page = section_of(found, NULL, 0, &report);
    assert_non_null(strstr(page, "cannot show any word"));
    assert_null(strstr(page, "100\xe2\x80\xaf%"));
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_texts_are_harmless),
        cmocka_unit_test(a_table_sorts_and_searches),
        cmocka_unit_test(what_rows_promise_depends_on_the_mechanism),
        cmocka_unit_test(nothing_found_is_no_proof_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
