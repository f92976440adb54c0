// SPDX-License-Identifier: Apache-2.0
// SHOAL_CPU takes less than the machine has, never more.
#include "agg_test.h"

#include <stdlib.h>

#include "agg_cpu.h"

static void takes_what_is_asked_for(void **state)
{
    (void)state;
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu < AGG_CPU_COUNT; cpu++) {
        assert_int_equal(setenv("SHOAL_CPU", agg_cpu_name(cpu), 1), 0);
        assert_int_equal(agg_cpu_chosen(), cpu < agg_cpu_best() ? cpu : agg_cpu_best());
    }
}

static void takes_the_best_without_being_asked(void **state)
{
    (void)state;
    assert_int_equal(setenv("SHOAL_CPU", "avx", 1), 0);
    assert_int_equal(agg_cpu_chosen(), agg_cpu_best());
    assert_int_equal(unsetenv("SHOAL_CPU"), 0);
    assert_int_equal(agg_cpu_chosen(), agg_cpu_best());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_is_asked_for),
        cmocka_unit_test(takes_the_best_without_being_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
