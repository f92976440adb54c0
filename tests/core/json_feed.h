// SPDX-License-Identifier: Apache-2.0
// Hands the JSON text of a recipe or a policy to the core, for tests that run on every build and so
// have no JSON library. Only for texts that the test itself holds: no escapes, no booleans, no
// duplicate keys looked for.
#ifndef JSON_FEED_H
#define JSON_FEED_H

#include <string.h>

#include "building.h"
#include "policy.h"

typedef struct json_feed {
    shoal_policy *policy; // NULL: the text is of a recipe
    const char *at;
    char path[200];
} json_feed;

static inline char json_next(json_feed *f)
{
    while (*f->at == ' ' || *f->at == '\n' || *f->at == ',' || *f->at == ':') f->at++;
    return *f->at;
}

// Reads a string. Returns: its length; *text is where it starts.
static inline size_t json_string(json_feed *f, const char **text)
{
    *text = f->at + 1;
    size_t len = strcspn(*text, "\"");
    f->at = *text + len + 1;
    return len;
}

// Reads a number exactly, in micro-units.
static inline int64_t json_micro(json_feed *f)
{
    int is_negative = *f->at == '-', decimals = -1;
    int64_t number = 0;
    for (f->at += is_negative; (*f->at >= '0' && *f->at <= '9') || *f->at == '.'; f->at++) {
        if (*f->at != '.') number = number * 10 + (*f->at - '0');
        decimals += *f->at == '.' || decimals >= 0;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 6; i++) number *= 10;
    return is_negative ? -number : number;
}

// Hands over a string or a number.
static inline shoal_err json_scalar(json_feed *f, int is_entry)
{
    size_t n = strlen(f->path), len;
    const char *text;
    if (*f->at != '"') {
        int64_t micro = json_micro(f);
        if (f->policy != NULL) return shoal_policy_set_number(f->policy, f->path, n, micro);
        return is_entry ? shoal_builder_add_number(&building, f->path, n, micro)
                        : shoal_builder_set_number(&building, f->path, n, micro);
    }
    len = json_string(f, &text);
    if (f->policy != NULL)
        return is_entry ? shoal_policy_add_text(f->policy, f->path, n, text, len)
                        : shoal_policy_set_string(f->policy, f->path, n, text, len);
    return is_entry ? shoal_builder_add_text(&building, f->path, n, text, len)
                    : shoal_builder_set_string(&building, f->path, n, text, len);
}

static inline shoal_err json_members(json_feed *f, size_t path_len);

// Reads the value of f->path: an object, a list, a scalar.
static inline shoal_err json_value(json_feed *f)
{
    size_t path_len = strlen(f->path);
    shoal_err err = SHOAL_OK;
    if (json_next(f) == '{') return json_members(f, path_len);
    if (*f->at != '[') return json_scalar(f, 0);
    f->at++;
    for (unsigned i = 0; err == SHOAL_OK && json_next(f) != ']'; i++) {
        if (*f->at != '{') {
            err = json_scalar(f, 1);
            continue;
        }
        snprintf(f->path + path_len, sizeof f->path - path_len, ".%u", i);
        err = json_members(f, strlen(f->path));
        f->path[path_len] = '\0';
    }
    f->at++;
    return err;
}

static inline shoal_err json_members(json_feed *f, size_t path_len)
{
    shoal_err err = SHOAL_OK;
    f->at++;
    while (err == SHOAL_OK && json_next(f) != '}') {
        const char *key;
        size_t len = json_string(f, &key);
        snprintf(f->path + path_len, sizeof f->path - path_len, path_len > 0 ? ".%.*s" : "%.*s",
                 (int)len, key);
        err = json_value(f);
        f->path[path_len] = '\0';
    }
    f->at++;
    return err;
}

// Makes the finished recipe or policy of a text.
static inline shoal_err json_recipe(shoal_recipe *recipe, const char *text)
{
    json_feed f = {.at = text};
    shoal_builder_init(&building);
    shoal_err err = json_value(&f);
    return end_recipe(recipe, err);
}

static inline shoal_err json_policy(shoal_policy *policy, const char *text)
{
    json_feed f = {.policy = policy, .at = text};
    shoal_policy_init(policy);
    shoal_err err = json_value(&f);
    return err == SHOAL_OK ? shoal_policy_finish(policy) : err;
}

#endif
