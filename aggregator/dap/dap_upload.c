// SPDX-License-Identifier: Apache-2.0
// Uploads; see dap_upload.h.
#include "dap_upload.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "hpke.h"
#include "record.h"
#include "split.h"

#define DAY_S 86400
#define TRIES 5u
#define WAIT_MAX_S 60u

// What is made of one measurement, and the room for it.
typedef struct sharing {
    uint8_t *rand, *public_share, *shares[2]; // leader's, helper's
    uint8_t *plaintext;                       // of either, the longer one
    uint8_t *sealed[2];
    uint8_t *aad;
    size_t rand_len, public_len, share_len[2], plaintext_len, aad_len;
    uint64_t *scratch;
    size_t scratch_words;
} sharing;

struct agg_dap_uploader {
    const agg_dap_task *task;
    shoal_url servers[2]; // leader, helper: where they are reached
    int64_t time_s;
    uint32_t tries;
    shoal_split split; // where the task has a recipe
    shoal_prio3 prio3;
    agg_hpke_key keys[2]; // public halves
    agg_http_client *client;
    sharing s;
    size_t words;    // of a measurement
    uint64_t *next;  // one measurement, of a record
    char *text;      // of a record
    uint32_t cap, n; // reports of a request
    uint64_t *kept;  // their measurements
    uint8_t (*ids)[SHOAL_DAP_REPORT_ID];
    uint32_t *reasons; // why each was refused; 0: it was not
    uint8_t *body;
    size_t report_len;
    agg_dap_upload_count count;
};

// ---- keys ----

static const enum shoal_dap_role roles[2] = {SHOAL_DAP_LEADER, SHOAL_DAP_HELPER};
static const char *const role_names[2] = {"the leader", "the helper"};

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
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME, "%s answers with no list of keys",
                        whose);
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
        err = take_keys(&u->keys[i], error, &r, role_names[i]);
        agg_http_response_release(&r);
    }
    return err;
}

// ---- one report ----

static agg_err no_random(agg_error *error)
{
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "the library of random numbers fails");
}

static uint64_t time_of_report(const agg_dap_uploader *u)
{
    int64_t now = u->time_s >= 0 ? u->time_s : (int64_t)time(NULL);
    return (uint64_t)now / u->task->task.time_precision_s;
}

static agg_err shard(agg_dap_uploader *u, agg_error *error, const uint8_t *id,
                     const uint64_t *measurement)
{
    uint8_t ctx[SHOAL_DAP_CONTEXT_MAX];
    const shoal_bytes context = {ctx, shoal_dap_context(ctx, &u->task->task)};
    if (RAND_priv_bytes(u->s.rand, (int)u->s.rand_len) != 1) return no_random(error);
    agg_err err = shoal_prio3_shard(u->s.public_share, u->s.shares, &u->prio3, context, measurement,
                                    id, u->s.rand, u->s.scratch);
    OPENSSL_cleanse(u->s.rand, u->s.rand_len);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_USAGE, "is no measurement of the task");
}

// The share of server i, as its plaintext, into u->s.sealed[i].
static agg_err seal_share(agg_dap_uploader *u, agg_error *error, int i, uint8_t enc[AGG_HPKE_ENC])
{
    uint8_t info_bytes[SHOAL_DAP_INFO_MAX];
    const shoal_bytes info = {info_bytes,
                              shoal_dap_input_share_info(info_bytes, &u->task->task, roles[i])};
    const shoal_bytes aad = {u->s.aad, u->s.aad_len};
    shoal_dap_writer w = {u->s.plaintext, u->s.plaintext_len, 0, 0};
    shoal_dap_put_input_share(&w, (shoal_bytes){u->s.shares[i], u->s.share_len[i]});
    agg_err err = agg_hpke()->seal(NULL, enc, u->s.sealed[i], u->keys[i].public_key, info, aad,
                                   (shoal_bytes){u->s.plaintext, w.len});
    OPENSSL_cleanse(u->s.plaintext, w.len);
    OPENSSL_cleanse(u->s.shares[i], u->s.share_len[i]);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_RUNTIME, "nothing can be sealed to the key of %s",
                    role_names[i]);
}

// Bytes of server i's sealed share.
static size_t sealed_len(const agg_dap_uploader *u, int i)
{
    return SHOAL_DAP_INPUT_SHARE_HEAD + u->s.share_len[i] + AGG_HPKE_TAG;
}

static shoal_dap_report lay_out(const agg_dap_uploader *u, const uint8_t *id,
                                const uint8_t enc[2][AGG_HPKE_ENC])
{
    shoal_dap_report report = {.public_share = {u->s.public_share, u->s.public_len}};
    memcpy(report.metadata.id, id, SHOAL_DAP_REPORT_ID);
    report.metadata.time = time_of_report(u);
    report.leader = (shoal_dap_ciphertext){
        u->keys[0].id, {enc[0], AGG_HPKE_ENC}, {u->s.sealed[0], sealed_len(u, 0)}};
    report.helper = (shoal_dap_ciphertext){
        u->keys[1].id, {enc[1], AGG_HPKE_ENC}, {u->s.sealed[1], sealed_len(u, 1)}};
    return report;
}

