// SPDX-License-Identifier: Apache-2.0
// Writes verdicts; see verdict_text.h.
#include "verdict_text.h"

#include <stdio.h>
#include <string.h>

// Writes a decimal number with commas between the thousands, and without zeros at its end.
//   unit: 10 for tenths, 100 for hundredths
static void print_decimal(char *out, size_t size, uint32_t number, uint32_t unit)
{
    char digits[16], whole[24];
    int n = snprintf(digits, sizeof digits, "%u", number / unit);
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) whole[used++] = ',';
        whole[used++] = digits[i];
    }
    used = (size_t)snprintf(out, size, "%.*s", (int)used, whole);
    if (number % unit > 0) used += (size_t)snprintf(out + used, size - used, ".");
    for (; number % unit > 0; number = number % unit * 10)
        used += (size_t)snprintf(out + used, size - used, "%u", number % unit * 10 / unit);
}

const char *agg_verdict_text(char out[AGG_VERDICT_TEXT_MAX], const shoal_verdict *verdict)
{
    char right[32], odds[32];
    const char *words = shoal_verdict_words(verdict->code);
    print_decimal(right, sizeof right, verdict->right_myriad, 100);
    print_decimal(odds, sizeof odds, verdict->odds_tenths, 10);
    if (verdict->odds_tenths == 0)
        snprintf(out, AGG_VERDICT_TEXT_MAX,
                 "%s: a 50:50 guess may come true in all cases (odds over x 8 million)", words);
    else
        snprintf(out, AGG_VERDICT_TEXT_MAX,
                 "%s: a 50:50 guess comes true in at most %s of 100 cases (odds x %s)", words,
                 right, odds);
    return out;
}
