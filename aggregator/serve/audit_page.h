// SPDX-License-Identifier: Apache-2.0
// The audit log as a page, as CSV and as JSON: who asked what, when. A reader sees its own
// questions, an administrator all of them.
#ifndef AUDIT_PAGE_H
#define AUDIT_PAGE_H

#include "serve_request.h"

// Answers ?day=2026-11-21&who=alice&what=result&page=2&format=csv; every argument may be missing.
void audit_page_answer(serve_request *r);

#endif
