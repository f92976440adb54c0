// SPDX-License-Identifier: Apache-2.0
// Numbers and figures in plain words; see init_values.h.
#include "init_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void init_put_count(char out[32], double number)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", fmin(fmax(number, 0), 1e15)), at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

void init_put_share(char out[32], double share)
{
    double percent = 100 * share;
    int decimals = percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : percent >= 0.0995 ? 2 : 4;
    snprintf(out, 32, "%.*f %%", decimals, percent);
}

static void put_mean(char *out, size_t size, const init_answers *a, const init_figures *f)
{
    snprintf(
        out, size,
        "After %u days you will know the mean of the reported numbers to within %.2g: of 100 such "
        "collections, 95 come closer. The range is %s to %s.",
        a->days, f->mean_error, a->low, a->high);
}

void init_put_sentence(char *out, size_t size, const init_answers *answers,
                       const init_figures *figures)
{
    const init_answers *a = answers;
    const init_figures *f = figures;
    const char *unit = a->what == INIT_NUMBERS ? "range" : init_texts[a->what].unit;
    char sure[32], half[32];
    init_put_share(sure, f->share);
    init_put_share(half, f->share_half);
    if (a->what == INIT_NUMBERS && a->buckets == 0)
        put_mean(out, size, a, f);
    else if (f->share_half > 1)
        snprintf(out, size, "After %u days you will see no %s at all.", a->days, unit);
    else if (a->what == INIT_NEW_WORDS)
        snprintf(out, size,
                 "After %u days you will find a word that %s of the reports hold in every second "
                 "collection, and more frequent words more surely.",
                 a->days, half);
    else if (f->share > 1)
        snprintf(out, size,
                 "After %u days you will see a %s that %s of the reports hold in every second "
                 "collection.",
                 a->days, unit, half);
    else
        snprintf(out, size,
                 "After %u days you will see shares above %s: in 95 of 100 collections, a %s that "
                 "this share of the reports holds is told from zero. At %s it is an even chance.",
                 a->days, sure, unit, half);
}

void init_print_wrapped(FILE *stream, const char *indent, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column > 0 && column + 1 + word > INIT_COLUMNS) {
            fputc('\n', stream);
            column = 0;
        }
        column += (size_t)fprintf(stream, "%s%.*s", column > 0 ? " " : indent, (int)word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

void init_put_needed(char *out, size_t size, const init_figures *figures)
{
    char count[32];
    out[0] = '\0';
    if (!(figures->needed_visitors > 0)) return;
    double visitors = figures->needed_visitors, step = pow(10, floor(log10(visitors)) - 1);
    init_put_count(count, ceil(visitors / step) * step);
    snprintf(out, size, "It takes about %s visitors a day, more days, or a lower --strict.", count);
}
