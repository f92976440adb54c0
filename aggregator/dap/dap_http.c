// SPDX-License-Identifier: Apache-2.0
// Requests by libcurl; see dap_http.h.
#include "dap_http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agg_size.h"
#include "json_walk.h"

#define CONNECT_TIMEOUT_S 20L
#define DEFAULT_TIMEOUT_S 60L
#define DEFAULT_BODY ((size_t)1 << 20)
#define SECONDS_MAX 86400u

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_library(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

agg_http_client *agg_http_client_new(void)
{
    pthread_once(&once, start_library);
    return (agg_http_client *)curl_easy_init();
}

void agg_http_client_free(agg_http_client *client)
{
    if (client != NULL) curl_easy_cleanup((CURL *)client);
}

// ---- the answer as it comes ----

typedef struct receiving {
    agg_http_response *r;
    size_t cap, max;
    bool is_too_large, is_out_of_memory;
    char location[AGG_HTTP_LOCATION_MAX]; // as sent
} receiving;

static size_t take_body(char *bytes, size_t one, size_t len, void *context)
{
    receiving *in = context;
    void *body = in->r->body;
    (void)one; // always 1
    if (len > in->max - in->r->body_len) {
        in->is_too_large = true;
        return 0;
    }
    if (agg_grow(&body, &in->cap, in->r->body_len + len + 1, 1, NULL) != SHOAL_OK) {
        in->is_out_of_memory = true;
        return 0;
    }
    in->r->body = body;
    memcpy(in->r->body + in->r->body_len, bytes, len);
    in->r->body_len += len;
    in->r->body[in->r->body_len] = 0;
    return len;
}

// Returns: seconds in decimal, or 0 for any other text. Retry-After may also be a date, which
// counts as 0.
static uint32_t read_seconds(const char *text, size_t len)
{
    uint32_t n = 0;
    if (len == 0 || len > 9) return 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        n = 10 * n + (uint32_t)(text[i] - '0');
    }
    return n < SECONDS_MAX ? n : SECONDS_MAX;
}

static uint32_t read_max_age(const char *text, size_t len)
{
    static const char name[] = "max-age=";
    const size_t n = sizeof name - 1;
    for (size_t i = 0; i + n < len; i++) {
        if (strncasecmp(text + i, name, n) != 0) continue;
        size_t end = i + n;
        while (end < len && text[end] >= '0' && text[end] <= '9') end++;
        return read_seconds(text + i + n, end - i - n);
    }
    return 0;
}

static void copy_text(char *out, size_t cap, const char *text, size_t len)
{
    if (len >= cap) len = 0; // an empty value is better than half of one
    memcpy(out, text, len);
    out[len] = '\0';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void forget_headers(receiving *in)
{
    in->r->media_type[0] = in->location[0] = '\0';
    in->r->retry_after_s = in->r->max_age_s = 0;
}

static size_t take_header(char *line, size_t one, size_t len, void *context)
{
    receiving *in = context;
    const char *colon = memchr(line, ':', len);
    (void)one;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) { // a new answer: the one before was "continue"
        forget_headers(in);
        return len;
    }
    if (colon == NULL) return len; // the end of the headers
    size_t name_len = (size_t)(colon - line), at = name_len + 1, end = len;
    while (at < end && is_space(line[at])) at++;
    while (end > at && is_space(line[end - 1])) end--;
    const char *value = line + at;
    if (name_len == 12 && strncasecmp(line, "Content-Type", 12) == 0)
        copy_text(in->r->media_type, sizeof in->r->media_type, value, end - at);
    else if (name_len == 8 && strncasecmp(line, "Location", 8) == 0)
        copy_text(in->location, sizeof in->location, value, end - at);
    else if (name_len == 11 && strncasecmp(line, "Retry-After", 11) == 0)
        in->r->retry_after_s = read_seconds(value, end - at);
    else if (name_len == 13 && strncasecmp(line, "Cache-Control", 13) == 0)
        in->r->max_age_s = read_max_age(value, end - at);
    return len;
}

// ---- Location ----

