// SPDX-License-Identifier: Apache-2.0
// Leader and helper as processes; see dap_serve.h. Store, tasks, driver and HTTP start in this
// order and end in the reverse one. kill -9 loses nothing that was acknowledged.
#include "dap_serve.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "dap_driver.h"
#include "dap_http.h"
#include "dap_leader.h"
#include "dap_noise.h"
#include "dap_route.h"
#include "http_address.h"
#include "http_stop.h"
#include "log.h"
#include "prio_cpu.h"

#define HELPER_TIMEOUT_S 30
#define HELPER_SPARE ((size_t)64 << 10) // bytes of its answers beside responses and shares
#define HOUSEKEEPING_S 60
#define RETRY_S_MIN 1
#define RETRY_S_MAX 60
#define PAUSE_S_MIN 0.01

// The thread that aggregates (leader) and forgets old reports (both).
typedef struct driver {
    agg_dap_party *party;
    const agg_dap_config *config;
    agg_http_client *client;
    pthread_t thread;
    bool is_running;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool is_awake, is_urgent, is_stopping; // guarded by mutex
    agg_error told;                        // the last failure that was printed
} driver;

typedef struct server {
    const agg_dap_config *config;
    const agg_dap_plan *plan;
    agg_dap_party party;
    driver driver;
    agg_watch *watch;
    agg_dap_http http;
    agg_http_listener *listener;
    uint16_t port;
} server;

// ---- the helper, as the leader reaches it ----

static void server_url(shoal_url *url, const driver *d, const agg_dap_served *task)
{
    *url = task->vdaf.task.helper;
    if (d->config->helper_url[0] == '\0') return;
    url->len = (uint8_t)strlen(d->config->helper_url);
    memcpy(url->bytes, d->config->helper_url, url->len);
}

// Returns: the most bytes of an answer. A response is shorter than its request, and a share is
// sealed.
static size_t answer_max(const agg_dap_served *task, enum shoal_dap_resource resource,
                         shoal_bytes body)
{
    return HELPER_SPARE + (resource == SHOAL_DAP_AGGREGATION_JOBS
                               ? body.len
                               : agg_dap_output_len(&task->vdaf) + SHOAL_DAP_SEAL);
}

static agg_err post(void *self, agg_dap_reply *reply, agg_error *error, const agg_dap_served *task,
                    enum shoal_dap_resource resource, enum shoal_dap_message message,
                    shoal_bytes body, enum shoal_dap_message wanted)
{
    driver *d = self;
    char url[SHOAL_DAP_URL_MAX], text[AGG_HTTP_PROBLEM_MAX];
    shoal_url base;
    agg_http_response response;
    server_url(&base, d, task);
    shoal_dap_url(url, &base, resource, task->vdaf.task.id, NULL, 0);
    const agg_http_request request = {.client = d->client,
                                      .method = "POST",
                                      .url = url,
                                      .content_type = shoal_dap_media_type(message),
                                      .body = body,
                                      .bearer = d->config->helper_token,
                                      .max_body = answer_max(task, resource, body),
                                      .timeout_s = HELPER_TIMEOUT_S};
    agg_err err = agg_http_fetch(&response, error, &request);
    if (err != SHOAL_OK) return err;
    *reply = (agg_dap_reply){.status = response.status, .problem = AGG_DAP_NO_PROBLEM};
    if (response.status >= 400) {
        agg_http_problem(text, &reply->problem, &response);
        if (reply->problem < 0) reply->problem = AGG_DAP_OTHER_PROBLEM;
    } else if (response.body_len > 0 &&
               agg_http_is_media(&response, shoal_dap_media_type(wanted))) {
        reply->body = response.body;
        reply->len = response.body_len;
        response.body = NULL;
    }
    if (response.location[0] != '\0') reply->location = strdup(response.location);
    agg_http_response_release(&response);
    return SHOAL_OK;
}

static void remove_resource(void *self, const char *location)
{
    driver *d = self;
    agg_error error;
    agg_http_response response;
    const agg_http_request request = {.client = d->client,
                                      .method = "DELETE",
                                      .url = location,
                                      .bearer = d->config->helper_token,
                                      .timeout_s = HELPER_TIMEOUT_S};
    if (agg_http_fetch(&response, &error, &request) == SHOAL_OK)
        agg_http_response_release(&response);
}

// ---- the driver ----

