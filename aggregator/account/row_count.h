// SPDX-License-Identifier: Apache-2.0
// Computes how many hash rows a plan proposes. Private to account/.
#ifndef ROW_COUNT_H
#define ROW_COUNT_H

#include <stdint.h>

#define AGG_ROWS_LEAST                                                                             \
    1024u // fewer save nothing worth having, and let two values share a cell in a large part of the
          // rows

// Rows cost the device nothing, and the server memory and time; what they buy is that reports of
// one value collide less often together, an error of `collisions / k` beside `rest`. The smallest
// power of two that makes it a hundredth, or as many as a sketch of `cells` numbers holds (each row
// has a counter besides its m cells), at most `most`. Returns: 0 when not even one row fits.
static inline uint32_t agg_row_count(double collisions, double rest, double m, double cells,
                                     double most)
{
    double k = AGG_ROWS_LEAST, fit = cells / (m + 1);
    if (fit > most) fit = most;
    while (k < fit && collisions / k > 0.01 * rest) k *= 2;
    return (uint32_t)(k < fit ? k : fit);
}

#endif
