// SPDX-License-Identifier: Apache-2.0
// The page of delivery: what this server has taken, keeps, has folded, shows and has refused, in
// plain words. The edge has a page for its half. The figures are live counts, so it is for who
// administers and for nobody else.
#ifndef DELIVERY_PAGE_H
#define DELIVERY_PAGE_H

#include "serve_request.h"

// Answers with the page.
void delivery_page_answer(serve_request *r);

#endif
