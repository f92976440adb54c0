// SPDX-License-Identifier: Apache-2.0
// Token buckets: how many requests pass at once and later, debts and their end, what is forgotten,
// and that a crowd of addresses shuts nobody out.
#include "agg_test.h"

#include "http_buckets.h"

#define SECOND INT64_C(1000000)

static agg_http_buckets buckets;

static unsigned takes(uint64_t address, int64_t now_us)
{
    unsigned n = 0;
    while (n < 100000 && agg_http_buckets_take(&buckets, address, now_us) == 0) n++;
    return n;
}

static void a_burst_passes_and_then_a_steady_rate(void **state)
{
    (void)state;
    agg_http_buckets_init(&buckets, 10, 50);
    assert_int_equal(takes(1, SECOND), 50);
    assert_int_equal(agg_http_buckets_take(&buckets, 1, SECOND), 1);
    assert_int_equal(takes(2, SECOND), 50); // another address has another bucket
    assert_int_equal(takes(1, SECOND + 99999), 0);
    assert_int_equal(takes(1, SECOND + 100000), 1);
    assert_int_equal(takes(1, 2 * SECOND + 100000), 10);
    assert_int_equal(takes(1, 100 * SECOND), 50); // full, and no fuller
    // A clock that stands still or goes back gives nothing.
    assert_int_equal(takes(1, 99 * SECOND), 0);
    agg_http_buckets_release(&buckets);
}

static void what_is_charged_is_waited_for(void **state)
{
    (void)state;
    agg_http_buckets_init(&buckets, 10, 50);
    assert_int_equal(agg_http_buckets_take(&buckets, 1, SECOND), 0);
    agg_http_buckets_charge(&buckets, 1, 69, SECOND);                // 70 of 50
    assert_int_equal(agg_http_buckets_take(&buckets, 1, SECOND), 3); // 2.1 s, in whole seconds
    assert_int_equal(takes(1, SECOND + 2 * SECOND), 0);
    assert_int_equal(takes(1, SECOND + 2 * SECOND + 100000), 1);
    // However much it is, there is a longest wait.
    agg_http_buckets_charge(&buckets, 2, UINT64_MAX, SECOND);
    agg_http_buckets_charge(&buckets, 2, UINT64_MAX, SECOND);
    agg_http_buckets_charge(&buckets, 2, 7, SECOND);
    assert_int_equal(agg_http_buckets_take(&buckets, 2, SECOND), AGG_HTTP_DEBT_S + 1);
    assert_int_equal(takes(2, (AGG_HTTP_DEBT_S + 2) * SECOND), 10);
    agg_http_buckets_release(&buckets);
}

static void buckets_are_forgotten_when_they_are_full(void **state)
{
    (void)state;
    agg_http_buckets_init(&buckets, 1, 1000000); // cut to the longest time in which one may fill
    assert_int_equal(takes(5, SECOND), AGG_HTTP_FILL_S_MAX);
    agg_http_buckets_charge(&buckets, 5, UINT64_MAX, SECOND);
    (void)agg_http_buckets_take(&buckets, 6, SECOND);
    assert_int_equal(agg_http_buckets_forget(&buckets, SECOND), 2);
    assert_int_equal(agg_http_buckets_forget(&buckets, 3 * SECOND), 1);
    assert_int_equal(agg_http_buckets_forget(&buckets, AGG_HTTP_FORGET_S * SECOND), 1);
    assert_int_equal(agg_http_buckets_forget(&buckets, (AGG_HTTP_FORGET_S + 1) * SECOND), 0);
    for (size_t i = 0; i < AGG_HTTP_BUCKETS; i++) // not even the hash is left
        assert_true(buckets.list[i].address == 0 && buckets.list[i].full_us == 0);
    agg_http_buckets_release(&buckets);
}

static void no_limit_takes_nothing(void **state)
{
    (void)state;
    agg_http_buckets_init(&buckets, 0, 50);
    assert_int_equal(takes(1, SECOND), 100000);
    agg_http_buckets_charge(&buckets, 1, 1000, SECOND);
    assert_int_equal(agg_http_buckets_forget(&buckets, SECOND), 0);
    agg_http_buckets_release(&buckets);
}

// More addresses than there are buckets: each newcomer has its burst, and who is deepest in debt
// is remembered longest.
static void a_crowd_shuts_nobody_out(void **state)
{
    (void)state;
    agg_http_buckets_init(&buckets, 10, 5);
    assert_int_equal(takes(7, SECOND), 5);
    agg_http_buckets_charge(&buckets, 7, 100, SECOND);
    for (uint64_t address = 1000; address < 1000 + 4 * AGG_HTTP_BUCKETS; address++)
        assert_int_equal(agg_http_buckets_take(&buckets, address, SECOND), 0);
    assert_true(agg_http_buckets_take(&buckets, 7, SECOND) > 0);
    agg_http_buckets_release(&buckets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_passes_and_then_a_steady_rate),
        cmocka_unit_test(what_is_charged_is_waited_for),
        cmocka_unit_test(buckets_are_forgotten_when_they_are_full),
        cmocka_unit_test(no_limit_takes_nothing),
        cmocka_unit_test(a_crowd_shuts_nobody_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