// Makes the report of u->kept[i] and writes it into its place of the body.
static agg_err make_report(agg_dap_uploader *u, agg_error *error, uint32_t i)
{
    uint8_t enc[2][AGG_HPKE_ENC], *id = u->ids[i];
    if (RAND_bytes(id, SHOAL_DAP_REPORT_ID) != 1) return no_random(error);
    agg_err err = shard(u, error, id, u->kept + i * u->words);
    if (err != SHOAL_OK) return err;
    shoal_dap_report report = lay_out(u, id, (const uint8_t(*)[AGG_HPKE_ENC])enc);
    shoal_dap_writer aad = {u->s.aad, u->s.aad_len, 0, 0};
    shoal_dap_put_input_share_aad(&aad, &u->task->task, &report.metadata, report.public_share);
    for (int s = 0; s < 2 && err == SHOAL_OK; s++) err = seal_share(u, error, s, enc[s]);
    shoal_dap_writer body = {u->body + i * u->report_len, u->report_len, 0, 0};
    if (err == SHOAL_OK) shoal_dap_put_report(&body, &report);
    return err;
}

// ---- one request ----

// The refused ones, in the order of the request.
static agg_err take_errors(agg_dap_uploader *u, agg_error *error, const agg_http_response *r,
                           uint32_t n)
{
    shoal_dap_reader reader = {r->body, r->body_len, 0};
    uint8_t id[SHOAL_DAP_REPORT_ID];
    uint32_t reason = 0, i = 0;
    memset(u->reasons, 0, n * sizeof *u->reasons);
    if (r->body_len > 0 && !agg_http_is_media(r, shoal_dap_media_type(SHOAL_DAP_UPLOAD_ERRORS)))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                        "the leader answers with something else");
    while (!shoal_dap_is_at_end(&reader)) {
        agg_err err = shoal_dap_read_upload_error(id, &reason, &reader);
        while (err == SHOAL_OK && i < n && memcmp(u->ids[i], id, sizeof id) != 0) i++;
        if (err != SHOAL_OK || i == n)
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME,
                            "the leader names reports that it was not sent");
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
                                .body = {u->body, n * u->report_len}};
    for (*attempts = 1;; ++*attempts) {
        agg_err err = agg_http_fetch(r, error, &q);
        if (!is_worth_another_try(err, r) || *attempts >= u->tries) return err;
        uint32_t retry_after_s = err == SHOAL_OK ? r->retry_after_s : 0;
        if (err == SHOAL_OK) agg_http_response_release(r);
        wait_before(*attempts - 1, retry_after_s);
    }
}

// Sends the first n reports of the body; u->reasons says what became of each.
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
    // What an earlier attempt brought, of which no answer came, is there.
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

// Moves the measurements that were sealed to an old key to the front. Returns: how many.
static uint32_t gather_outdated(agg_dap_uploader *u, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (u->reasons[i] != SHOAL_DAP_OUTDATED_CONFIG) continue;
        memmove(u->kept + kept * u->words, u->kept + i * u->words, u->words * sizeof *u->kept);
        kept++;
    }
    u->count.refused[SHOAL_DAP_OUTDATED_CONFIG] -= kept; // they have one more chance
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

// ---- measurements in ----

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
    const shoal_recipe *recipe = &u->task->recipe.recipe;
    agg_err err = shoal_record_to_text(u->text, recipe->text_size, recipe, record);
    if (err == SHOAL_OK) err = shoal_split_text(u->next, &u->split, u->text, recipe->text_size);
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

// ---- the room ----

static uint8_t *bytes(agg_error *error, size_t len)
{
    return agg_alloc(error, len, 1);
}

static void plan_sharing(agg_dap_uploader *u)
{
    sharing *s = &u->s;
    s->rand_len = shoal_prio3_rand_len(&u->prio3);
    s->public_len = shoal_prio3_public_share_len(&u->prio3);
    for (uint32_t i = 0; i < 2; i++) s->share_len[i] = shoal_prio3_input_share_len(&u->prio3, i);
    s->plaintext_len = SHOAL_DAP_INPUT_SHARE_HEAD +
                       (s->share_len[0] > s->share_len[1] ? s->share_len[0] : s->share_len[1]);
    s->scratch_words = shoal_prio3_scratch_words(&u->prio3);
    const shoal_dap_metadata none = {.time = 0};
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_input_share_aad(&w, &u->task->task, &none,
                                  (shoal_bytes){s->public_share, s->public_len});
    s->aad_len = w.len;
}

static void plan_request(agg_dap_uploader *u, uint32_t reports)
{
    static const uint8_t id[SHOAL_DAP_REPORT_ID], enc[2][AGG_HPKE_ENC];
    const shoal_dap_report report = lay_out(u, id, enc);
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_report(&w, &report);
    u->report_len = w.len;
    u->cap = reports > 0 && reports < AGG_DAP_UPLOAD_REPORTS ? reports : AGG_DAP_UPLOAD_REPORTS;
    if (u->report_len > AGG_DAP_UPLOAD_BODY / u->cap)
        u->cap = (uint32_t)(AGG_DAP_UPLOAD_BODY / u->report_len);
    if (u->cap == 0) u->cap = 1;
    u->words = agg_dap_upload_words(u->task);
}

