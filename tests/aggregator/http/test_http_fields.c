// SPDX-License-Identifier: Apache-2.0
// Cookies, forms and origins: what is read, and everything that can be read in two ways is refused.
#include "agg_test.h"
#include "http_fields.h"

static void cookies_are_found_by_their_whole_name(void **state)
{
    (void)state;
    char out[8];
    assert_true(agg_http_cookie(out, sizeof out, "id=abc", "id"));
    assert_string_equal(out, "abc");
    assert_true(agg_http_cookie(out, sizeof out, "a=1; id=x=y ; b=2", "id"));
    assert_string_equal(out, "x=y");
    assert_true(agg_http_cookie(out, sizeof out, "id=", "id"));
    assert_string_equal(out, "");
    assert_true(agg_http_cookie(out, sizeof out, "xid=1;id=1234567", "id"));
    assert_string_equal(out, "1234567");
    static const char *const bad[] = {"",      "id",          "Id=1",       "xid=1",
                                      "id =1", "id=12345678", "id=1; id=2", "id=1;id=1",
                                      ";;;",   "a=id=1",      "a=1, id=2",  "idx=1; i=d"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(agg_http_cookie(out, sizeof out, bad[i], "id"));
    assert_false(agg_http_cookie(out, sizeof out, NULL, "id"));
}

static bool field(char out[8], const char *body)
{
    return agg_http_form_field(out, 8, (const uint8_t *)body, strlen(body), "token");
}

static void form_fields_are_decoded_once(void **state)
{
    (void)state;
    char out[8];
    assert_true(field(out, "token=abc"));
    assert_string_equal(out, "abc");
    assert_true(field(out, "a=b&token=%41+%2b%25%33&c=d"));
    assert_string_equal(out, "A +%3");
    assert_true(field(out, "token="));
    assert_string_equal(out, "");
    assert_true(field(out, "&&token=%3d&"));
    assert_string_equal(out, "=");
    static const char *const bad[] = {
        "",           "token",           "Token=a",        "xtoken=a",
        "token=%",    "token=%4",        "token=%4&a=1",   "token=%zz",
        "token=%00a", "token=a&token=a", "token=12345678", "%74oken=a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(field(out, bad[i]));
    assert_false(agg_http_form_field(out, sizeof out, (const uint8_t *)"token=a\0b", 9, "token"));
    assert_false(agg_http_form_field(out, 0, (const uint8_t *)"token=", 6, "token"));
    assert_false(agg_http_form_field(out, sizeof out, NULL, 0, "token"));
}

static void origins_match_the_host_alone(void **state)
{
    (void)state;
    assert_true(agg_http_origin_is("http://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_true(agg_http_origin_is("https://Stats.example.org", "stats.EXAMPLE.org"));
    static const char *const bad[][2] = {{"null", "a.example"},
                                         {"https://a.example", "b.example"},
                                         {"https://a.example", "a.example:8080"},
                                         {"https://a.example.evil", "a.example"},
                                         {"https://evil/a.example", "a.example"},
                                         {"ftp://a.example", "a.example"},
                                         {"a.example", "a.example"},
                                         {"https://", ""},
                                         {"", ""}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(agg_http_origin_is(bad[i][0], bad[i][1]));
    assert_false(agg_http_origin_is(NULL, "a.example"));
    assert_false(agg_http_origin_is("https://a.example", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cookies_are_found_by_their_whole_name),
        cmocka_unit_test(form_fields_are_decoded_once),
        cmocka_unit_test(origins_match_the_host_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
