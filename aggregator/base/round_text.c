// SPDX-License-Identifier: Apache-2.0
// Prints bounds with directed rounding; see round_text.h.
#include "round_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns: half a unit of the last digit that is printed.
static double half_unit(double x, int digits)
{
    return 0.5 * pow(10, floor(log10(x)) + 1 - digits);
}

const char *agg_upper_text(char out[AGG_ROUND_TEXT_MAX], double x, int digits, const char *none)
{
    if (isnan(x)) return none;
    snprintf(out, AGG_ROUND_TEXT_MAX, "%.*g", digits, x);
    if (strtod(out, NULL) < x)
        snprintf(out, AGG_ROUND_TEXT_MAX, "%.*g", digits, x + half_unit(x, digits));
    return out;
}

const char *agg_lower_text(char out[AGG_ROUND_TEXT_MAX], double x, int digits, const char *none)
{
    if (isnan(x)) return none;
    snprintf(out, AGG_ROUND_TEXT_MAX, "%.*g", digits, x);
    if (strtod(out, NULL) > x && x > 0)
        snprintf(out, AGG_ROUND_TEXT_MAX, "%.*g", digits, x - half_unit(x, digits));
    return out;
}

const char *agg_delta_text(char out[AGG_ROUND_TEXT_MAX], double delta)
{
    snprintf(out, AGG_ROUND_TEXT_MAX, "%g", delta);
    char *exponent = strstr(out, "e-0");
    if (exponent != NULL) memmove(exponent + 2, exponent + 3, strlen(exponent + 3) + 1);
    return out;
}
