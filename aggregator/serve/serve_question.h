// SPDX-License-Identifier: Apache-2.0
// Reads what a request asks for: a collection, a span of days, a form. What is wrong is answered at
// once, and says how it is right.
#ifndef SERVE_QUESTION_H
#define SERVE_QUESTION_H

#include "serve_request.h"

// Reads ?period=2026-11-21, 2026-W47 or all, or ?from=2026-11-01&to=2026-11-30, into r->job.
// Without arguments the span is all. Sets the answer where they are wrong.
void serve_question_read_span(serve_request *r);

// Reads the whole question and hands it to the results thread, or answers what is wrong with it.
//   id: of the collection; NULL: all
void serve_question_ask(serve_request *r, const char *id);

#endif
