// SPDX-License-Identifier: Apache-2.0
// Who sent a request: by its bearer token, by the header of a trusted proxy, or by the cookie of a
// session, in this order. A token that is sent decides alone, right or wrong.
#ifndef SERVE_IDENTITY_H
#define SERVE_IDENTITY_H

#include "serve_request.h"

// Finds r->person and r->via; or answers 401, 403, or, to a browser that asks for a page, sends it
// to the page for signing in.
void serve_identity_find(serve_request *r);

// Answers 403 unless the person has one of the rights.
void serve_identity_check(serve_request *r, unsigned rights);

// Reads the id of the request's session.
// Returns: false if the request has no session cookie.
bool serve_identity_session(const serve_request *r, char id[SERVE_SESSION_ID_MAX]);

// Sets the cookie of a session, or removes it.
//   id: NULL removes the cookie
void serve_identity_set_cookie(serve_request *r, const char *id);

// Returns: seconds on a clock that does not go back.
int64_t serve_identity_now_s(void);

#endif
