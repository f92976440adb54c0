// SPDX-License-Identifier: Apache-2.0
// Hands the fields of a policy's JSON to the core; see policy_json.h.
#include "policy_json.h"

#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "json_walk.h"
#include "recipe_json.h"

// Fills the error with the core's sentence about its last error. The path is the file's own if the
// core's path is absent or leaves its numbers open.
static agg_err core_said(agg_error *error, agg_err err, const shoal_policy *policy,
                         const char *path)
{
    if (err == SHOAL_OK) return SHOAL_OK;
    const char *field = policy->error_field;
    if (field == NULL || (path != NULL && strchr(field, 'N') != NULL))
        field = path != NULL ? path : "the policy";
    return agg_fail(error, err, AGG_EXIT_USAGE, "%s %s", field,
                    policy->error_text != NULL ? policy->error_text : shoal_err_text(err));
}

static agg_err take_string(void *context, agg_error *error, const agg_path *path, const char *text)
{
    shoal_policy *policy = context;
    agg_err err =
        shoal_policy_set_string(policy, path->dotted, strlen(path->dotted), text, strlen(text));
    return core_said(error, err, policy, path->shown);
}

static agg_err take_number(void *context, agg_error *error, const agg_path *path, int64_t micro)
{
    shoal_policy *policy = context;
    return core_said(error,
                     shoal_policy_set_number(policy, path->dotted, strlen(path->dotted), micro),
                     policy, path->shown);
}

static agg_err take_list(void *context, agg_error *error, const agg_path *path, const cJSON *array)
{
    shoal_policy *policy = context;
    agg_list seen = {0};
    agg_err err = SHOAL_OK;
    if (!cJSON_IsString(array->child))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s must hold strings only",
                        path->shown);
    for (const cJSON *item = array->child; item != NULL && err == SHOAL_OK; item = item->next) {
        err = shoal_policy_add_text(policy, path->dotted, strlen(path->dotted), item->valuestring,
                                    strlen(item->valuestring));
        err = core_said(error, err, policy, path->shown);
    }
    if (err == SHOAL_OK) err = agg_list_take(&seen, error, path->shown, array);
    agg_list_release(&seen);
    return err;
}

static agg_err read_members(agg_policy *own, agg_error *error, const cJSON *json)
{
    const agg_json_sink sink = {"a policy",  NULL,        &own->policy,
                                take_string, take_number, take_list};
    shoal_policy_init(&own->policy);
    if (!cJSON_IsObject(json))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "a policy is a JSON object");
    agg_err err = agg_json_walk(error, &sink, json);
    if (err == SHOAL_OK)
        err = core_said(error, shoal_policy_finish(&own->policy), &own->policy, NULL);
    if (err != SHOAL_OK) return err;
    memcpy(own->id, own->policy.policy.bytes, own->policy.policy.len);
    agg_hex(own->hash_hex, own->policy.policy_hash, 32);
    return SHOAL_OK;
}

agg_err agg_policy_from_bytes(agg_policy *policy, agg_error *error, const char *name,
                              const char *bytes, size_t len)
{
    memset(policy, 0, sizeof *policy);
    if (len > AGG_POLICY_FILE_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "%s: a policy has at most 256 KiB",
                        name);
    cJSON *json = agg_json_parse(error, bytes, len);
    agg_err err = json != NULL ? read_members(policy, error, json) : agg_json_refusal(error);
    cJSON_Delete(json);
    if (err == SHOAL_OK) return SHOAL_OK;
    if (error != NULL && err == AGG_ERR_JSON) error->exit_code = AGG_EXIT_USAGE;
    agg_error_prefix(error, "%s", name);
    return err;
}

agg_err agg_policy_from_file(agg_policy *policy, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_POLICY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_policy_from_bytes(policy, error, path, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    return err;
}
