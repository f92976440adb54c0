// SPDX-License-Identifier: Apache-2.0
// What the server says to a request, apart from the HTTP library: status, headers, body.
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
#define AGG_HTTP_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

#define AGG_HTTP_ANSWER_LOCATION_MAX 320 // with its NUL
#define AGG_HTTP_POLICY_MAX 256          // with its NUL

typedef struct agg_http_answer {
    unsigned status;  // 0: no answer yet
    const char *type; // static
    char *body;       // from malloc, or NULL
    size_t len;
    unsigned retry_after_s;           // 0: no header
    const char *challenge;            // of WWW-Authenticate; static, or NULL
    const char *allow;                // of Allow; static, or NULL
    char policy[AGG_HTTP_POLICY_MAX]; // Content-Security-Policy; "": nothing may be loaded
    bool is_open;                     // pages of other origins may read it
    unsigned max_age_s;               // of Cache-Control; 0: not to be stored
    char location[AGG_HTTP_ANSWER_LOCATION_MAX]; // "": no header
} agg_http_answer;

// Starts {"error":{"code","number","message"}}; the previous body is freed.
//   number: of the core or the aggregator, or the HTTP status where neither has one
void agg_http_answer_error(agg_http_answer *answer, unsigned status, const char *code, int number,
                           const char *message);

// The same for an error of the core or the aggregator.
void agg_http_answer_fail(agg_http_answer *answer, unsigned status, const agg_error *error);

// Opens a stream into the answer's body; agg_http_answer_close ends it and sets status and type, or
// answers 500 when memory ran out.
FILE *agg_http_answer_open(agg_http_answer *answer);
void agg_http_answer_close(agg_http_answer *answer, FILE *stream, unsigned status,
                           const char *type);

void agg_http_answer_release(agg_http_answer *answer);

#endif
