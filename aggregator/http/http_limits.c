// SPDX-License-Identifier: Apache-2.0
// Limits of strangers; see http_limits.h.
#include "http_limits.h"

#include <string.h>

#include "nearest.h"

agg_http_limits agg_http_limits_default(void)
{
    static const char *const networks[] = {"127.0.0.0/8",   "::1/128",        "10.0.0.0/8",
                                           "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"};
    agg_http_limits limits = {.header_timeout_s = 10,
                              .connections_per_address = 128,
                              .requests_per_s = 50,
                              .requests_burst = 6000};
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (agg_http_network_read(&limits.unlimited[i], networks[i])) limits.n_unlimited++;
    return limits;
}

static agg_err read_number(uint32_t *out, agg_error *error, const cJSON *json, uint32_t low,
                           uint32_t high)
{
    double value = json->valuedouble;
    if (!cJSON_IsNumber(json) || !(value >= low && value <= high) ||
        value != (double)(uint32_t)value)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "limits: %s: must be a whole number of %u to %u", json->string, low, high);
    *out = (uint32_t)value;
    return SHOAL_OK;
}

static agg_err read_unlimited(agg_http_limits *limits, agg_error *error, const cJSON *json)
{
    const cJSON *one;
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) > AGG_HTTP_UNLIMITED_MAX)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                        "limits: unlimited: must be a list of at most %d networks",
                        AGG_HTTP_UNLIMITED_MAX);
    limits->n_unlimited = 0;
    cJSON_ArrayForEach(one, json)
    {
        if (!cJSON_IsString(one) ||
            !agg_http_network_read(&limits->unlimited[limits->n_unlimited], one->valuestring))
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "limits: unlimited: %s",
                            AGG_HTTP_NETWORK_WHY);
        limits->n_unlimited++;
    }
    return SHOAL_OK;
}

static agg_err read_member(agg_http_limits *limits, agg_error *error, const cJSON *json)
{
    const char *name = json->string;
    if (strcmp(name, "header_timeout_s") == 0)
        return read_number(&limits->header_timeout_s, error, json, 1, 3600);
    if (strcmp(name, "connections_per_address") == 0)
        return read_number(&limits->connections_per_address, error, json, 0, 65536);
    if (strcmp(name, "requests_per_s") == 0)
        return read_number(&limits->requests_per_s, error, json, 0, 100000);
    if (strcmp(name, "requests_burst") == 0)
        return read_number(&limits->requests_burst, error, json, 1, 10000000);
    if (strcmp(name, "unlimited") == 0) return read_unlimited(limits, error, json);
    static const char *const names[] = {"header_timeout_s", "connections_per_address",
                                        "requests_per_s", "requests_burst", "unlimited"};
    return agg_fail_unknown_field(error, "limits: ", name, names, sizeof names / sizeof *names);
}

agg_err agg_http_limits_read(agg_http_limits *limits, agg_error *error, const cJSON *json)
{
    const cJSON *one;
    if (!cJSON_IsObject(json))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "limits: must be an object");
    cJSON_ArrayForEach(one, json)
    {
        if (agg_json_came_before(json, one))
            return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE, "limits: %s: given twice",
                            one->string);
        agg_err err = read_member(limits, error, one);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

bool agg_http_limits_apply(const agg_http_limits *limits, const struct sockaddr_storage *address)
{
    for (size_t i = 0; i < limits->n_unlimited; i++)
        if (agg_http_network_holds(&limits->unlimited[i], address)) return false;
    return true;
}
