// SPDX-License-Identifier: Apache-2.0
// Prints the sentence of every epsilon up to 16 and of the next, for verdict.test.mjs: one line for
// each sentence, "MICRO<TAB>SENTENCE", where MICRO is the largest epsilon that has it. No figure of
// a sentence falls as epsilon rises, so all epsilons between two with the same sentence have it.
#include <stdio.h>
#include <string.h>

#include "verdict_text.h"

#define LAST 16000001u

static void sentence_of(char text[AGG_VERDICT_TEXT_MAX], uint32_t micro)
{
    shoal_verdict verdict;
    shoal_verdict_of(&verdict, micro);
    agg_verdict_text(text, &verdict);
}

int main(void)
{
    char text[AGG_VERDICT_TEXT_MAX], other[AGG_VERDICT_TEXT_MAX];
    for (uint32_t micro = 0; micro <= LAST; micro++) {
        uint32_t high = LAST;
        sentence_of(text, micro);
        while (micro < high) {
            uint32_t middle = micro + (high - micro + 1) / 2;
            sentence_of(other, middle);
            if (strcmp(text, other) == 0)
                micro = middle;
            else
                high = middle - 1;
        }
        printf("%u\t%s\n", micro, text);
    }
    return 0;
}
