// SPDX-License-Identifier: Apache-2.0
// Computes shares by rank; see value_law.h.
#include "value_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define SUMMED 65536.0 // ranks that are added one by one

// Returns: the sum of r^-s over r = 1 .. n.
static double sum_of_powers(double s, double n)
{
    double sum = 0, least = n < SUMMED ? n : SUMMED;
    for (double r = least; r >= 1; r--)
        sum += pow(r, -s); // adding the small terms first keeps the precision
    if (n <= SUMMED) return sum;
    double a = SUMMED, fa = pow(a, -s), fn = pow(n, -s);
    double integral = fabs(s - 1) < 1e-9 ? log(n / a) : (n * fn - a * fa) / (1 - s);
    return sum + integral + (fn - fa) / 2 - s * (fn / n - fa / a) / 12;
}

agg_value_law agg_value_law_zipf(double exponent, double n_values)
{
    double norm = sum_of_powers(exponent, n_values);
    agg_value_law law = {n_values, sum_of_powers(2 * exponent, n_values) / (norm * norm), exponent,
                         norm, NULL};
    return law;
}

static int compare_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

agg_err agg_value_law_counts(agg_value_law *law, agg_error *error, const uint64_t *counts, size_t n)
{
    double total = 0;
    memset(law, 0, sizeof *law);
    law->shares = agg_alloc(error, n, sizeof *law->shares);
    if (law->shares == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) total += (double)counts[i];
    for (size_t i = 0; i < n; i++) {
        law->shares[i] = (double)counts[i] / total;
        law->squares += law->shares[i] * law->shares[i];
    }
    qsort(law->shares, n, sizeof *law->shares, compare_falling);
    law->n_values = (double)n;
    return SHOAL_OK;
}

void agg_value_law_release(agg_value_law *law)
{
    free(law->shares);
    memset(law, 0, sizeof *law);
}

double agg_value_law_share(const agg_value_law *law, double rank)
{
    if (rank >= law->n_values) return 0;
    return law->shares != NULL ? law->shares[(size_t)rank] : pow(rank + 1, -law->zipf) / law->norm;
}

double agg_value_law_above(const agg_value_law *law, double share)
{
    double low = 0,
           high = law->n_values; // ranks below `low` have the share, those from `high` on do not
    while (low < high) {
        double middle = floor((low + high) / 2);
        if (agg_value_law_share(law, middle) >= share)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
