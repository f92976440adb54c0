// SPDX-License-Identifier: Apache-2.0
// Rows in an order are those of a plain sort, whatever is searched for and wherever the page cuts;
// links and forms keep the rest of an address, whatever is in it.
#include "agg_test.h"

#include <stdlib.h>

#include "row_order.h"

enum { ROWS = 97, TEXT = 8 };

static char texts[ROWS][TEXT];
static agg_estimate_row rows[ROWS];

// Rows with many ties in every column.
static agg_estimate make_rows(unsigned seed)
{
    for (size_t i = 0; i < ROWS; i++) {
        seed = seed * 1103515245u + 12345u;
        snprintf(texts[i], TEXT, "%c%u", 'A' + (char)(seed >> 16) % 3 * 16, seed >> 20 & 7);
        rows[i] = (agg_estimate_row){.value = {texts[i], strlen(texts[i])},
                                     .count = (double)(seed >> 12 & 15) - 4,
                                     .low = (double)(seed >> 8 & 7) - 3};
    }
    return (agg_estimate){.rows = rows, .n_rows = ROWS};
}

static const agg_table_order *sorted_by; // what the plain sort compares by

static int compare(const void *first, const void *second)
{
    const size_t a = *(const size_t *)first, b = *(const size_t *)second;
    int by = 0;
    if (strcmp(sorted_by->column, "value") == 0) by = strcmp(texts[a], texts[b]);
    if (strcmp(sorted_by->column, "estimate") == 0)
        by = (rows[a].count > rows[b].count) - (rows[a].count < rows[b].count);
    if (strcmp(sorted_by->column, "interval") == 0)
        by = (rows[a].low > rows[b].low) - (rows[a].low < rows[b].low);
    if (sorted_by->is_falling) by = -by;
    return by != 0 ? by : (a > b) - (a < b);
}

static void check(const agg_estimate *e, const agg_table_order *order, size_t cap)
{
    size_t wanted[ROWS], picked[ROWS + 1], n = 0, found = 0;
    for (size_t i = 0; i < ROWS; i++)
        if (order->find[0] == '\0' || strchr(texts[i], order->find[0]) != NULL ||
            strchr(texts[i], order->find[0] - 32) != NULL)
            wanted[n++] = i;
    sorted_by = order;
    qsort(wanted, n, sizeof *wanted, compare);
    size_t got = agg_row_order_pick(picked, cap, &found, e, order);
    assert_int_equal(found, n);
    assert_int_equal(got, n < cap ? n : cap);
    for (size_t i = 0; i < got; i++) assert_int_equal(picked[i], wanted[i]);
}

static void rows_are_those_of_a_plain_sort(void **state)
{
    (void)state;
    static const char *const columns[] = {"", "value", "estimate", "interval"};
    static const size_t caps[] = {0, 1, 2, 20, ROWS - 1, ROWS, ROWS + 1};
    for (unsigned seed = 1; seed < 20; seed++) {
        agg_estimate e = make_rows(seed);
        for (size_t c = 0; c < 4; c++)
            for (size_t f = 0; f < 4; f++)
                for (size_t k = 0; k < sizeof caps / sizeof *caps; k++) {
                    agg_table_order order = {.is_falling = f % 2 == 1,
                                             .find = {f > 1 ? 'q' : '\0', '\0'}};
                    snprintf(order.column, sizeof order.column, "%s", columns[c]);
                    check(&e, &order, caps[k]);
                }
    }
    assert_true(agg_row_order_has("interval"));
    assert_false(agg_row_order_has("") || agg_row_order_has("reports"));
}

static char *print(const agg_table_order *order, bool is_form)
{
    static const agg_table_column column = {"value", "Value", "v", false};
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    if (is_form)
        agg_table_search(stream, order, "Rows with");
    else
        agg_table_title(stream, order, &column, true);
    fclose(stream);
    return text;
}

static void links_and_forms_keep_the_rest(void **state)
{
    (void)state;
    agg_table_order order = {.column = "value",
                             .is_falling = true,
                             .find = "<\"&'%\xc3\xa9",
                             .has_days = true,
                             .from = "2026-11-21"};
    size_t len = (size_t)snprintf(order.rest, sizeof order.rest, "dictionary=");
    len += agg_table_escape(order.rest + len, sizeof order.rest - len, "a&b=\"c\"%41");
    snprintf(order.rest + len, sizeof order.rest - len, "&top=5");
    char *text = print(&order, false);
    assert_string_equal(text, "<th scope=\"col\" role=\"columnheader\" class=\"v\" "
                              "aria-sort=\"descending\"><a href=\"?sort=value&amp;order=asc&amp;"
                              "find=%3C%22%26%27%25%C3%A9&amp;from=2026-11-21&amp;dictionary="
                              "a%26b%3D%22c%22%2541&amp;top=5\">Value</a></th>");
    free(text);
    text = print(&order, true);
    assert_non_null(strstr(text, "name=\"find\" maxlength=\"64\" autocomplete=\"off\" "
                                 "value=\"&lt;&quot;&amp;&#39;%\xc3\xa9\""));
    assert_non_null(strstr(text, "name=\"sort\" value=\"value\""));
    assert_non_null(strstr(text, "name=\"order\" value=\"desc\""));
    assert_non_null(strstr(text, "name=\"dictionary\" value=\"a&amp;b=&quot;c&quot;%41\">"));
    assert_non_null(strstr(text, "name=\"top\" value=\"5\">"));
    free(text);
    text = print(NULL, false); // a file has nobody to ask
    assert_string_equal(text, "<th scope=\"col\" role=\"columnheader\" class=\"v\">Value</th>");
    free(text);
    char small[8];
    assert_int_equal(agg_table_escape(small, sizeof small, "a<<<<"), 7); // cut between characters
    assert_string_equal(small, "a%3C%3C");
}

static void a_search_finds_parts_in_either_case(void **state)
{
    (void)state;
    agg_table_order order = {.find = "Ab"};
    assert_true(agg_table_holds(&order, "xaB", 3) && agg_table_holds(&order, "ab", 2));
    assert_false(agg_table_holds(&order, "xa", 2) || agg_table_holds(&order, "a", 1));
    assert_false(agg_table_holds(&order, &"abc"[1], 2) || agg_table_holds(&order, "", 0));
    order.find[0] = '\0';
    assert_true(agg_table_holds(&order, "", 0) && agg_table_holds(&order, "x", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_a_plain_sort),
        cmocka_unit_test(links_and_forms_keep_the_rest),
        cmocka_unit_test(a_search_finds_parts_in_either_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
