// SPDX-License-Identifier: Apache-2.0
// HTTP requests to the other parties, by libcurl: one request, its whole answer in memory, capped.
//
// https is verified against the system's certificates; http goes to this machine only, and never
// through a proxy. Redirects are not followed: they would carry tokens and shares to whom nobody
// named. Safe in threads.
#ifndef DAP_HTTP_H
#define DAP_HTTP_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"

#define AGG_HTTP_BYTES                                                                             \
    ((uint64_t)4 << 20) // what a client takes beside bodies: libraries, certificates, buffers
#define AGG_HTTP_MEDIA_MAX 128
#define AGG_HTTP_LOCATION_MAX 512

// Keeps connections open between the requests of one thread. NULL is one with nothing to keep.
typedef struct agg_http_client agg_http_client;
agg_http_client *agg_http_client_new(void);
void agg_http_client_free(agg_http_client *client);

typedef struct agg_http_request {
    agg_http_client *client; // of one thread at a time; NULL: a connection for this request alone
    const char *method;      // "GET", "POST", "PUT", "DELETE"
    const char *url;
    const char *content_type; // of the body; NULL: no body
    shoal_bytes body;
    const char *bearer; // token for Authorization; NULL: none
    size_t max_body;    // bytes of an answer at most; 0: 1 MiB
    uint32_t timeout_s; // of the whole; 0: 60
} agg_http_request;

typedef struct agg_http_response {
    uint32_t status;                      // 200 .. 599
    char media_type[AGG_HTTP_MEDIA_MAX];  // Content-Type as sent; "" where there is none
    char location[AGG_HTTP_LOCATION_MAX]; // Location, absolute, of the request's own origin; ""
                                          // where there is none
    uint32_t retry_after_s;               // Retry-After, at most 86400; 0 where there is none
    uint32_t max_age_s;                   // of Cache-Control; 0 where there is none
    uint8_t *body;                        // NUL-terminated beyond body_len
    size_t body_len;
} agg_http_response;

// Sends the request and reads the answer, whatever its status. Release on OK.
// Returns: AGG_ERR_IO (exit code 5) where no whole answer came: no connection, a bad certificate,
// too slow; SHOAL_ERR_RANGE for a body above
//          the cap; SHOAL_ERR_TYPE for a Location elsewhere. The text names the URL, and never a
//          token or a body.
agg_err agg_http_fetch(agg_http_response *r, agg_error *error,
                       const agg_http_request *q) SHOAL_MUST_CHECK;
void agg_http_response_release(agg_http_response *r);

// Returns: whether the answer's media type is this one, whatever its spaces and the case of its
// letters.
bool agg_http_is_media(const agg_http_response *r, const char *media_type);

#define AGG_HTTP_PROBLEM_MAX 256

// What an answer of status 400 and above says (RFC 9457): "status 400, batchOverlap: detail", or
// "status 502". What it quotes is the other party's text.
//   problem: the type without "urn:ietf:params:ppm:dap:error:", an enum shoal_dap_problem; -1 for
//   any other; may be NULL
void agg_http_problem(char text[AGG_HTTP_PROBLEM_MAX], int *problem, const agg_http_response *r);

#endif
