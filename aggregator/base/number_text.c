// SPDX-License-Identifier: Apache-2.0
// The shortest of 15, 16 and 17 digits that reads back as the same double; see print_text.h.
//
// A double from 1e-16 to below 1e17 is q 2^-f for whole numbers q and f once it is scaled to 17
// digits before the point, since q = mantissa * 5^k takes at most 128 bits there. Digits and what
// is left of them are exact then, and so is the question whether fewer digits read back. Other
// doubles ask the library.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_text.h"

__extension__ typedef unsigned __int128 whole128;

#define DIGITS_MAX 17
#define POWERS_OF_FIVE 34

// A double as q 2^-f: 17 digits before the point.
typedef struct scaled {
    whole128 q;
    int f;
    int exponent;  // of ten, of the first digit
    whole128 ulp;  // the distance to the next double above, in units of 2^-f
    bool is_odd;   // a number halfway to the next double reads back as the other one
    bool is_power; // of two: the next double below is half as far
} scaled;

static const whole128 *powers_of_five(void)
{
    static _Thread_local whole128 powers[POWERS_OF_FIVE];
    if (powers[0] == 1) return powers;
    for (int k = POWERS_OF_FIVE - 1; k >= 0; k--) {
        whole128 power = 1;
        for (int i = 0; i < k; i++) power *= 5;
        powers[k] = power;
    }
    return powers;
}

static const uint64_t TEN_TO_16 = 10000000000000000u, TEN_TO_17 = 100000000000000000u;

// Returns: q 2^-f compared with a whole number, as q < n 2^f.
static bool is_below(const scaled *s, uint64_t n)
{
    return s->q < (whole128)n << s->f;
}

// Scales to 17 digits.
//   x: from 1e-16 to below 1e17
// Returns: false if 128 bits do not hold it.
static bool scale(scaled *s, double x)
{
    const whole128 *fives = powers_of_five();
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t one = UINT64_C(1) << 52, mantissa = (bits & (one - 1)) | one;
    const int two = (int)(bits >> 52) - 1075; // x is mantissa 2^two
    s->exponent = (int)floor(log10(x));       // may be one off: corrected below
    for (int tries = 0; tries < 3; tries++) {
        int k = 16 - s->exponent;
        if (k < 0 || k > 32) return false;
        s->f = -(two + k);
        int up = s->f < 0 ? -s->f : 0; // whole numbers whose last bits are beyond the point
        s->q = (whole128)mantissa * fives[k] << up;
        s->ulp = fives[k] << up;
        if (up > 0) s->f = 0;
        if (s->f > 70) return false;
        s->is_odd = mantissa % 2 == 1;
        s->is_power = mantissa == one;
        if (is_below(s, TEN_TO_16))
            s->exponent--;
        else if (!is_below(s, TEN_TO_17))
            s->exponent++;
        else
            return true;
    }
    return false;
}

// Rounds to a multiple of `step`, halves to the even multiple.
static uint64_t round_to(const scaled *s, uint64_t step)
{
    uint64_t whole = (uint64_t)(s->q >> s->f), multiple = whole / step;
    whole128 left = s->q - ((whole128)(multiple * step) << s->f);
    whole128 unit = (whole128)step << s->f;
    if (2 * left > unit || (2 * left == unit && multiple % 2 == 1)) multiple++;
    return multiple * step;
}

// Returns: whether a text of that number reads back as the double.
static bool reads_back(const scaled *s, uint64_t digits)
{
    whole128 there = (whole128)digits << s->f;
    whole128 off = 2 * (there > s->q ? there - s->q : s->q - there);
    if (s->is_power && there < s->q) off *= 2;
    return off < s->ulp || (off == s->ulp && !s->is_odd);
}

// Writes 17 digits as "%.*g" does: without zeros at the end, with an exponent where it is below -4
// or not below the number of digits that were asked for.
static void write_digits(char *out, uint64_t digits, int exponent, int asked)
{
    char all[DIGITS_MAX];
    int n = DIGITS_MAX, at = 0;
    if (digits == TEN_TO_17) { // rounded up to the next power of ten
        digits = TEN_TO_16;
        exponent++;
    }
    for (int i = DIGITS_MAX - 1; i >= 0; i--, digits /= 10) all[i] = (char)('0' + digits % 10);
    while (n > 1 && all[n - 1] == '0') n--;
    bool is_scientific = exponent < -4 || exponent >= asked;
    int before = is_scientific ? 1 : exponent + 1; // digits before the point
    if (before <= 0) {
        memcpy(out, "0.0000", 6);
        at = 2 - before;
        before = 0;
    }
    for (int i = 0; i < n || i < before; i++) {
        if (i == before && i > 0) out[at++] = '.';
        out[at++] = i < n ? all[i] : '0';
    }
    if (is_scientific)
        snprintf(out + at, AGG_NUMBER_TEXT - (size_t)at, "e%+03d", exponent);
    else
        out[at] = '\0';
}

// Writes the number with so many digits, by the library.
// Returns: whether it reads back as the same double.
static bool fits_digits(char out[AGG_NUMBER_TEXT], double x, int digits)
{
    snprintf(out, AGG_NUMBER_TEXT, "%.*g", digits, x);
    return strtod(out, NULL) == x;
}

void agg_number_text(char out[AGG_NUMBER_TEXT], double x)
{
    static const uint64_t steps[] = {100, 10, 1};
    scaled s;
    char *at = out;
    if (!(fabs(x) >= 1e-16 && fabs(x) < 1e17) || !scale(&s, fabs(x))) {
        for (int digits = 15; digits <= DIGITS_MAX; digits++)
            if (fits_digits(out, x, digits)) return;
        return;
    }
    if (x < 0) *at++ = '-';
    for (int i = 0; i < 3; i++) {
        uint64_t digits = round_to(&s, steps[i]);
        if (i < 2 && !reads_back(&s, digits)) continue;
        write_digits(at, digits, s.exponent, DIGITS_MAX - 2 + i);
        return;
    }
}
