// SPDX-License-Identifier: Apache-2.0
// Uploads; see dap_upload.h.
#include "dap_upload.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "dap_seal_report.h"
#include "print_text.h"
#include "record.h"
#include "split.h"

#define DAY_S 86400
#define TRIES 5u
#define WAIT_MAX_S 60u

struct agg_dap_uploader {
    const agg_dap_task *task;
    shoal_url servers[2]; // where leader and helper are reached
    uint32_t tries;
    shoal_split split; // if the task has a recipe
    agg_dap_report_maker maker;
    agg_http_client *client;
    size_t words;    // words of a measurement
    uint64_t *next;  // the measurement of a record
    char *text;      // the text of a record
    uint32_t cap, n; // most reports of a request, and those made
    uint64_t *kept;  // their measurements
    uint8_t (*ids)[SHOAL_DAP_REPORT_ID];
    uint32_t *reasons; // error of each report; 0: it was accepted
    uint8_t *body;
    agg_dap_upload_count count;
};

// ---- keys ----

static const enum shoal_dap_role roles[2] = {SHOAL_DAP_LEADER, SHOAL_DAP_HELPER};

static agg_err take_keys(agg_hpke_key *key, agg_error *error, const agg_http_response *r,
                         const char *whose)
{
    shoal_dap_hpke_config config;
    char problem[AGG_HTTP_PROBLEM_MAX];
    if (r->status >= 300) {
        agg_http_problem(problem, NULL, r);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s gives no keys: %s", whose, problem);
    }
    if (!agg_http_is_media(r, shoal_dap_media_type(SHOAL_DAP_HPKE_CONFIG_LIST)))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "%s did not answer with a list of keys", whose);
    agg_err err = shoal_dap_read_hpke_configs(&config, (shoal_bytes){r->body, r->body_len});
    if (err != SHOAL_OK)
        return agg_fail(error, err, AGG_EXIT_RUNTIME,
                        "%s has no key of X25519, HKDF-SHA256 and AES-128-GCM", whose);
    *key = (agg_hpke_key){.id = config.id};
    memcpy(key->public_key, config.public_key.at, sizeof key->public_key);
    return SHOAL_OK;
}

static agg_err fetch_keys(agg_dap_uploader *u, agg_error *error)
{
    agg_err err = SHOAL_OK;
    for (int i = 0; i < 2 && err == SHOAL_OK; i++) {
        char url[SHOAL_DAP_URL_MAX];
        agg_http_response r;
        shoal_dap_url(url, &u->servers[i], SHOAL_DAP_HPKE_CONFIG, NULL, NULL, 0);
        err = agg_http_fetch(&r, error,
                             &(agg_http_request){.client = u->client, .method = "GET", .url = url});
        if (err != SHOAL_OK) return err;
        err = take_keys(&u->maker.keys[i], error, &r, agg_dap_role_name(roles[i]));
        agg_http_response_release(&r);
    }
    return err;
}

// ---- one request ----

// Makes the report of u->kept[i] in its place of the body.
static agg_err make_report(agg_dap_uploader *u, agg_error *error, uint32_t i)
{
    return agg_dap_report_make(u->body + i * u->maker.report_len, u->ids[i], error, &u->maker,
                               u->kept + i * u->words);
}

// Reads the refused reports, which are in the order of the request.
static agg_err take_errors(agg_dap_uploader *u, agg_error *error, const agg_http_response *r,
                           uint32_t n)
{
    shoal_dap_reader reader = {r->body, r->body_len, 0};
    uint8_t id[SHOAL_DAP_REPORT_ID];
    uint32_t reason = 0, i = 0;
    memset(u->reasons, 0, n * sizeof *u->reasons);
    if (r->body_len > 0 && !agg_http_is_media(r, shoal_dap_media_type(SHOAL_DAP_UPLOAD_ERRORS)))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "the leader's answer is not a list of upload errors");
    while (!shoal_dap_is_at_end(&reader)) {
        agg_err err = shoal_dap_read_upload_error(id, &reason, &reader);
        while (err == SHOAL_OK && i < n && memcmp(u->ids[i], id, sizeof id) != 0) i++;
        if (err != SHOAL_OK || i == n)
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                            "the leader names reports that were not sent to it");
        u->reasons[i++] = reason > 0 && reason <= SHOAL_DAP_OUTDATED_CONFIG ? reason : UINT32_MAX;
    }
    return SHOAL_OK;
}