// Returns: whether two URLs name the same server.
static bool is_same_origin(CURLU *a, CURLU *b)
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};
    bool is_same = true;
    for (int i = 0; i < 3; i++) {
        char *of_a = NULL, *of_b = NULL;
        is_same &= curl_url_get(a, parts[i], &of_a, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                   curl_url_get(b, parts[i], &of_b, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                   strcasecmp(of_a, of_b) == 0;
        curl_free(of_a);
        curl_free(of_b);
    }
    return is_same;
}

// Makes a Location absolute. Another origin is refused, because the next request would give it the
// token.
static bool resolve(char out[AGG_HTTP_LOCATION_MAX], const char *url, const char *location)
{
    CURLU *from = curl_url(), *to = curl_url();
    char *text = NULL;
    bool is_good =
        from != NULL && to != NULL && curl_url_set(from, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_set(to, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_set(to, CURLUPART_URL, location, 0) == CURLUE_OK && is_same_origin(from, to) &&
        curl_url_get(to, CURLUPART_URL, &text, 0) == CURLUE_OK &&
        strlen(text) < AGG_HTTP_LOCATION_MAX;
    if (is_good) memcpy(out, text, strlen(text) + 1);
    curl_free(text);
    curl_url_cleanup(from);
    curl_url_cleanup(to);
    return is_good;
}

// ---- the request ----

static bool add_header(struct curl_slist **headers, const char *name, const char *value)
{
    char line[1024];
    int len = snprintf(line, sizeof line, "%s %s", name, value);
    struct curl_slist *longer =
        len > 0 && (size_t)len < sizeof line ? curl_slist_append(*headers, line) : NULL;
    if (longer != NULL) *headers = longer;
    return longer != NULL;
}

// Adds the request's headers. There is no User-Agent, which would tell about the sender, and no
// "Expect: 100-continue", which costs a second at servers that ignore it.
static bool add_headers(struct curl_slist **headers, const agg_http_request *q)
{
    char bearer[600];
    bool is_done = add_header(headers, "Expect:", "") && add_header(headers, "Accept:", "*/*");
    if (is_done && q->content_type != NULL)
        is_done = add_header(headers, "Content-Type:", q->content_type);
    if (!is_done || q->bearer == NULL) return is_done;
    int len = snprintf(bearer, sizeof bearer, "Bearer %s", q->bearer);
    return len > 0 && (size_t)len < sizeof bearer && add_header(headers, "Authorization:", bearer);
}

static void set_request(CURL *curl, const agg_http_request *q, struct curl_slist *headers,
                        receiving *in, char problem[CURL_ERROR_SIZE])
{
    curl_easy_setopt(curl, CURLOPT_URL, q->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L); // signals and threads do not mix
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT,
                     q->timeout_s > 0 ? (long)q->timeout_s : DEFAULT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    if (strncmp(q->url, "http:", 5) == 0) curl_easy_setopt(curl, CURLOPT_PROXY, ""); // no proxy
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
    if (q->content_type != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->body.len > 0 ? (const char *)q->body.at : "");
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.len);
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, in);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, in);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, problem);
}

static agg_err fail_fetch(agg_error *error, const agg_http_request *q, const receiving *in,
                          CURLcode code, const char *problem)
{
    if (in->is_too_large)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "%s: the answer has more than %zu bytes", q->url, in->max);
    if (in->is_out_of_memory || code == CURLE_OUT_OF_MEMORY)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: %s", q->url,
                    problem[0] != '\0' ? problem : curl_easy_strerror(code));
}

static agg_err perform(CURL *curl, agg_error *error, const agg_http_request *q,
                       struct curl_slist *headers, receiving *in)
{
    char problem[CURL_ERROR_SIZE] = "";
    long status = 0;
    set_request(curl, q, headers, in, problem);
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) return fail_fetch(error, q, in, code, problem);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 599)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: the answer has no HTTP status",
                        q->url);
    in->r->status = (uint32_t)status;
    if (in->location[0] != '\0' && status < 300 && !resolve(in->r->location, q->url, in->location))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "%s: the answer names a location on another server", q->url);
    return SHOAL_OK;
}

agg_err agg_http_fetch(agg_http_response *r, agg_error *error, const agg_http_request *q)
{
    agg_http_client *own = q->client == NULL ? agg_http_client_new() : NULL;
    CURL *curl = (CURL *)(q->client == NULL ? own : q->client);
    struct curl_slist *headers = NULL;
    receiving in = {.r = r, .max = q->max_body > 0 ? q->max_body : DEFAULT_BODY};
    memset(r, 0, sizeof *r);
    r->body = agg_alloc(error, 1, 1);
    in.cap = 1;
    agg_err err = r->body == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK && (curl == NULL || !add_headers(&headers, q)))
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    if (err == SHOAL_OK) err = perform(curl, error, q, headers, &in);
    if (q->client != NULL)
        curl_easy_reset(curl); // drops pointers to the caller's memory; open connections stay
    agg_http_client_free(own);
    curl_slist_free_all(headers);
    if (err != SHOAL_OK) agg_http_response_release(r);
    return err;
}

void agg_http_response_release(agg_http_response *r)
{
    free(r->body);
    memset(r, 0, sizeof *r);
}

// ---- problems ----

bool agg_http_is_media(const agg_http_response *r, const char *media_type)
{
    const char *a = r->media_type, *b = media_type;
    for (;; a++, b++) {
        while (is_space(*a)) a++;
        while (is_space(*b)) b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
        if (*a == '\0') return true;
    }
}

static int find_problem(const char *type)
{
    static const char prefix[] = "urn:ietf:params:ppm:dap:error:";
    if (strncmp(type, prefix, sizeof prefix - 1) != 0) return -1;
    for (int i = 0; i < SHOAL_DAP_PROBLEMS; i++)
        if (strcmp(shoal_dap_problem_name((enum shoal_dap_problem)i), type + sizeof prefix - 1) ==
            0)
            return i;
    return -1;
}

static const char *member(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

void agg_http_problem(char text[AGG_HTTP_PROBLEM_MAX], int *problem, const agg_http_response *r)
{
    bool is_document = agg_http_is_media(r, "application/problem+json");
    cJSON *json = is_document ? agg_json_parse(NULL, (const char *)r->body, r->body_len) : NULL;
    int found = find_problem(member(json, "type"));
    const char *name =
        found >= 0 ? shoal_dap_problem_name((enum shoal_dap_problem)found) : member(json, "title");
    const char *detail = member(json, "detail");
    snprintf(text, AGG_HTTP_PROBLEM_MAX, "status %u%s%.60s%s%.160s", r->status,
             name[0] != '\0' ? ", " : "", name, detail[0] != '\0' ? ": " : "", detail);
    if (problem != NULL) *problem = found;
    cJSON_Delete(json);
}
