// SPDX-License-Identifier: Apache-2.0
// Routes of leader and helper; see dap_route.h. The HTTP library stays behind agg_http_exchange.
#include "dap_route.h"

#include <string.h>
#include <time.h>

#include "dap_helper.h"
#include "dap_job.h"
#include "dap_leader.h"
#include "dap_metrics.h"
#include "http_metrics.h"
#include "memory_option.h"
#include "print_text.h"

#define KEYS_MAX_AGE_S                                                                             \
    86400u // seconds for which clients keep keys; operators keep old keys twice as long
#define PROBLEM_TYPE "application/problem+json"
#define URN "urn:ietf:params:ppm:dap:error:"

enum { ROUTE_NONE = -1, ROUTE_METRICS = 100, ROUTE_HEALTH };

typedef struct exchange {
    agg_http_exchange x; // first: the listener allocates the whole struct
    agg_dap_http *http;
    int route; // enum shoal_dap_resource, or one of the above
    size_t base_len;
    uint8_t task_id[SHOAL_DAP_TASK_ID];
    bool has_task_id;
    agg_dap_served *task;
    bool has_id;
    uint8_t id[AGG_DAP_ID];
} exchange;

// ---- answers ----

static void put_member(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, ",\"%s\":", name);
    agg_print_json_text(stream, text, strlen(text));
}

// Writes a problem document of RFC 9457.
//   type: DAP's name of the problem; NULL: about:blank
static void answer_problem(exchange *e, unsigned status, const char *type, const char *detail)
{
    char id[SHOAL_DAP_TEXT_LEN(SHOAL_DAP_TASK_ID) + 1];
    FILE *stream = agg_http_answer_open(&e->x.answer);
    if (stream != NULL) {
        fprintf(stream, "{\"type\":\"%s%s\",\"status\":%u", type == NULL ? "about:blank" : URN,
                type == NULL ? "" : type, status);
        if (detail != NULL) put_member(stream, "detail", detail);
        shoal_dap_id_to_text(id, e->task_id, SHOAL_DAP_TASK_ID);
        if (e->has_task_id) put_member(stream, "taskid", id);
        fputs("}\n", stream);
    }
    agg_http_answer_close(&e->x.answer, stream, status, PROBLEM_TYPE);
}

static const shoal_url *own_url(const agg_dap_party *party, const shoal_dap_task *task)
{
    return party->role == SHOAL_DAP_LEADER ? &task->leader : &task->helper;
}

// Returns: the path of a server's own URL, after its host.
static size_t path_of(const char **path, const shoal_url *url)
{
    const char *end = url->bytes + url->len, *at = url->bytes;
    while (at + 1 < end && !(at[0] == '/' && at[1] == '/')) at++;
    for (at += 2; at < end && *at != '/';) at++;
    *path = at;
    return at < end ? (size_t)(end - at) : 0;
}

// Writes a resource's location under the path of the request. A proxy may have removed that path;
// then the location is under the path of the task.
static void set_location(exchange *e, const agg_dap_answer *from)
{
    char task[SHOAL_DAP_TEXT_LEN(SHOAL_DAP_TASK_ID) + 1], id[SHOAL_DAP_TEXT_LEN(AGG_DAP_ID) + 1];
    const char *base = e->x.url;
    size_t base_len = e->base_len;
    shoal_dap_id_to_text(task, e->task_id, SHOAL_DAP_TASK_ID);
    shoal_dap_id_to_text(id, from->id, AGG_DAP_ID);
    if (base_len == 0) base_len = path_of(&base, own_url(e->http->party, &e->task->vdaf.task));
    snprintf(e->x.answer.location, sizeof e->x.answer.location, "%.*s/tasks/%s/%s/%s",
             (int)base_len, base, task, shoal_dap_resource_name(from->resource), id);
}

