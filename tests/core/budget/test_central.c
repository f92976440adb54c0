// SPDX-License-Identifier: Apache-2.0
// What a crowd adds: against tables made with 60 digits, and never on the wrong side of them; at
// the edge of the condition, monotone, inverted, out of range; and against amplification.csv of the
// folder that SHOAL_SHARED names.
#include "central.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "central_table.h"
#include "check.h"
#include "probability.h"

#define N_TABLE (sizeof central_table / sizeof central_table[0])
#define N_CLOSE (sizeof close_table / sizeof close_table[0])
#define N_CONDITION (sizeof condition_table / sizeof condition_table[0])
#define N_COHORT (sizeof cohort_table / sizeof cohort_table[0])

static uint32_t epsilon(uint32_t eps0_micro, uint64_t n, uint32_t delta_exp)
{
    uint32_t eps = 0;
    CHECK(shoal_central_epsilon(&eps, eps0_micro, n, delta_exp) == SHOAL_OK);
    return eps;
}

// 0 where there is none.
static uint64_t cohort(uint32_t eps0_micro, uint32_t eps_micro, uint32_t delta_exp)
{
    uint64_t n = 0;
    shoal_err err = shoal_central_cohort(&n, eps0_micro, eps_micro, delta_exp);
    CHECK(err == SHOAL_OK ? n > 0 : err == SHOAL_ERR_RANGE && n == 0);
    return n;
}

// Rounded up, and by no more than that: the table holds the exact figure's ceiling.
static void matches_table(void)
{
    for (size_t i = 0; i < N_TABLE; i++)
        CHECK(epsilon(central_table[i].eps0_micro, central_table[i].n,
                      central_table[i].delta_exp) == central_table[i].eps_micro);
}

// Never below the exact figure, where one or two units of 2^-40 in the analyst's favour would be.
static void rounds_against_the_analyst(void)
{
    for (size_t i = 0; i < N_CLOSE; i++)
        CHECK(epsilon(close_table[i].eps0_micro, close_table[i].n, close_table[i].delta_exp) ==
              close_table[i].eps_micro);
}

// One report below the condition's edge the guarantee is eps0; at it, and one above, the closed
// form.
static void condition_edge(void)
{
    for (size_t i = 0; i < N_CONDITION; i++) {
        uint32_t eps0 = condition_table[i].eps0_micro, delta_exp = condition_table[i].delta_exp;
        uint64_t n = condition_table[i].n;
        CHECK(epsilon(eps0, n - 1, delta_exp) == eps0);
        CHECK(epsilon(eps0, n, delta_exp) == condition_table[i].eps_micro);
        CHECK(epsilon(eps0, n + 1, delta_exp) <= condition_table[i].eps_micro);
        if (condition_table[i].eps_micro == eps0)
            continue; // the closed form sets in later, where it is better than eps0
        CHECK(cohort(eps0, condition_table[i].eps_micro, delta_exp) == n);
        CHECK(cohort(eps0, eps0 - 1, delta_exp) == n);
    }
}

// The smallest cohort is never below the exact one, and above it by 2 parts in 10^7 at most where
// epsilon is 0.0001 or more: all errors together are below 10 units of 2^-40 of d, 10u/d < 10^-7,
// and n goes with the square of d.
static void matches_cohorts(void)
{
    for (size_t i = 0; i < N_COHORT; i++) {
        uint64_t exact = cohort_table[i].n;
        uint64_t n = cohort(cohort_table[i].eps0_micro, cohort_table[i].eps_micro,
                            cohort_table[i].delta_exp);
        CHECK(n >= exact && n <= exact + exact / 5000000);
    }
}

// A cohort is what the guarantee says it is: it holds there, and not with one report less.
static void inverse(void)
{
    for (uint32_t eps0 = 20000; eps0 <= SHOAL_EPS_MICRO_MAX; eps0 += 1333333)
        for (uint32_t eps = 20000; eps < eps0; eps = eps * 7 / 3 + 1)
            for (uint32_t delta_exp = 3; delta_exp <= 15; delta_exp += 4) {
                uint64_t n = cohort(eps0, eps, delta_exp);
                if (n == 0) {
                    CHECK(epsilon(eps0, SHOAL_COHORT_MAX, delta_exp) > eps);
                    continue;
                }
                CHECK(epsilon(eps0, n, delta_exp) <= eps && epsilon(eps0, n - 1, delta_exp) > eps);
            }
}

