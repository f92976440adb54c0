// SPDX-License-Identifier: Apache-2.0
// Prints the table of a demonstration: estimates, intervals and the truth side by side.
#ifndef DEMO_PRINT_H
#define DEMO_PRINT_H

#include <stdio.h>

#include "demo.h"

// Prints the `top` largest values, and how many of all intervals cover the truth.
void agg_demo_print(FILE *stream, const agg_demo *demo, size_t top);

#endif
