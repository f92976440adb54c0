// SPDX-License-Identifier: Apache-2.0
// Reads recipe sets; see set_json.h.
#include "set_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "json_walk.h"
#include "recipe.h"

static agg_err refuse(agg_error *error, agg_err code, const char *member, const char *why)
{
    return agg_fail(error, code, AGG_EXIT_USAGE, "%s %s", member, why);
}

void agg_set_init(agg_set *set)
{
    memset(set, 0, sizeof *set);
    shoal_set_init(&set->set);
}

agg_err agg_set_add(agg_set *set, agg_error *error, const char *name, const agg_recipe *recipe)
{
    shoal_set_member member;
    agg_err err = shoal_set_add_recipe(&set->set, recipe->recipe);
    if (err == SHOAL_ERR_DUPLICATE) return refuse(error, err, name, "is twice in the set");
    if (err == SHOAL_ERR_SPACE)
        return refuse(error, err, name, "is one too many: a set has at most 64 members");
    if (err != SHOAL_OK) return refuse(error, err, name, shoal_err_text(err));
    shoal_set_member_of(&member, recipe->recipe);
    memcpy(set->names[set->n_names].hash, member.hash, 32);
    snprintf(set->names[set->n_names++].id, sizeof set->names[0].id, "%.*s",
             (int)recipe->recipe->recipe.len, recipe->recipe->recipe.bytes);
    return SHOAL_OK;
}

static agg_err set_budget(agg_set *set, agg_error *error, const char *name, int64_t eps_micro,
                          double days)
{
    agg_err err = SHOAL_ERR_RANGE;
    if (eps_micro > 0 && days >= 1 && days <= SHOAL_BUDGET_DAYS_MAX && days == floor(days))
        err = shoal_set_budget(&set->set, (uint64_t)eps_micro, (uint32_t)days);
    return err == SHOAL_OK ? SHOAL_OK
                           : refuse(error, err, name,
                                    "must be an epsilon of at most 1000000 and 1 to 365 days");
}

agg_err agg_set_budget(agg_set *set, agg_error *error, const char *text)
{
    int64_t eps_micro = 0, days = 0;
    const char *slash = strchr(text, '/');
    if (slash == NULL || !agg_decimal_micro(&eps_micro, text, (size_t)(slash - text)) ||
        !agg_decimal_micro(&days, slash + 1, strlen(slash + 1)))
        return refuse(error, SHOAL_ERR_TYPE, "--budget", "must be EPSILON/DAYS, such as 40/30");
    return set_budget(set, error, "--budget", eps_micro, (double)days / 1e6);
}

const char *agg_set_name(int *length, const agg_set *set, const shoal_set_member *member)
{
    for (uint32_t i = 0; i < set->n_names; i++)
        if (memcmp(set->names[i].hash, member->hash, 32) == 0) {
            *length = (int)strlen(set->names[i].id);
            return set->names[i].id;
        }
    *length = member->analysis.len;
    return member->analysis.bytes;
}

// ---- the file ----

static agg_err read_budget(agg_set *set, agg_error *error, const cJSON *json)
{
    int64_t eps_micro = 0;
    const cJSON *epsilon = cJSON_GetObjectItemCaseSensitive(json, "epsilon");
    const cJSON *days = cJSON_GetObjectItemCaseSensitive(json, "days");
    if (!cJSON_IsNumber(epsilon) || !cJSON_IsNumber(days) || cJSON_GetArraySize(json) != 2)
        return refuse(error, SHOAL_ERR_TYPE, "budget", "must have epsilon and days, both numbers");
    if (!agg_json_micro(&eps_micro, epsilon->valuedouble))
        return refuse(error, SHOAL_ERR_RANGE, "budget.epsilon", "has more than six decimals");
    return set_budget(set, error, "budget", eps_micro, days->valuedouble);
}