// Never rises with n, never falls with eps0 and delta_exp; at small steps as at large ones.
static void is_monotone(void)
{
    static const uint64_t around[] = {1,       100,      1337,       54321,
                                      1000000, 87654321, 1000000000, 999999999000};
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++)
        for (uint32_t eps0 = 1; eps0 <= SHOAL_EPS_MICRO_MAX - 3; eps0 += 2666666) {
            for (uint64_t n = around[i]; n < around[i] + 20; n++)
                CHECK(epsilon(eps0, n + 1, 8) <= epsilon(eps0, n, 8));
            if (i > 0) CHECK(epsilon(eps0, around[i], 8) <= epsilon(eps0, around[i - 1], 8));
            for (uint32_t more = 0; more < 3; more++)
                CHECK(epsilon(eps0 + more + 1, around[i], 8) >= epsilon(eps0 + more, around[i], 8));
            for (uint32_t delta_exp = 3; delta_exp < 15; delta_exp++)
                CHECK(epsilon(eps0, around[i], delta_exp + 1) >=
                      epsilon(eps0, around[i], delta_exp));
        }
}

static void ranges(void)
{
    uint32_t eps = 42;
    uint64_t n = 43;
    CHECK(shoal_central_epsilon(&eps, 0, 1000, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_epsilon(&eps, SHOAL_EPS_MICRO_MAX + 1, 1000, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_epsilon(&eps, 1000000, 0, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_epsilon(&eps, 1000000, SHOAL_COHORT_MAX + 1, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_epsilon(&eps, 1000000, UINT64_MAX, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_epsilon(&eps, 1000000, 1000, 2) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_epsilon(&eps, 1000000, 1000, 16) == SHOAL_ERR_RANGE);
    CHECK(eps == 42);
    CHECK(shoal_central_cohort(&n, 0, 1000, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_cohort(&n, SHOAL_EPS_MICRO_MAX + 1, 1000000, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_cohort(&n, 1000000, 0, 8) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_cohort(&n, 1000000, 500000, 2) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_cohort(&n, 1000000, 500000, 16) == SHOAL_ERR_RANGE);
    CHECK(shoal_central_cohort(&n, SHOAL_EPS_MICRO_MAX, 1000, 15) ==
          SHOAL_ERR_RANGE); // some 10^15 reports
    CHECK(n == 43);
    CHECK(shoal_central_cohort(&n, 1000000, 1000000, 8) == SHOAL_OK && n == 1);
    CHECK(shoal_central_cohort(&n, 1000000, UINT32_MAX, 8) == SHOAL_OK && n == 1);
    CHECK(shoal_central_epsilon(&eps, 1, 1, 3) == SHOAL_OK && eps == 1);
}

// A row: eps0,n,delta,eps_closed_form,closed_form_valid,... The column has 16 digits.
static int check_row(const char *line)
{
    double eps0 = 0, delta = 0, closed = 0;
    unsigned long long n = 0;
    char valid[8];
    if (sscanf(line, "%lf,%llu,%lf,%lf,%7[a-zA-Z],", &eps0, &n, &delta, &closed, valid) != 5)
        return 0;
    double exact = (strcmp(valid, "True") == 0 && closed < eps0 ? closed : eps0) * 1e6;
    uint32_t eps = epsilon((uint32_t)(eps0 * 1e6 + 0.5), n, (uint32_t)(0.5 - log10(delta)));
    return CHECK(eps >= exact - 1e-6 && eps <= exact + 1);
}

static void matches_golden(void)
{
    const char *shared = getenv("SHOAL_SHARED");
    char path[1024], line[512];
    unsigned n_rows = 0;
    snprintf(path, sizeof path, "%s/golden/amplification.csv", shared == NULL ? "" : shared);
    FILE *file = shared == NULL ? NULL : fopen(path, "r");
    if (file == NULL) {
        printf("SKIPPED: golden/amplification.csv, which is looked for in the folder that "
               "SHOAL_SHARED names\n");
        CHECK(getenv("SHOAL_REQUIRE_SHARED") == NULL);
        return;
    }
    CHECK(fgets(line, sizeof line, file) != NULL); // names of columns
    while (fgets(line, sizeof line, file) != NULL) n_rows += check_row(line) ? 1 : 0;
    fclose(file);
    CHECK(n_rows >= 72);
    printf("golden/amplification.csv: %u rows\n", n_rows);
}

int main(void)
{
    matches_table();
    rounds_against_the_analyst();
    condition_edge();
    matches_cohorts();
    inverse();
    is_monotone();
    ranges();
    matches_golden();
    return check_summary();
}