// Everything but the memory.
static agg_err plan(agg_dap_uploader *u, agg_error *error, const agg_dap_upload_settings *settings)
{
    const shoal_dap_task *task = &settings->task->task;
    const char *why = "";
    u->task = settings->task;
    u->servers[0] = settings->leader != NULL ? *settings->leader : task->leader;
    u->servers[1] = settings->helper != NULL ? *settings->helper : task->helper;
    u->time_s = settings->time_s;
    u->tries = settings->tries > 0 ? settings->tries : TRIES;
    agg_err err = SHOAL_OK;
    if (u->task->has_recipe)
        err = shoal_split_init(&u->split, &u->task->recipe.recipe.parts[0], &why);
    if (err != SHOAL_OK) return agg_fail(error, err, AGG_EXIT_USAGE, "%s", why);
    err = shoal_prio3_init(&u->prio3, &task->vdaf);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_USAGE);
    plan_sharing(u);
    plan_request(u, settings->reports);
    return SHOAL_OK;
}

static size_t text_len(const agg_dap_uploader *u)
{
    return u->task->has_recipe ? u->task->recipe.recipe.text_size : 1;
}

agg_err agg_dap_upload_memory(uint64_t *bytes, agg_error *error,
                              const agg_dap_upload_settings *settings)
{
    agg_dap_uploader u = {0};
    const sharing *s = &u.s;
    agg_err err = plan(&u, error, settings);
    if (err != SHOAL_OK) return err;
    uint64_t shares =
        (uint64_t)s->share_len[0] + s->share_len[1] + sealed_len(&u, 0) + sealed_len(&u, 1);
    uint64_t one = s->rand_len + s->public_len + shares + s->plaintext_len + s->aad_len +
                   (s->scratch_words + u.words) * sizeof(uint64_t) + text_len(&u);
    uint64_t kept = u.report_len + u.words * sizeof *u.kept + sizeof *u.ids + sizeof *u.reasons;
    *bytes = one + u.cap * kept + AGG_HTTP_BYTES;
    return SHOAL_OK;
}

static agg_err make_sharing(agg_dap_uploader *u, agg_error *error)
{
    sharing *s = &u->s;
    s->rand = bytes(error, s->rand_len);
    s->public_share = bytes(error, s->public_len);
    s->plaintext = bytes(error, s->plaintext_len);
    s->scratch = agg_alloc(error, s->scratch_words, sizeof *s->scratch);
    s->aad = bytes(error, s->aad_len);
    bool is_there = s->rand != NULL && s->public_share != NULL && s->plaintext != NULL &&
                    s->scratch != NULL && s->aad != NULL;
    for (int i = 0; i < 2; i++) {
        s->shares[i] = bytes(error, s->share_len[i]);
        s->sealed[i] = bytes(error, sealed_len(u, i));
        is_there &= s->shares[i] != NULL && s->sealed[i] != NULL;
    }
    return is_there ? SHOAL_OK : AGG_ERR_MEMORY;
}

static agg_err make_request(agg_dap_uploader *u, agg_error *error)
{
    size_t n_words = 0, len = 0;
    if (!agg_size_multiply(&n_words, u->words, u->cap) ||
        !agg_size_multiply(&len, u->report_len, u->cap))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    u->body = bytes(error, len);
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
                        "task %s is for clients of DAP-09, and this is none", task->info);
    if (now / DAY_S > (int64_t)task->expires_day)
        return agg_fail(error, SHOAL_ERR_EXPIRED, AGG_EXIT_PRIVACY,
                        "the last day of task %s has passed", task->info);
    return SHOAL_OK;
}

static agg_err set_up(agg_dap_uploader *u, agg_error *error,
                      const agg_dap_upload_settings *settings)
{
    agg_err err = plan(u, error, settings);
    if (err == SHOAL_OK) err = make_sharing(u, error);
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
    sharing *s = &u->s;
    wipe_and_free(s->rand, s->rand_len);
    wipe_and_free(s->plaintext, s->plaintext_len);
    wipe_and_free(s->scratch, s->scratch_words * sizeof *s->scratch);
    for (int i = 0; i < 2; i++) {
        wipe_and_free(s->shares[i], s->share_len[i]);
        free(s->sealed[i]);
    }
    wipe_and_free(u->kept, u->cap * u->words * sizeof *u->kept);
    wipe_and_free(u->next, u->words * sizeof *u->next);
    wipe_and_free(u->text,
                  u->task != NULL && u->task->has_recipe ? u->task->recipe.recipe.text_size : 0);
    free(s->public_share);
    free(s->aad);
    free(u->ids);
    free(u->reasons);
    free(u->body);
    agg_http_client_free(u->client);
    free(u);
}
