// SPDX-License-Identifier: Apache-2.0
// HTTP requests to the other parties, by libcurl. A request reads its whole answer into memory, up
// to a limit.
//
// Servers of https URLs are verified against the system's certificates. http URLs are for this
// machine only and never go through a proxy. Redirects are not followed, because they would carry
// tokens and shares to servers that nobody configured. Safe in threads.
#ifndef DAP_HTTP_H
#define DAP_HTTP_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"

#define AGG_HTTP_BYTES                                                                             \
    ((uint64_t)4 << 20) // memory of a client without bodies: libraries, certificates, buffers
#define AGG_HTTP_MEDIA_MAX 128
#define AGG_HTTP_LOCATION_MAX 512

// A client keeps connections open between the requests of one thread.
typedef struct agg_http_client agg_http_client;
agg_http_client *agg_http_client_new(void);
void agg_http_client_free(agg_http_client *client);

typedef struct agg_http_request {
    agg_http_client *client; // for one thread at a time; NULL: a connection for this request alone
    const char *method;      // "GET", "POST", "PUT", "DELETE"
    const char *url;
    const char *content_type; // of the body; NULL: there is no body
    shoal_bytes body;
    const char *bearer; // token for Authorization; NULL: no token
    size_t max_body;    // most bytes of an answer; 0: 1 MiB
    uint32_t timeout_s; // for the whole request; 0: 60
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

// Sends the request and reads the answer, whatever its status. Release `r` on OK.
// Returns: AGG_ERR_IO (exit code 5) when no whole answer came, as without a connection, with a bad
// certificate or after the timeout; SHOAL_ERR_RANGE for a body above the limit; SHOAL_ERR_TYPE for
// a Location on another server. The text names the URL, and never a token or a body.
agg_err agg_http_fetch(agg_http_response *r, agg_error *error,
                       const agg_http_request *q) SHOAL_MUST_CHECK;
void agg_http_response_release(agg_http_response *r);

// Returns: whether the answer has this media type, regardless of spaces and case.
bool agg_http_is_media(const agg_http_response *r, const char *media_type);

#define AGG_HTTP_PROBLEM_MAX 256

// Describes an answer of status 400 and above (RFC 9457): "status 400, batchOverlap: detail", or
// "status 502". The detail is the other party's text.
//   problem: the problem's type as enum shoal_dap_problem, or -1 for any other type; may be NULL
void agg_http_problem(char text[AGG_HTTP_PROBLEM_MAX], int *problem, const agg_http_response *r);

#endif