// Turns an answer of DAP into an answer of HTTP.
static void take_answer(exchange *e, agg_dap_answer *from)
{
    agg_http_answer *to = &e->x.answer;
    if (from->problem != AGG_DAP_NO_PROBLEM) {
        const char *type = from->problem >= 0
                               ? shoal_dap_problem_name((enum shoal_dap_problem)from->problem)
                               : from->problem_text;
        answer_problem(e, from->status, type, from->detail);
    } else {
        to->status = from->status;
        to->type = from->body == NULL ? NULL : shoal_dap_media_type(from->message);
        to->body = (char *)from->body;
        to->len = from->len;
        from->body = NULL;
    }
    to->retry_after_s = from->retry_after_s;
    if (from->has_location) set_location(e, from);
    agg_dap_answer_release(from);
}

// ---- paths ----

static bool is_resource(const char *rest)
{
    return strcmp(rest, "/hpke_config") == 0 || strncmp(rest, "/tasks/", 7) == 0;
}

// Finds the base of a path: nothing, or the path of one of the tasks' URLs.
// Returns: whether a resource follows the base.
static bool find_base(size_t *len, const agg_dap_party *party, const char *url)
{
    *len = 0;
    if (is_resource(url)) return true;
    for (size_t i = 0; i < party->n_tasks; i++) {
        const shoal_dap_task *task = &party->tasks[i].vdaf.task;
        const char *path;
        *len = path_of(&path, own_url(party, task));
        if (*len > 0 && strncmp(url, path, *len) == 0 && is_resource(url + *len)) return true;
    }
    return false;
}

// Returns: whether this server's role has the resource.
static bool is_mine(const agg_dap_party *party, int resource)
{
    bool is_leader = resource == SHOAL_DAP_REPORTS || resource == SHOAL_DAP_COLLECTION_JOBS;
    return is_leader == (party->role == SHOAL_DAP_LEADER);
}

// Reads "TASK/resource[/ID]".
static void read_task_path(exchange *e, const char *rest)
{
    const agg_dap_party *party = e->http->party;
    const char *slash = strchr(rest, '/'), *name = slash == NULL ? "" : slash + 1;
    size_t id_len = slash == NULL ? strlen(rest) : (size_t)(slash - rest),
           name_len = strcspn(name, "/");
    e->has_task_id =
        shoal_dap_id_from_text(e->task_id, SHOAL_DAP_TASK_ID, rest, id_len) == SHOAL_OK;
    if (e->has_task_id) e->task = agg_dap_task_by_id(party, e->task_id);
    for (int i = SHOAL_DAP_REPORTS; i <= SHOAL_DAP_AGGREGATE_SHARES; i++) {
        const char *known = shoal_dap_resource_name((enum shoal_dap_resource)i);
        if (strlen(known) == name_len && strncmp(known, name, name_len) == 0 && is_mine(party, i))
            e->route = i;
    }
    if (e->route == ROUTE_NONE || name[name_len] == '\0') return;
    const char *id = name + name_len + 1;
    e->has_id = e->route != SHOAL_DAP_REPORTS &&
                shoal_dap_id_from_text(e->id, AGG_DAP_ID, id, strlen(id)) == SHOAL_OK;
    if (!e->has_id) e->route = ROUTE_NONE;
}

static void read_path(exchange *e)
{
    const char *url = e->x.url;
    e->route = ROUTE_NONE;
    if (strcmp(url, "/metrics") == 0) {
        e->route = ROUTE_METRICS;
    } else if (strcmp(url, "/healthz") == 0) {
        e->route = ROUTE_HEALTH;
    } else if (find_base(&e->base_len, e->http->party, url)) {
        const char *rest = url + e->base_len;
        if (strcmp(rest, "/hpke_config") == 0) {
            e->route = SHOAL_DAP_HPKE_CONFIG;
        } else {
            read_task_path(e, rest + strlen("/tasks/"));
        }
    }
}

// ---- access ----

static bool is_method(const exchange *e, const char *method)
{
    return strcmp(e->x.method, method) == 0;
}

static bool is_get(const exchange *e)
{
    return is_method(e, "GET") || is_method(e, "HEAD");
}