static bool is_worth_another_try(agg_err err, const agg_http_response *r)
{
    return err == AGG_ERR_IO ||
           (err == SHOAL_OK && (r->status >= 500 || r->status == 429 || r->status == 408));
}

static void wait_before(uint32_t attempt, uint32_t retry_after_s)
{
    uint32_t wait = (uint32_t)1 << (attempt < 6 ? attempt : 6);
    if (retry_after_s > wait) wait = retry_after_s;
    sleep(wait < WAIT_MAX_S ? wait : WAIT_MAX_S);
}

static agg_err post(agg_dap_uploader *u, agg_error *error, agg_http_response *r, uint32_t n,
                    uint32_t *attempts)
{
    char url[SHOAL_DAP_URL_MAX];
    shoal_dap_url(url, &u->servers[0], SHOAL_DAP_REPORTS, u->task->task.id, NULL, 0);
    const agg_http_request q = {.client = u->client,
                                .method = "POST",
                                .url = url,
                                .content_type = shoal_dap_media_type(SHOAL_DAP_UPLOAD_REQ),
                                .body = {u->body, n * u->maker.report_len}};
    for (*attempts = 1;; ++*attempts) {
        agg_err err = agg_http_fetch(r, error, &q);
        if (!is_worth_another_try(err, r) || *attempts >= u->tries) return err;
        uint32_t retry_after_s = err == SHOAL_OK ? r->retry_after_s : 0;
        if (err == SHOAL_OK) agg_http_response_release(r);
        wait_before(*attempts - 1, retry_after_s);
    }
}

// Sends the first n reports of the body, and sets their u->reasons.
static agg_err send_request(agg_dap_uploader *u, agg_error *error, uint32_t n)
{
    agg_http_response r;
    char problem[AGG_HTTP_PROBLEM_MAX];
    uint32_t attempts = 0;
    agg_err err = post(u, error, &r, n, &attempts);
    if (err != SHOAL_OK) return err;
    if (r.status >= 300) {
        agg_http_problem(problem, NULL, &r);
        err =
            agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the leader refuses the request: %s", problem);
    } else {
        err = take_errors(u, error, &r, n);
    }
    agg_http_response_release(&r);
    // After a second attempt a replayed report is one that an earlier attempt delivered.
    for (uint32_t i = 0; err == SHOAL_OK && attempts > 1 && i < n; i++)
        if (u->reasons[i] == SHOAL_DAP_REPORT_REPLAYED) u->reasons[i] = 0;
    return err;
}

static void count_reasons(agg_dap_uploader *u, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t reason = u->reasons[i];
        if (reason == 0)
            u->count.accepted++;
        else
            u->count.refused[reason == UINT32_MAX ? 0 : reason]++;
    }
}

// Moves the measurements that were sealed to an old key to the front.
// Returns: how many there are.
static uint32_t gather_outdated(agg_dap_uploader *u, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (u->reasons[i] != SHOAL_DAP_OUTDATED_CONFIG) continue;
        memmove(u->kept + kept * u->words, u->kept + i * u->words, u->words * sizeof *u->kept);
        kept++;
    }
    u->count.refused[SHOAL_DAP_OUTDATED_CONFIG] -= kept; // they are sent once more
    return kept;
}

static agg_err seal_again(agg_dap_uploader *u, agg_error *error, uint32_t n)
{
    agg_err err = fetch_keys(u, error);
    for (uint32_t i = 0; i < n && err == SHOAL_OK; i++) err = make_report(u, error, i);
    if (err == SHOAL_OK) err = send_request(u, error, n);
    if (err == SHOAL_OK) count_reasons(u, n);
    return err;
}

