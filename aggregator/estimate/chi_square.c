// SPDX-License-Identifier: Apache-2.0
// Upper tails of the gamma law: the series of P below the law's middle, and the continued fraction
// of Q above it. Both contain the factor x^a e^-x / Gamma(a + 1), which is computed in Loader's
// form so that it keeps its digits for a large a.
//
// Source: Abramowitz and Stegun 6.5.29 and 6.5.31; Lentz's method for the fraction as modified by
// Thompson and Barnett 1986; Loader 2000, "Fast and accurate computation of binomial
// probabilities".
#include "chi_square.h"

#include <float.h>
#include <math.h>

#include "normal_law.h"

#define TERMS_MAX 1000000
#define STIRLING_FROM 16.0 // tgamma is accurate enough below

// Returns: ln Gamma(a + 1) minus Stirling's (a + 1/2) ln a - a + ln(2 pi) / 2, for a >= 16. The
// first term that is left out is below 1e-17.
static double stirling_error(double a)
{
    static const double c[] = {1.0 / 12,    -1.0 / 360, 1.0 / 1260,
                               -1.0 / 1680, 1.0 / 1188, -691.0 / 360360.0};
    double sum = 0, square = a * a;
    for (int i = 5; i >= 0; i--) sum = sum / square + c[i];
    return sum / a;
}

// Returns: x^a e^-x / Gamma(a + 1).
static double gamma_factor(double a, double x)
{
    if (a < STIRLING_FROM) return exp(a * log(x) - x) / tgamma(a + 1);
    double u = (x - a) / a, distance = a * u - a * log1p(u);
    return exp(-distance - stirling_error(a)) / sqrt(2 * 3.14159265358979323846 * a);
}

// Returns: P(a, x) divided by the factor: 1 + x/(a+1) + x^2/((a+1)(a+2)) + ...
static double lower_series(double a, double x)
{
    double sum = 1, term = 1;
    for (int i = 1; i < TERMS_MAX && term > sum * (DBL_EPSILON / 8); i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

// Returns: Q(a, x) divided by the factor: a / (x + 1 - a - 1(1-a)/(x + 3 - a - 2(2-a)/(x + 5 - a -
// ...)))
static double upper_fraction(double a, double x)
{
    double b = x + 1 - a, c = HUGE_VAL, d = 1 / b, value = d;
    for (int i = 1; i < TERMS_MAX; i++) {
        double numerator = i * (a - i);
        b += 2;
        d = 1 / (b + numerator * d);
        c = b + numerator / c;
        double change = c * d;
        value *= change;
        if (fabs(change - 1) <= DBL_EPSILON) break;
    }
    return a * value;
}

// Returns: Q(a, x) = Gamma(a, x) / Gamma(a), the regularized upper incomplete gamma function; NaN
// outside the ranges.
//   a: 0.5 .. 1e6
//   x: at least 0, may be infinite
static double gamma_upper(double a, double x)
{
    if (!(a >= 0.5 && a <= 1e6 && x >= 0)) return NAN;
    if (x == 0) return 1;
    if (x == HUGE_VAL) return 0;
    return x < a + 1 ? 1 - gamma_factor(a, x) * lower_series(a, x)
                     : gamma_factor(a, x) * upper_fraction(a, x);
}

double agg_chi_square_tail(double x, double df)
{
    return gamma_upper(df / 2, x / 2);
}

// Returns: a first guess of half the quantile, by Wilson and Hilferty's cube root, or by the law's
// first term if the root is too small.
static double first_guess(double tail, double a)
{
    double z = tail > 0.5 ? agg_normal_quantile(1 - tail) : -agg_normal_quantile(tail);
    double root = 1 - 1 / (9 * a) + z / (3 * sqrt(a));
    if (root > 0.1) return a * root * root * root;
    double log_gamma =
        a * log(a) - a - log(gamma_factor(a, a)); // ln Gamma(a + 1); lgamma is not thread-safe
    return exp((log1p(-tail) + log_gamma) / a);
}

double agg_chi_square_quantile(double tail, double df)
{
    double a = df / 2, low = 0, high = HUGE_VAL;
    if (!(tail > 0 && tail < 1 && a >= 0.5 && a <= 1e6)) return NAN;
    double x = fmax(first_guess(tail, a), DBL_MIN);
    for (int i = 0; i < 200; i++) {
        double q = gamma_upper(a, x), density = gamma_factor(a, x) * a / x;
        if (q > tail)
            low = x;
        else
            high = x;
        // Newton's step on ln Q, which is nearly linear far out. If the step leaves the bracket,
        // the bracket is halved or x doubled instead.
        double next = q > 0 && density > 0 ? x + log(q / tail) * q / density : 0;
        if (!(next > low && next < high)) next = high == HUGE_VAL ? 2 * x : 0.5 * (low + high);
        double step = next - x;
        x = next;
        if (fabs(step) <= 2 * DBL_EPSILON * x) break;
    }
    return 2 * x;
}
