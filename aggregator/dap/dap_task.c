// SPDX-License-Identifier: Apache-2.0
// Tasks from files; see dap_task.h. A file with a member `vdaf` is a task file, any other a recipe.
#include "dap_task.h"

#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "dap_noise.h"
#include "json_object.h"
#include "json_walk.h"
#include "period.h"
#include "recipe.h"
#include "sha256.h"
#include "split.h"
#include "vdaf08.h"

#define DAY_S UINT64_C(86400)
#define NUMBER_MAX                                                                                 \
    ((UINT64_C(1) << 53) - 1) // the largest integer that every JSON parser reads exactly

// ---- the VDAF ----

static const char *const vdaf_names[] = {
    "count", "sum", "sum-vec", "histogram", "multihot-count-vec", NULL};

const char *agg_dap_vdaf_name(const shoal_dap_task *task)
{
    return vdaf_names[task->vdaf.circuit - SHOAL_CIRCUIT_COUNT];
}

// Reads the largest measurement, as "max", or as "bits" in DAP-09.
static void read_max(agg_object *o, shoal_dap_task *task)
{
    uint64_t bits = 0;
    if (task->version == SHOAL_DAP_18)
        (void)agg_object_whole(&task->vdaf.max, o, "max", 1, NUMBER_MAX, AGG_REQUIRED);
    else if (agg_object_whole(&bits, o, "bits", 1, 63, AGG_REQUIRED))
        task->vdaf.max = (UINT64_C(1) << bits) - 1;
}

static uint32_t count_bits(uint64_t max)
{
    uint32_t n = 0;
    for (; max > 0; max >>= 1) n++;
    return n;
}

// Returns: the field elements of a measurement; see flp.h.
static uint64_t encoded_len(const shoal_prio3_parameters *v)
{
    if (v->circuit == SHOAL_CIRCUIT_SUM_VEC) return (uint64_t)v->length * count_bits(v->max);
    if (v->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC)
        return (uint64_t)v->length + count_bits(v->max);
    return v->length;
}

static void read_chunk(agg_object *o, shoal_dap_task *task)
{
    uint64_t len = encoded_len(&task->vdaf), chunk = 0;
    if (o->err != SHOAL_OK) return;
    if (len > SHOAL_FLP_MEAS_MAX) {
        (void)agg_object_refuse(o, SHOAL_ERR_RANGE, "length",
                                "times the bits of a number is more than 1048576");
        return;
    }
    // Clients of DAP-09 have a default of their own, so the task must state the chunk.
    if (agg_object_whole(&chunk, o, "chunk", 1, len,
                         task->version == SHOAL_DAP_09 ? AGG_REQUIRED : AGG_OPTIONAL))
        task->vdaf.chunk = (uint32_t)chunk;
    else if (o->err == SHOAL_OK)
        task->vdaf.chunk = shoal_flp_best_chunk((uint32_t)len);
}

static void read_vector(agg_object *o, shoal_dap_task *task)
{
    uint64_t length = 0;
    (void)agg_object_whole(&length, o, "length", 1, SHOAL_FLP_MEAS_MAX, AGG_REQUIRED);
    task->vdaf.length = (uint32_t)length;
    if (task->vdaf.circuit == SHOAL_CIRCUIT_SUM_VEC) read_max(o, task);
    if (task->vdaf.circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC)
        (void)agg_object_whole(&task->vdaf.max, o, "max_weight", 1, length > 0 ? length : 1,
                               AGG_REQUIRED);
    read_chunk(o, task);
}

// The core decides which VDAFs are possible.
static void check_vdaf(agg_object *o, const shoal_dap_task *task)
{
    shoal_prio3 prio3;
    if (o->err != SHOAL_OK) return;
    agg_err err = task->version == SHOAL_DAP_18 ? shoal_prio3_init(&prio3, &task->vdaf)
                                                : shoal_vdaf08_init(&prio3, &task->vdaf);
    if (err == SHOAL_ERR_ARGUMENT) (void)agg_object_refuse(o, err, "type", "is not one of dap-09");
    if (err != SHOAL_OK)
        (void)agg_object_refuse(o, err, "length", "and the numbers beside it have no proof");
}

