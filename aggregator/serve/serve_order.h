// SPDX-License-Identifier: Apache-2.0
// The order in which a question wants a page's table.
#ifndef SERVE_ORDER_H
#define SERVE_ORDER_H

#include "serve_request.h"
#include "table_order.h"

// Reads ?sort=column&order=asc|desc&find=text, and keeps the question's other arguments for links.
// Answers 400 for a column that the table does not have and for another order.
//   sorts_by: whether the table has a column of a name
void serve_order_read(agg_table_order *order, serve_request *r, bool (*sorts_by)(const char *name));

#endif
