// SPDX-License-Identifier: Apache-2.0
// The page for signing in: a form with one field, no script.
#ifndef SIGN_IN_PAGE_H
#define SIGN_IN_PAGE_H

#include <stdio.h>

#include "http_answer.h"

// Prints the page.
//   note: why the last attempt failed, a text of ours; NULL for none
void sign_in_page_write(FILE *stream, const char *note);

// Writes the Content-Security-Policy of the page.
void sign_in_page_policy(char policy[AGG_HTTP_POLICY_MAX]);

#endif