static agg_err read_recipe(agg_set *set, agg_error *error, const char *name, const cJSON *json,
                           bool is_run)
{
    agg_recipe recipe;
    char *text = cJSON_PrintUnformatted(json);
    if (text == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_recipe_from_bytes(&recipe, error, name, text, strlen(text));
    cJSON_free(text);
    if (err != SHOAL_OK) return err;
    if (is_run != (recipe.recipe->epochs > 0))
        err = refuse(error, SHOAL_ERR_TYPE, name,
                     is_run ? "is no run: it belongs to recipes"
                            : "is an epoch of a run: it belongs to runs");
    if (err == SHOAL_OK) err = agg_set_add(set, error, name, &recipe);
    agg_recipe_release(&recipe);
    return err;
}

static agg_err read_recipes(agg_set *set, agg_error *error, const cJSON *list, bool is_run)
{
    char name[32];
    unsigned i = 0;
    agg_err err = SHOAL_OK;
    if (!cJSON_IsArray(list))
        return refuse(error, SHOAL_ERR_TYPE, list->string, "must be a list of recipes");
    for (const cJSON *each = list->child; each != NULL && err == SHOAL_OK; each = each->next) {
        snprintf(name, sizeof name, "%s[%u]", is_run ? "runs" : "recipes", i++);
        err = read_recipe(set, error, name, each, is_run);
    }
    return err;
}

static agg_err read_policy(agg_set *set, agg_error *error, const cJSON *json)
{
    agg_policy policy;
    char *text = cJSON_PrintUnformatted(json);
    if (text == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_policy_from_bytes(&policy, error, "policy", text, strlen(text));
    cJSON_free(text);
    if (err != SHOAL_OK) return err;
    err = shoal_set_add_policy(&set->set, &policy.policy);
    return err == SHOAL_OK ? SHOAL_OK
                           : refuse(error, err, "policy",
                                    "has too many analyses: a set has at most 64 members");
}

static agg_err read_member(agg_set *set, agg_error *error, const cJSON *json, const cJSON *member)
{
    const char *name = member->string;
    if (agg_json_came_before(json, member))
        return refuse(error, SHOAL_ERR_DUPLICATE, name, "is given twice");
    if (strcmp(name, "budget") == 0) return read_budget(set, error, member);
    if (strcmp(name, "recipes") == 0) return read_recipes(set, error, member, false);
    if (strcmp(name, "runs") == 0) return read_recipes(set, error, member, true);
    if (strcmp(name, "policy") == 0) return read_policy(set, error, member);
    return refuse(error, SHOAL_ERR_UNKNOWN_FIELD, name, "is not a member of a recipe set");
}

agg_err agg_set_from_bytes(agg_set *set, agg_error *error, const char *name, const char *bytes,
                           size_t len)
{
    uint8_t hash[32];
    agg_set_init(set);
    if (len > AGG_SET_FILE_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "%s: a recipe set has at most 4 MiB", name);
    cJSON *json = agg_json_parse(error, bytes, len);
    agg_err err = json != NULL ? SHOAL_OK : agg_json_refusal(error);
    if (err == SHOAL_OK && !cJSON_IsObject(json))
        err = agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "a recipe set is a JSON object");
    if (err == SHOAL_OK && !cJSON_HasObjectItem(json, "recipes"))
        err = refuse(error, SHOAL_ERR_MISSING_FIELD, "recipes", "is missing");
    for (const cJSON *member = json != NULL ? json->child : NULL; member != NULL && err == SHOAL_OK;
         member = member->next)
        err = read_member(set, error, json, member);
    cJSON_Delete(json);
    if (err == SHOAL_OK) {
        shoal_set_hash(hash, &set->set);
        agg_hex(set->hash_hex, hash, sizeof hash);
        return SHOAL_OK;
    }
    if (error != NULL && err == AGG_ERR_JSON) error->exit_code = AGG_EXIT_USAGE;
    agg_error_prefix(error, "%s", name);
    return err;
}

agg_err agg_set_from_file(agg_set *set, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_SET_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_set_from_bytes(set, error, path, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

bool agg_set_is_one(const char *path)
{
    agg_bytes bytes;
    agg_error error;
    if (strcmp(path, "-") == 0 || agg_file_read(&bytes, &error, path, AGG_SET_FILE_MAX) != SHOAL_OK)
        return false;
    cJSON *json = agg_json_parse(&error, (const char *)bytes.data, bytes.len);
    bool is_one = cJSON_IsObject(json) && cJSON_HasObjectItem(json, "recipes");
    cJSON_Delete(json);
    free(bytes.data);
    return is_one;
}
