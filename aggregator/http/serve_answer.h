// SPDX-License-Identifier: Apache-2.0
// What the server says to a request, apart from the HTTP library: status, headers, body.
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include <stddef.h>
#include <stdio.h>

#include "agg_error.h"

#define SERVE_TYPE_JSON "application/json"
#define SERVE_TYPE_HTML "text/html; charset=utf-8"
#define SERVE_TYPE_BYTES "application/octet-stream"
#define SERVE_TYPE_SCRIPT "text/javascript; charset=utf-8"
#define SERVE_TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

#define SERVE_LOCATION_MAX 320 // with its NUL

typedef struct serve_answer {
    unsigned status;  // 0: no answer yet
    const char *type; // static
    char *body;       // from malloc, or NULL
    size_t len;
    unsigned retry_after_s;            // 0: no header
    const char *challenge;             // of WWW-Authenticate; static, or NULL
    const char *allow;                 // of Allow; static, or NULL
    int is_page;                       // sent with the page's Content-Security-Policy
    int is_open;                       // pages of other origins may read it
    unsigned max_age_s;                // of Cache-Control; 0: not to be stored
    char location[SERVE_LOCATION_MAX]; // "": no header
} serve_answer;

// Starts {"error":{"code","number","message"}}; the previous body is freed.
//   number: of the core or the aggregator, or the HTTP status where neither has one
void serve_answer_error(serve_answer *answer, unsigned status, const char *code, int number,
                        const char *message);

// The same for an error of the core or the aggregator.
void serve_answer_fail(serve_answer *answer, unsigned status, const agg_error *error);

// Opens a stream into the answer's body; serve_answer_close ends it and sets status and type, or
// answers 500 when memory ran out.
FILE *serve_answer_open(serve_answer *answer);
void serve_answer_close(serve_answer *answer, FILE *stream, unsigned status, const char *type);

void serve_answer_release(serve_answer *answer);

#endif
