// SPDX-License-Identifier: Apache-2.0
// The order in which a fold adds its reports.
#ifndef REPORT_ORDER_H
#define REPORT_ORDER_H

#include <stdbool.h>
#include <stddef.h>

// Puts lines into an order that depends on nothing but them, so that the claim of a fold does not
// depend on the order in which rows come.
//   text: len bytes, each line with its newline; replaced by len + 1 bytes, to be freed
// Returns: false for out of memory; the text is then as it was.
bool report_order(char **text, size_t len);

#endif
