// SPDX-License-Identifier: Apache-2.0
// The books: what was released, what a person spends, and what the sums promise. Everything in them
// is of closed blocks and of recipes, so readers may see it within their scope.
#ifndef BOOKS_PAGE_H
#define BOOKS_PAGE_H

#include "serve_request.h"

// Answers with the list of collections that the person may see.
void books_page_answer(serve_request *r);

// Answers with the books of one collection, or 404.
// Cost: agg_guarantee_run once a collection, until the configuration is reloaded.
void books_page_answer_one(serve_request *r, const char *id);

#endif