static void read_vdaf(agg_object *task_object, shoal_dap_task *task)
{
    const cJSON *json = agg_object_take(task_object, "vdaf");
    agg_object o;
    if (task_object->err != SHOAL_OK) return;
    agg_object_begin(&o, task_object->error, json, "vdaf.", "vdaf");
    int circuit = agg_object_word(&o, "type", vdaf_names, AGG_REQUIRED);
    if (circuit >= 0) {
        task->vdaf.circuit = (shoal_circuit)(SHOAL_CIRCUIT_COUNT + circuit);
        task->vdaf.shares = 2;
        task->vdaf.proofs = 1;
        if (task->vdaf.circuit == SHOAL_CIRCUIT_SUM) read_max(&o, task);
        if (task->vdaf.circuit > SHOAL_CIRCUIT_SUM) read_vector(&o, task);
        check_vdaf(&o, task);
    }
    task_object->err = agg_object_end(&o);
}

// ---- the rest of a task file ----

static void read_name(agg_object *o, agg_dap_task *t)
{
    const char *text = agg_object_string(o, "info", AGG_REQUIRED), *why = "";
    shoal_name name;
    if (text == NULL) return;
    agg_err err = shoal_name_set(&name, text, strlen(text), &why);
    if (err != SHOAL_OK) {
        (void)agg_object_refuse(o, err, "info", why);
        return;
    }
    t->task.info_len = name.len;
    memcpy(t->task.info, name.bytes, name.len);
}

static void read_url(agg_object *o, shoal_url *url, const char *name)
{
    const char *text = agg_object_string(o, name, AGG_REQUIRED), *why = "";
    if (text == NULL) return;
    agg_err err = shoal_url_set(url, text, strlen(text), &why);
    if (err != SHOAL_OK) (void)agg_object_refuse(o, err, name, why);
}

static void read_expires(agg_object *o, agg_dap_task *t)
{
    const char *text = agg_object_string(o, "expires", AGG_OPTIONAL);
    uint64_t precision = t->task.time_precision_s;
    int32_t day = 0;
    t->expires_day = UINT32_MAX;
    if (text == NULL) return;
    if (!agg_day_parse(&day, text)) {
        (void)agg_object_refuse(o, SHOAL_ERR_TYPE, "expires", "must be a day, YYYY-MM-DD");
        return;
    }
    t->expires_day = (uint32_t)day;
    // As for a recipe: the first unit after the day's last moment.
    if (precision > 0)
        t->task.interval.duration =
            (((uint64_t)t->expires_day + 1) * DAY_S + precision - 1) / precision;
}

static void read_id(agg_object *o, agg_dap_task *t)
{
    const char *text = agg_object_string(
        o, "task_id", t->task.version == SHOAL_DAP_09 ? AGG_REQUIRED : AGG_OPTIONAL);
    if (text == NULL || agg_unhex(t->task.id, sizeof t->task.id, text) ||
        shoal_dap_id_from_text(t->task.id, sizeof t->task.id, text, strlen(text)) == SHOAL_OK)
        return;
    (void)agg_object_refuse(o, SHOAL_ERR_TYPE, "task_id",
                            "must be 43 characters of base64url or 64 hex digits");
}

static void derive_id(agg_dap_task *t)
{
    static const char title[] = "shoal dap task\n";
    uint8_t bytes[SHOAL_DAP_CONFIGURATION_MAX + 16];
    shoal_dap_writer w = {bytes, sizeof bytes, 0, 0};
    shoal_sha256 sha;
    shoal_dap_put_task(&w, &t->task);
    shoal_dap_put_noise(&w, &t->task);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)title, sizeof title - 1);
    shoal_sha256_update(&sha, bytes, w.len);
    shoal_sha256_final(t->task.id, &sha);
}

static agg_err read_task(agg_dap_task *t, agg_error *error, const cJSON *json)
{
    static const char *const versions[] = {"dap-18", "dap-09", NULL};
    agg_object o;
    agg_object_begin(&o, error, json, "", "a task file");
    t->task.version =
        agg_object_word(&o, "version", versions, AGG_REQUIRED) == 1 ? SHOAL_DAP_09 : SHOAL_DAP_18;
    read_name(&o, t);
    read_url(&o, &t->task.leader, "leader");
    read_url(&o, &t->task.helper, "helper");
    if (o.err == SHOAL_OK && shoal_url_equal(&t->task.leader, &t->task.helper))
        (void)agg_object_refuse(&o, SHOAL_ERR_RANGE, "helper",
                                "must be another server than the leader");
    (void)agg_object_whole(&t->task.time_precision_s, &o, "time_precision_s", 1, 31536000,
                           AGG_REQUIRED);
    (void)agg_object_whole(&t->task.min_batch_size, &o, "min_batch_size", 1, 1000000000,
                           AGG_REQUIRED);
    read_expires(&o, t);
    read_vdaf(&o, &t->task);
    agg_dap_noise_read(&t->delta, &o, &t->task);
    read_id(&o, t);
    agg_err err = agg_object_end(&o);
    t->is_exact = true;
    if (err == SHOAL_OK && cJSON_GetObjectItemCaseSensitive(json, "task_id") == NULL) derive_id(t);
    return err;
}