static bool is_stopping(driver *d)
{
    pthread_mutex_lock(&d->mutex);
    bool stopping = d->is_stopping;
    pthread_mutex_unlock(&d->mutex);
    return stopping;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Waits until somebody wakes the driver, or some seconds.
// Returns: whether somebody waits for the driver's work.
static bool rest(driver *d, double seconds)
{
    double end = seconds_now() + seconds;
    struct timespec until = {.tv_sec = (time_t)end,
                             .tv_nsec = (long)((end - (double)(time_t)end) * 1e9)};
    pthread_mutex_lock(&d->mutex);
    bool is_over = false;
    while (!is_over && !d->is_stopping && !d->is_awake)
        is_over = pthread_cond_timedwait(&d->wake, &d->mutex, &until) != 0;
    bool is_urgent = d->is_urgent;
    d->is_awake = d->is_urgent = false;
    pthread_mutex_unlock(&d->mutex);
    return is_urgent;
}

static void wake(void *context, bool is_urgent)
{
    driver *d = context;
    pthread_mutex_lock(&d->mutex);
    d->is_awake = true;
    d->is_urgent |= is_urgent;
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->mutex);
}

// Prints a failure once, not with every try.
static void say_error(driver *d, const agg_error *error)
{
    if (strcmp(d->told.text, error->text) == 0) return;
    fprintf(stderr, "shoal: serve: %s\n", error->text);
    d->told = *error;
}

// Takes one turn of a task, unless the task rests after a failure and nobody waits.
// Returns: whether there is more to do at once.
static bool turn_one(driver *d, agg_dap_served *task, bool is_eager, bool is_urgent)
{
    const agg_dap_link link = {d, post, remove_resource};
    agg_error error;
    bool is_more = false;
    if (!is_urgent && seconds_now() < task->retry_at) return false;
    if (agg_dap_leader_turn(&is_more, &error, d->party, task, &link, (uint64_t)time(NULL),
                            is_eager) == SHOAL_OK) {
        if (task->retry_s > 0) d->told.text[0] = '\0'; // print the next failure, even the same one
        task->retry_s = task->retry_at = 0;
        return is_more;
    }
    say_error(d, &error);
    task->retry_s = task->retry_s <= 0                ? RETRY_S_MIN
                    : task->retry_s * 2 > RETRY_S_MAX ? RETRY_S_MAX
                                                      : task->retry_s * 2;
    task->retry_at = seconds_now() + task->retry_s;
    return false;
}

static bool turn_all(driver *d, bool is_eager, bool is_urgent)
{
    bool is_more = false;
    for (size_t i = 0; i < d->party->n_tasks && !is_stopping(d); i++)
        is_more |= turn_one(d, &d->party->tasks[i], is_eager, is_urgent);
    return is_more;
}

// Returns: the seconds that the leader may rest: until reports have waited long enough, a failed
// task is due again, or old reports are to be forgotten.
static double pause_of(const driver *d, double next_eager, double next_house)
{
    double now = seconds_now(), end = next_eager < next_house ? next_eager : next_house;
    for (size_t i = 0; i < d->party->n_tasks; i++) {
        double retry_at = d->party->tasks[i].retry_at;
        if (retry_at > 0 && retry_at < end) end = retry_at;
    }
    return end > now + PAUSE_S_MIN ? end - now : PAUSE_S_MIN;
}

static void keep_house(driver *d)
{
    agg_error error;
    if (agg_dap_forget_old(d->party, &error, (uint64_t)time(NULL)) != SHOAL_OK)
        say_error(d, &error);
    agg_dap_store_tidy(d->party->store);
}

static void *drive(void *context)
{
    driver *d = context;
    bool is_leader = d->party->role == SHOAL_DAP_LEADER, is_urgent = true, is_woken = false;
    double next_house = seconds_now(), next_eager = next_house;
    while (!is_stopping(d)) {
        double now = seconds_now();
        if (now >= next_house) {
            keep_house(d);
            next_house = now + HOUSEKEEPING_S;
        }
        if (!is_leader) {
            (void)rest(d, HOUSEKEEPING_S);
            continue;
        }
        bool is_eager = is_urgent || now >= next_eager;
        bool is_more = turn_all(d, is_eager, is_woken);
        is_woken = false; // one try for everybody who waits
        if (is_more) continue;
        if (is_eager) next_eager = now + d->config->job_interval_s;
        is_urgent = is_woken = rest(d, pause_of(d, next_eager, next_house));
    }
    return NULL;
}

static agg_err start_driver(driver *d, agg_error *error, agg_dap_party *party,
                            const agg_dap_config *config)
{
    pthread_condattr_t attributes;
    *d = (driver){.party = party, .config = config};
    pthread_mutex_init(&d->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    d->client = agg_http_client_new();
    d->is_running = pthread_create(&d->thread, NULL, drive, d) == 0;
    return d->is_running
               ? SHOAL_OK
               : agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "cannot start a thread");
}

// Ends the driver after the exchange that is under way.
static void stop_driver(driver *d)
{
    if (!d->is_running) return;
    pthread_mutex_lock(&d->mutex);
    d->is_stopping = true;
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->mutex);
    pthread_join(d->thread, NULL);
    agg_http_client_free(d->client);
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->mutex);
}

