// SPDX-License-Identifier: Apache-2.0
// Computes how many hash rows a plan proposes. Private to account/.
#ifndef ROW_COUNT_H
#define ROW_COUNT_H

#include <stdint.h>

#define AGG_ROWS_LEAST                                                                             \
    1024u // fewer rows save too little memory, and let two values share a cell in a large part of
          // the rows

// Returns: the number of rows to propose, a power of two; 0 if not even one row fits. Rows cost the
// device nothing, but cost the server memory and time. More rows make reports of one value collide
// less often, which adds an error of `collisions / k` to `rest`. The result makes that error a
// hundredth of `rest`, or is as many rows as fit.
//   cells: numbers that the sketch may hold; each row has a counter besides its m cells
//   most: the largest number of rows
static inline uint32_t agg_row_count(double collisions, double rest, double m, double cells,
                                     double most)
{
    double k = AGG_ROWS_LEAST, fit = cells / (m + 1);
    if (fit > most) fit = most;
    while (k < fit && collisions / k > 0.01 * rest) k *= 2;
    return (uint32_t)(k < fit ? k : fit);
}

#endif
