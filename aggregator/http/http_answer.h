// SPDX-License-Identifier: Apache-2.0
// An answer to an HTTP request: status, headers and body. It knows nothing of the HTTP library.
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "agg_error.h"

#define AGG_HTTP_TYPE_JSON "application/json"
#define AGG_HTTP_TYPE_HTML "text/html; charset=utf-8"
#define AGG_HTTP_TYPE_BYTES "application/octet-stream"
#define AGG_HTTP_TYPE_SCRIPT "text/javascript; charset=utf-8"
#define AGG_HTTP_TYPE_CSV "text/csv; charset=utf-8"
#define AGG_HTTP_TYPE_NDJSON "application/x-ndjson"
#define AGG_HTTP_TYPE_ARROW "application/vnd.apache.arrow.stream"
#define AGG_HTTP_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

#define AGG_HTTP_ANSWER_LOCATION_MAX 320 // with its NUL
#define AGG_HTTP_POLICY_MAX 512          // with its NUL
#define AGG_HTTP_COOKIE_MAX 192          // with its NUL

typedef struct agg_http_answer {
    unsigned status;  // 0: no answer yet
    const char *type; // static
    char *body;       // from malloc, or NULL
    size_t len;
    unsigned retry_after_s;           // Retry-After; 0: no header
    const char *challenge;            // WWW-Authenticate; static; NULL: no header
    const char *allow;                // Allow; static; NULL: no header
    char policy[AGG_HTTP_POLICY_MAX]; // Content-Security-Policy; "": one that lets nothing load
    char cookie[AGG_HTTP_COOKIE_MAX]; // Set-Cookie; "": no header
    bool is_form;                     // a page with a form: its posts must tell their origin
    bool is_open;                     // pages of other origins may read the answer
    unsigned max_age_s;               // Cache-Control; 0: caches must not store the answer
    bool is_immutable;                // with max_age_s: the path never answers anything else
    char location[AGG_HTTP_ANSWER_LOCATION_MAX]; // Location; "": no header
} agg_http_answer;

// Replaces the answer by {"error":{"code","number","message"}}.
//   number: an error number of the core or the aggregator, or the HTTP status when there is none
void agg_http_answer_error(agg_http_answer *answer, unsigned status, const char *code, int number,
                           const char *message);

// Replaces the answer by an error of the core or the aggregator.
void agg_http_answer_fail(agg_http_answer *answer, unsigned status, const agg_error *error);

// Releases the answer and opens a stream into its body. agg_http_answer_close ends the stream and
// sets status and type; it answers 500 when memory ran out.
// Returns: the stream, or NULL when memory ran out; then call agg_http_answer_close all the same.
FILE *agg_http_answer_open(agg_http_answer *answer);
void agg_http_answer_close(agg_http_answer *answer, FILE *stream, unsigned status,
                           const char *type);

// Frees the body and sets the answer to zeros.
void agg_http_answer_release(agg_http_answer *answer);

#endif