static bool has_body(const exchange *e)
{
    return e->route >= SHOAL_DAP_REPORTS && e->route <= SHOAL_DAP_AGGREGATE_SHARES && !e->has_id;
}

static const char *upload_method(const exchange *e)
{
    return e->task == NULL ? "POST" : e->task->vdaf.wire->method;
}

static const char *allowed(const exchange *e)
{
    if (e->route == SHOAL_DAP_REPORTS) return upload_method(e);
    if (has_body(e)) return "POST";
    return e->has_id ? "GET, HEAD, DELETE" : "GET, HEAD";
}

static bool is_allowed(const exchange *e)
{
    if (e->route == SHOAL_DAP_REPORTS) return is_method(e, upload_method(e));
    if (has_body(e)) return is_method(e, "POST");
    return is_get(e) || (e->has_id && is_method(e, "DELETE"));
}

static const char *wanted_type(const exchange *e)
{
    switch (e->route) {
    case SHOAL_DAP_REPORTS: return e->task->vdaf.wire->media_type(SHOAL_DAP_UPLOAD_REQ);
    case SHOAL_DAP_AGGREGATION_JOBS:
        return shoal_dap_media_type(SHOAL_DAP_AGGREGATION_JOB_INIT_REQ);
    case SHOAL_DAP_COLLECTION_JOBS: return shoal_dap_media_type(SHOAL_DAP_COLLECTION_JOB_REQ);
    default: return shoal_dap_media_type(SHOAL_DAP_AGGREGATE_SHARE_REQ);
    }
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Returns: whether a media type is the wanted one, regardless of spaces and case.
static bool is_type(const char *type, const char *wanted)
{
    if (type == NULL) return false;
    for (;; type++) {
        if (*type == ' ' || *type == '\t') continue;
        if (lower(*type) != lower(*wanted)) return false;
        if (*type == '\0') return true;
        wanted++;
    }
}

static void check_token(exchange *e)
{
    if (agg_http_exchange_has_token(&e->x, &e->http->config->expected_token)) return;
    answer_problem(e, 401, NULL, "the token is missing or wrong");
    e->x.answer.challenge = "Bearer";
}

// Checks access to metrics: they are for this machine, or for clients with the read token.
static void check_metrics(exchange *e)
{
    const agg_dap_config *config = e->http->config;
    if (config->read_token.n == 0 && config->is_loopback && agg_http_exchange_is_local(&e->x))
        return;
    if (config->read_token.n > 0 && agg_http_exchange_has_token(&e->x, &config->read_token)) return;
    answer_problem(e, 401, NULL,
                   "metrics need the read token, or a request to a loopback name without one");
    e->x.answer.challenge = "Bearer";
}

// Answers at once a request that needs no body.
static void check_request(exchange *e)
{
    if (e->route == ROUTE_NONE) {
        answer_problem(e, 404, NULL, "no such resource");
    } else if (is_method(e, "OPTIONS") &&
               (e->route == SHOAL_DAP_REPORTS || e->route == SHOAL_DAP_HPKE_CONFIG)) {
        e->x.answer.status = 204;
    } else if (e->route == ROUTE_METRICS) {
        check_metrics(e);
    } else if (e->route > SHOAL_DAP_REPORTS && e->route <= SHOAL_DAP_AGGREGATE_SHARES) {
        check_token(e);
    }
    if (e->x.answer.status != 0) return;
    if (e->route >= SHOAL_DAP_REPORTS && e->route <= SHOAL_DAP_AGGREGATE_SHARES &&
        e->task == NULL) {
        answer_problem(e, 404, shoal_dap_problem_name(SHOAL_DAP_PROBLEM_UNRECOGNIZED_TASK), NULL);
    } else if (!is_allowed(e)) {
        answer_problem(e, 405, NULL, "this resource does not take this method");
        e->x.answer.allow = allowed(e);
    } else if (has_body(e) &&
               !is_type(agg_http_exchange_header(&e->x, "Content-Type"), wanted_type(e))) {
        answer_problem(e, 415, NULL, "the body has another media type than this resource takes");
    } else if (has_body(e)) {
        (e->route == SHOAL_DAP_REPORTS ? agg_http_exchange_limit_body
                                       : agg_http_exchange_expect_body)(&e->x);
    }
}

// ---- answering ----

// Answers with the keys, which are the same for all tasks. A client that names its task gets them
// under the media type of its version.
static const char *keys_type(exchange *e)
{
    const char *text = agg_http_exchange_argument(&e->x, "task_id");
    if (text == NULL) return shoal_dap_media_type(SHOAL_DAP_HPKE_CONFIG_LIST);
    e->has_task_id =
        shoal_dap_id_from_text(e->task_id, SHOAL_DAP_TASK_ID, text, strlen(text)) == SHOAL_OK;
    const agg_dap_served *task =
        e->has_task_id ? agg_dap_task_by_id(e->http->party, e->task_id) : NULL;
    return task == NULL ? NULL : task->vdaf.wire->media_type(SHOAL_DAP_HPKE_CONFIG_LIST);
}

static void answer_keys(exchange *e)
{
    const char *type = keys_type(e);
    if (type == NULL) {
        answer_problem(e, 404, shoal_dap_problem_name(SHOAL_DAP_PROBLEM_UNRECOGNIZED_TASK), NULL);
        return;
    }
    const agg_dap_keys *keys = &e->http->party->keys;
    shoal_dap_hpke_config configs[AGG_DAP_KEYS_MAX];
    uint8_t bytes[AGG_DAP_KEYS_MAX * 64];
    for (size_t i = 0; i < keys->n; i++) configs[i] = agg_hpke_config(&keys->list[i]);
    shoal_dap_writer w = {bytes, sizeof bytes, 0, 0};
    shoal_dap_put_hpke_configs(&w, configs, keys->n);
    FILE *stream = agg_http_answer_open(&e->x.answer);
    if (stream != NULL) fwrite(bytes, 1, w.len, stream);
    agg_http_answer_close(&e->x.answer, stream, 200, type);
    if (e->x.answer.status == 200) e->x.answer.max_age_s = KEYS_MAX_AGE_S;
}

static void answer_resource(exchange *e)
{
    agg_dap_party *party = e->http->party;
    agg_dap_answer answer = {.problem = AGG_DAP_NO_PROBLEM};
    const shoal_bytes body = {e->x.body, e->x.len};
    const uint64_t now_s = (uint64_t)time(NULL);
    enum agg_dap_answer_kind kind =
        e->route == SHOAL_DAP_AGGREGATION_JOBS ? AGG_DAP_OF_JOB : AGG_DAP_OF_SHARE;
    if (e->route == SHOAL_DAP_REPORTS) {
        // The request has paid for its first report.
        agg_http_exchange_charge(&e->x, e->x.len / agg_dap_report_len(&e->task->vdaf));
        agg_dap_leader_upload(&answer, party, e->task, body, now_s);
    } else if (e->route == SHOAL_DAP_COLLECTION_JOBS && !e->has_id) {
        agg_dap_leader_collect(&answer, party, e->task, body, now_s);
    } else if (e->route == SHOAL_DAP_COLLECTION_JOBS) {
        (is_get(e) ? agg_dap_leader_get : agg_dap_leader_delete)(&answer, party, e->task, e->id);
    } else if (e->has_id) {
        (is_get(e) ? agg_dap_helper_get : agg_dap_helper_delete)(&answer, party, e->task, kind,
                                                                 e->id);
    } else if (kind == AGG_DAP_OF_JOB) {
        agg_dap_helper_aggregate(&answer, party, e->task, body, now_s);
    } else {
        agg_dap_helper_share(&answer, party, e->task, body, now_s);
    }
    take_answer(e, &answer);
    if (has_body(e)) e->http->wake(e->http->wake_context, e->route == SHOAL_DAP_COLLECTION_JOBS);
}

static void put_state(FILE *stream, const agg_dap_http *http)
{
    agg_metrics_gauge(stream, "shoal_dap_store_damaged",
                      "Whether the last look for damage found some: 1 if so.",
                      agg_watch_is_damaged(http->watch));
    agg_metrics_free(stream, "shoal_dap_store_free_bytes", http->config->store);
    agg_metrics_gauge(stream, "shoal_dap_memory_limit_bytes",
                      "Memory that the server takes at most, as it says.",
                      (double)(http->plan->bytes + CLI_PROGRAM_BYTES));
    agg_metrics_process(stream);
}

static void answer_metrics(exchange *e)
{
    agg_error error;
    FILE *stream = agg_http_answer_open(&e->x.answer);
    agg_err err = stream == NULL ? SHOAL_OK : agg_dap_metrics_print(stream, &error, e->http->party);
    if (stream != NULL) {
        agg_metrics_head(stream, "shoal_dap_requests_refused_total", "counter",
                         "Requests answered with an error since the start.");
        fprintf(stream, "shoal_dap_requests_refused_total %llu\n",
                (unsigned long long)atomic_load(&e->http->refused));
        agg_http_exchange_print_turned(stream, &e->x, "shoal_dap");
        put_state(stream, e->http);
    }
    agg_http_answer_close(&e->x.answer, stream, 200, AGG_HTTP_TYPE_METRICS);
    if (err == SHOAL_OK) return;
    fprintf(stderr, "shoal: serve: metrics: %s\n", error.text);
    answer_problem(e, 503, NULL, "the store could not be read");
}

// Tells only whether somebody should look, because everybody may ask.
static void answer_health(exchange *e)
{
    const char *status = "ok";
    for (size_t i = 0; i < e->http->party->n_tasks; i++)
        if (atomic_load(&e->http->party->tasks[i].is_failing)) status = "helper-failing";
    if (agg_watch_is_damaged(e->http->watch)) status = "damaged";
    FILE *stream = agg_http_answer_open(&e->x.answer);
    if (stream != NULL) fprintf(stream, "{\"status\":\"%s\"}\n", status);
    agg_http_answer_close(&e->x.answer, stream, strcmp(status, "ok") == 0 ? 200 : 503,
                          AGG_HTTP_TYPE_JSON);
}

// ---- the listener's calls ----

static exchange *exchange_of(agg_http_exchange *x)
{
    return (exchange *)(void *)x;
}

// Finishes every answer.
static void end_answer(exchange *e)
{
    if (e->x.answer.status == 0) return;
    e->x.answer.is_open = e->route == SHOAL_DAP_REPORTS || e->route == SHOAL_DAP_HPKE_CONFIG;
    if (e->x.answer.status >= 400) atomic_fetch_add(&e->http->refused, 1);
}

// Counts a request that needs no token, and refuses it when its address has made too many.
static void count_request(exchange *e)
{
    unsigned wait_s = agg_http_exchange_wait(&e->x);
    if (wait_s == 0) return;
    answer_problem(e, 429, NULL, "too many requests from this address; send it again later");
    e->x.answer.retry_after_s = wait_s;
}

static void start(agg_http_exchange *x)
{
    exchange *e = exchange_of(x);
    e->http = x->service;
    read_path(e);
    check_request(e);
    if (x->answer.status == 0) count_request(e);
    end_answer(e);
}

static void answer(agg_http_exchange *x)
{
    exchange *e = exchange_of(x);
    switch (e->route) {
    case SHOAL_DAP_HPKE_CONFIG: answer_keys(e); break;
    case ROUTE_METRICS: answer_metrics(e); break;
    case ROUTE_HEALTH: answer_health(e); break;
    default: answer_resource(e); break;
    }
    end_answer(e);
}

void agg_dap_route_service(agg_http_service *service, agg_dap_http *http)
{
    service->context = http;
    service->exchange_size = sizeof(exchange);
    service->body_name = "a request";
    service->body_names = "requests";
    service->start = start;
    service->answer = answer;
}