agg_err agg_dap_upload_flush(agg_dap_uploader *u, agg_error *error)
{
    uint32_t n = u->n;
    if (n == 0) return SHOAL_OK;
    u->n = 0;
    agg_err err = send_request(u, error, n);
    if (err == SHOAL_OK) {
        count_reasons(u, n);
        uint32_t outdated = gather_outdated(u, n);
        if (outdated > 0) err = seal_again(u, error, outdated);
    }
    OPENSSL_cleanse(u->kept, n * u->words * sizeof *u->kept);
    return err;
}

// ---- measurements ----

agg_err agg_dap_upload_add(agg_dap_uploader *u, agg_error *error, const uint64_t *measurement)
{
    uint64_t *slot = u->kept + u->n * u->words;
    memcpy(slot, measurement, u->words * sizeof *slot);
    agg_err err = make_report(u, error, u->n);
    if (err != SHOAL_OK) {
        OPENSSL_cleanse(slot, u->words * sizeof *slot);
        return err;
    }
    return ++u->n < u->cap ? SHOAL_OK : agg_dap_upload_flush(u, error);
}

agg_err agg_dap_upload_add_record(agg_dap_uploader *u, agg_error *error, const uint8_t *record)
{
    const shoal_recipe *recipe = u->task->recipe.recipe;
    agg_err err = shoal_record_to_text(u->text, shoal_record_text_size(recipe), recipe, record);
    if (err == SHOAL_OK)
        err = shoal_split_text(u->next, &u->split, u->text, shoal_record_text_size(recipe));
    if (err == SHOAL_ERR_RANGE) {
        u->count.heavy++;
        return SHOAL_OK;
    }
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    return agg_dap_upload_add(u, error, u->next);
}

const agg_dap_upload_count *agg_dap_upload_counts(const agg_dap_uploader *u)
{
    return &u->count;
}

size_t agg_dap_upload_words(const agg_dap_task *task)
{
    const shoal_prio3_parameters *v = &task->task.vdaf;
    bool is_vector =
        v->circuit == SHOAL_CIRCUIT_SUM_VEC || v->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC;
    return is_vector ? v->length : 1;
}

// ---- memory ----

static void plan_request(agg_dap_uploader *u, uint32_t reports)
{
    u->cap = reports > 0 && reports < AGG_DAP_UPLOAD_REPORTS ? reports : AGG_DAP_UPLOAD_REPORTS;
    if (u->maker.report_len > AGG_DAP_UPLOAD_BODY / u->cap)
        u->cap = (uint32_t)(AGG_DAP_UPLOAD_BODY / u->maker.report_len);
    if (u->cap == 0) u->cap = 1;
    u->words = agg_dap_upload_words(u->task);
}

// Plans everything and allocates nothing.
static agg_err plan(agg_dap_uploader *u, agg_error *error, const agg_dap_upload_settings *settings)
{
    const shoal_dap_task *task = &settings->task->task;
    const char *why = "";
    u->task = settings->task;
    u->servers[0] = settings->leader != NULL ? *settings->leader : task->leader;
    u->servers[1] = settings->helper != NULL ? *settings->helper : task->helper;
    u->tries = settings->tries > 0 ? settings->tries : TRIES;
    agg_err err = SHOAL_OK;
    if (u->task->has_recipe)
        err = shoal_split_init(&u->split, shoal_recipe_part(u->task->recipe.recipe, 0), &why);
    if (err != SHOAL_OK) return agg_fail(error, err, AGG_EXIT_USAGE, "%s", why);
    err = agg_dap_report_maker_plan(&u->maker, error, u->task, settings->time_s);
    if (err == SHOAL_OK) plan_request(u, settings->reports);
    return err;
}

static size_t text_len(const agg_dap_uploader *u)
{
    return u->task->has_recipe ? shoal_record_text_size(u->task->recipe.recipe) : 1;
}

agg_err agg_dap_upload_memory(uint64_t *bytes, agg_error *error,
                              const agg_dap_upload_settings *settings)
{
    agg_dap_uploader u = {0};
    agg_err err = plan(&u, error, settings);
    if (err != SHOAL_OK) return err;
    uint64_t one = agg_dap_report_maker_size(&u.maker) + u.words * sizeof(uint64_t) + text_len(&u);
    uint64_t kept =
        u.maker.report_len + u.words * sizeof *u.kept + sizeof *u.ids + sizeof *u.reasons;
    *bytes = one + u.cap * kept + AGG_HTTP_BYTES;
    return SHOAL_OK;
}

