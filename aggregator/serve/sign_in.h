// SPDX-License-Identifier: Apache-2.0
// Signing in and out, for people with a browser. A form takes a token and gives a session's cookie;
// the token is not kept. Only pages of this server may post: each post must come from the same
// origin, so that no other site signs anybody in or out.
#ifndef SIGN_IN_H
#define SIGN_IN_H

#include "serve_request.h"

// Answers a post that is refused before its body is read: from another origin, not a form, too
// long, or after too many failures.
void sign_in_start(serve_request *r);

// Answers with the form, or to a post begins a session and goes to the results.
// Returns: whether the answer belongs in the audit log, with r->person set.
bool sign_in_answer(serve_request *r);

// Ends the request's session, if it has one, and goes to the form. Returns: as sign_in_answer.
bool sign_out_answer(serve_request *r);

#endif