// ---- the server ----

static agg_err open_party(agg_dap_party *party, agg_error *error, const agg_dap_config *config,
                          const agg_dap_plan *plan)
{
    *party = (agg_dap_party){.role = config->role,
                             .keys = config->keys,
                             .collector = config->collector,
                             .n_threads = agg_dap_verifiers(config),
                             .keep_s = config->keep_s,
                             .max_pending = (int64_t)config->max_pending,
                             .job_reports = config->job_reports,
                             .job_len = AGG_DAP_JOB_LEN,
                             .job_bytes = plan->job_bytes};
    agg_err err = agg_dap_store_open(&party->store, error, config->store);
    if (err != SHOAL_OK) return err;
    party->tasks = agg_alloc(error, config->n_tasks, sizeof *party->tasks);
    if (party->tasks == NULL) return AGG_ERR_MEMORY;
    for (; err == SHOAL_OK && party->n_tasks < config->n_tasks; party->n_tasks++) {
        const agg_dap_task *task = &config->tasks[party->n_tasks];
        err = agg_dap_serve_task(party, &party->tasks[party->n_tasks], error, &task->task,
                                 config->seed);
        if (err != SHOAL_OK) agg_error_prefix(error, "task %s", task->info);
    }
    return err;
}

static void close_party(agg_dap_party *party)
{
    if (party->tasks != NULL)
        wipe(party->tasks, party->n_tasks * sizeof *party->tasks); // they have verification keys
    free(party->tasks);
    agg_dap_store_close(party->store);
    wipe(party, sizeof *party);
}

static agg_err listen_to(server *s, agg_error *error)
{
    const agg_dap_config *config = s->config;
    agg_http_service service = {.max_body = config->max_body,
                                .body_timeout_s = config->body_timeout_s,
                                .threads = config->threads,
                                .room = s->plan->room,
                                .limits = config->limits,
                                .listen = config->listen,
                                .address = config->address};
    s->http.config = config;
    s->http.party = &s->party;
    s->http.watch = s->watch;
    s->http.plan = s->plan;
    s->http.wake = wake;
    s->http.wake_context = &s->driver;
    agg_dap_route_service(&service, &s->http);
    return agg_http_listener_start(&s->listener, &s->port, error, &service);
}

static void say_tasks(const server *s)
{
    shoal_prio3 any = {.cpu = shoal_prio_cpu_best()};
    fprintf(stderr, "shoal: serve: verifies shares by %s code\n", agg_dap_choose_cpu(&any));
    for (size_t i = 0; i < s->config->n_tasks; i++) {
        const agg_dap_task *task = &s->config->tasks[i];
        char label[AGG_DAP_LABEL_MAX] = "";
        if (task->is_exact) agg_dap_noise_label(label, task);
        fprintf(stderr, "shoal: serve: %s of task %s, %s%s%s\n",
                s->config->role == SHOAL_DAP_LEADER ? "leader" : "helper", task->info,
                task->id_text, task->is_exact ? "; " : "", label);
    }
}

// Forbids core dumps: keys, the seed and shares are in memory, and a crash must not write them into
// a file.
static void refuse_core_files(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
}

// Looks for damage in the store at once, or in the background while the server runs.
static agg_err check_store(server *s, agg_error *error, bool is_check)
{
    static char name[] = "serve";
    const agg_store_told told = {agg_log_line, name};
    agg_store_found found;
    if (!is_check)
        return agg_watch_start(&s->watch, error, agg_dap_store_check, s->party.store,
                               s->config->check_interval_s, told);
    agg_err err = agg_dap_store_check(s->party.store, &found, error, told, NULL);
    if (err != SHOAL_OK || !agg_store_found_damage(&found)) return err;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: the database is damaged",
                    s->config->store);
}

agg_err agg_dap_serve(agg_error *error, const agg_dap_config *config, const agg_dap_plan *plan,
                      bool is_check)
{
    server s = {.config = config, .plan = plan};
    refuse_core_files();
    agg_err err = open_party(&s.party, error, config, plan);
    if (err == SHOAL_OK) err = check_store(&s, error, is_check);
    if (err == SHOAL_OK && !is_check) err = start_driver(&s.driver, error, &s.party, config);
    if (err == SHOAL_OK && !is_check) err = listen_to(&s, error);
    if (err == SHOAL_OK) say_tasks(&s);
    if (err == SHOAL_OK && !is_check) {
        agg_http_address_say(config->listen, s.port);
        agg_http_stop_wait();
    }
    if (s.listener != NULL) agg_http_listener_quiesce(s.listener);
    agg_http_listener_stop(s.listener);
    stop_driver(&s.driver);
    agg_watch_stop(s.watch);
    close_party(&s.party);
    return err;
}