static agg_err make_request(agg_dap_uploader *u, agg_error *error)
{
    size_t n_words = 0, len = 0;
    if (!agg_size_multiply(&n_words, u->words, u->cap) ||
        !agg_size_multiply(&len, u->maker.report_len, u->cap))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    u->body = agg_alloc(error, len, 1);
    u->kept = agg_alloc(error, n_words, sizeof *u->kept);
    u->next = agg_alloc(error, u->words, sizeof *u->next);
    u->ids = agg_alloc(error, u->cap, sizeof *u->ids);
    u->reasons = agg_alloc(error, u->cap, sizeof *u->reasons);
    u->text = agg_alloc(error, text_len(u), 1);
    bool is_there = u->body != NULL && u->kept != NULL && u->next != NULL && u->ids != NULL &&
                    u->reasons != NULL;
    return is_there && u->text != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err check_task(agg_error *error, const agg_dap_upload_settings *settings)
{
    const agg_dap_task *task = settings->task;
    int64_t now = settings->time_s >= 0 ? settings->time_s : (int64_t)time(NULL);
    if (task->task.version != SHOAL_DAP_18)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_USAGE,
                        "task %s is for clients of DAP-09, and this command speaks a later draft",
                        task->info);
    if (now / DAY_S > (int64_t)task->expires_day)
        return agg_fail(error, SHOAL_ERR_EXPIRED, AGG_EXIT_PRIVACY,
                        "the last day of task %s has passed", task->info);
    return SHOAL_OK;
}

static agg_err set_up(agg_dap_uploader *u, agg_error *error,
                      const agg_dap_upload_settings *settings)
{
    agg_err err = plan(u, error, settings);
    if (err == SHOAL_OK) err = agg_dap_report_maker_init(&u->maker, error);
    if (err == SHOAL_OK) err = make_request(u, error);
    if (err != SHOAL_OK) return err;
    u->client = agg_http_client_new();
    if (u->client == NULL)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    return fetch_keys(u, error);
}

agg_err agg_dap_uploader_open(agg_dap_uploader **u, agg_error *error,
                              const agg_dap_upload_settings *settings)
{
    *u = NULL;
    agg_err err = check_task(error, settings);
    if (err != SHOAL_OK) return err;
    agg_dap_uploader *own = agg_alloc(error, 1, sizeof *own);
    if (own == NULL) return AGG_ERR_MEMORY;
    err = set_up(own, error, settings);
    if (err == SHOAL_OK)
        *u = own;
    else
        agg_dap_uploader_close(own);
    return err;
}

static void wipe_and_free(void *at, size_t len)
{
    if (at != NULL) OPENSSL_cleanse(at, len);
    free(at);
}

void agg_dap_uploader_close(agg_dap_uploader *u)
{
    if (u == NULL) return;
    agg_dap_report_maker_release(&u->maker);
    wipe_and_free(u->kept, u->cap * u->words * sizeof *u->kept);
    wipe_and_free(u->next, u->words * sizeof *u->next);
    wipe_and_free(u->text, u->task != NULL && u->task->has_recipe
                               ? shoal_record_text_size(u->task->recipe.recipe)
                               : 0);
    free(u->ids);
    free(u->reasons);
    free(u->body);
    agg_http_client_free(u->client);
    free(u);
}

uint64_t agg_dap_upload_print(const agg_dap_upload_count *count, uint64_t rejected)
{
    uint64_t left = count->heavy + rejected;
    printf("accepted            %s\n", agg_whole(count->accepted).text);
    if (rejected > 0) printf("no report           %s\n", agg_whole(rejected).text);
    if (count->heavy > 0) printf("too heavy           %s\n", agg_whole(count->heavy).text);
    for (uint32_t i = 0; i <= SHOAL_DAP_OUTDATED_CONFIG; i++) {
        if (count->refused[i] == 0) continue;
        printf("refused             %s, %s\n", agg_whole(count->refused[i]).text,
               shoal_dap_report_error_name(i));
        left += count->refused[i];
    }
    return left;
}