// ---- recipes ----

static agg_err read_recipe(agg_dap_task *t, agg_error *error, const char *name, const char *bytes,
                           size_t len)
{
    const char *why = "";
    agg_err err = agg_recipe_from_bytes(&t->recipe, error, name, bytes, len);
    if (err != SHOAL_OK) return err;
    err = shoal_dap_task_of(&t->task, t->recipe.recipe, &why);
    if (err != SHOAL_OK) {
        agg_recipe_release(&t->recipe);
        return agg_fail(error, err, AGG_EXIT_USAGE, "%s: %s", name, why);
    }
    t->has_recipe = true;
    t->expires_day = t->recipe.recipe->expires_day;
    return SHOAL_OK;
}

// ---- both ----

static void finish_texts(agg_dap_task *t)
{
    shoal_dap_id_to_text(t->id_text, t->task.id, sizeof t->task.id);
    memcpy(t->info, t->task.info, t->task.info_len);
    t->info[t->task.info_len] = '\0';
}

agg_err agg_dap_task_from_bytes(agg_dap_task *t, agg_error *error, const char *name,
                                const char *bytes, size_t len)
{
    memset(t, 0, sizeof *t);
    cJSON *json = agg_json_parse(error, bytes, len);
    if (json == NULL) {
        agg_error_prefix(error, "%s", name);
        return error == NULL ? AGG_ERR_JSON : error->code;
    }
    agg_err err;
    if (cJSON_GetObjectItemCaseSensitive(json, "vdaf") == NULL) {
        err = read_recipe(t, error, name, bytes, len);
    } else {
        err = read_task(t, error, json);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", name);
    }
    cJSON_Delete(json);
    if (err == SHOAL_OK) finish_texts(t);
    return err;
}

agg_err agg_dap_task_load(agg_dap_task *t, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_DAP_TASK_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_dap_task_from_bytes(t, error, path, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

void agg_dap_task_release(agg_dap_task *t)
{
    if (t->has_recipe) agg_recipe_release(&t->recipe);
    memset(t, 0, sizeof *t);
}

static void print_vdaf(FILE *stream, const shoal_dap_task *task)
{
    const shoal_prio3_parameters *v = &task->vdaf;
    const char *draft = task->version == SHOAL_DAP_18 ? "" : " of VDAF-08";
    fprintf(stream, "vdaf                Prio3 %s%s", agg_dap_vdaf_name(task), draft);
    if (v->circuit == SHOAL_CIRCUIT_SUM || v->circuit == SHOAL_CIRCUIT_SUM_VEC)
        fprintf(stream, ", numbers of 0 to %llu", (unsigned long long)v->max);
    if (v->circuit > SHOAL_CIRCUIT_SUM) fprintf(stream, ", %u entries", v->length);
    if (v->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC)
        fprintf(stream, ", at most %llu of them set", (unsigned long long)v->max);
    if (v->circuit > SHOAL_CIRCUIT_SUM) fprintf(stream, ", chunks of %u", v->chunk);
    fputc('\n', stream);
}

void agg_dap_task_print(FILE *stream, const agg_dap_task *t)
{
    char day[11];
    fprintf(stream, "task                %s %s (%s)\n", t->info, t->id_text,
            t->task.version == SHOAL_DAP_18 ? SHOAL_DAP_TAG : "clients of dap-09");
    fprintf(stream, "leader              %.*s\n", (int)t->task.leader.len, t->task.leader.bytes);
    fprintf(stream, "helper              %.*s\n", (int)t->task.helper.len, t->task.helper.bytes);
    fprintf(stream, "batches             %llu reports at least; times in units of %llu s",
            (unsigned long long)t->task.min_batch_size,
            (unsigned long long)t->task.time_precision_s);
    if (t->expires_day != UINT32_MAX) {
        agg_day_print(day, (int32_t)t->expires_day);
        fprintf(stream, "; last day %s", day);
    }
    fputc('\n', stream);
    print_vdaf(stream, &t->task);
    if (!t->is_exact) return;
    fputs("privacy             ", stream);
    agg_dap_noise_print_label(stream, t);
    fputc('\n', stream);
}
