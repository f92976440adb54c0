// SPDX-License-Identifier: Apache-2.0
// Parsers of small texts that browsers send: the Cookie header, a form's body, and the Origin
// header. They allocate nothing, and refuse whatever can be read in two ways.
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Finds a cookie in a Cookie header (RFC 6265, section 4.2.1) and copies its value.
//   out: `cap` bytes, NUL-terminated on success
//   header: may be NULL
// Returns: false when the cookie is missing, given twice, or longer than cap - 1.
bool agg_http_cookie(char *out, size_t cap, const char *header, const char *name);

// Finds a field in an application/x-www-form-urlencoded body and decodes its value.
//   out: `cap` bytes, NUL-terminated on success
//   name: plain letters, which need no decoding
// Returns: false when the field is missing, given twice, longer than cap - 1, wrongly encoded, or
// holds a NUL.
bool agg_http_form_field(char *out, size_t cap, const uint8_t *body, size_t len, const char *name);

// Returns: whether an Origin header names the host of a Host header, under http or https. A proxy
// with TLS in front changes the scheme, so the scheme is not compared. NULL and "null" match
// nothing.
bool agg_http_origin_is(const char *origin, const char *host);

#endif
