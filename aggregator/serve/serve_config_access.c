// SPDX-License-Identifier: Apache-2.0
// Fields of access; see serve_config_access.h.
#include "serve_config_access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agg_size.h"
#include "nearest.h"

enum { HEADER_MAX = 64 };

agg_err serve_config_read_token_file(serve_config_reader *r, const cJSON *json)
{
    return serve_config_path(r, &r->config->read_token_file, json, "read_token_file");
}

agg_err serve_config_admin_token_file(serve_config_reader *r, const cJSON *json)
{
    return serve_config_path(r, &r->config->admin_token_file, json, "admin_token_file");
}

agg_err serve_config_audit_log(serve_config_reader *r, const cJSON *json)
{
    return serve_config_path(r, &r->config->audit_log, json, "audit_log");
}

// Returns: whether a text can be a name: it stands in a header and in the audit log as it is.
static bool is_name(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "._@+-");
    return len > 0 && len < SERVE_NAME_MAX && text[len] == '\0';
}

// Refuses names that the audit log uses for others.
static agg_err check_name(serve_config_reader *r, const char *name)
{
    static const char *const reserved[] = {"admin", "local", "server"};
    if (!is_name(name))
        return serve_config_refuse(r, "readers: name",
                                   "must be 1 to 64 letters, digits and the signs . _ @ + -");
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(name, reserved[i]) == 0)
            return agg_fail(r->error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                            "readers: %s: the name is taken", name);
    }
    for (size_t i = 0; i + 1 < r->config->n_readers; i++) {
        if (strcmp(name, r->config->readers[i].name) == 0)
            return agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                            "readers: %s: given twice", name);
    }
    return SHOAL_OK;
}

static agg_err read_collections(serve_config_reader *r, serve_reader *reader, const cJSON *json)
{
    if (cJSON_IsString(json) && strcmp(json->valuestring, "all") == 0) {
        reader->reads_all = true;
        return SHOAL_OK;
    }
    if (!cJSON_IsArray(json))
        return serve_config_refuse(r, "readers: collections",
                                   "must be \"all\" or a list of recipe ids");
    return serve_config_texts(r, &reader->collections, json, "readers: collections");
}

static agg_err read_reader_field(serve_config_reader *r, serve_reader *reader, const cJSON *json)
{
    if (strcmp(json->string, "name") == 0) {
        reader->name = serve_config_string(r, json, "readers: name");
        return reader->name == NULL ? r->error->code : check_name(r, reader->name);
    }
    if (strcmp(json->string, "token_file") == 0)
        return serve_config_path(r, &reader->token_file, json, "readers: token_file");
    if (strcmp(json->string, "collections") == 0) return read_collections(r, reader, json);
    return agg_fail_unknown_field(r->error, "readers: ", json->string,
                                  (const char *const[]){"name", "token_file", "collections"}, 3);
}

static agg_err read_reader(serve_config_reader *r, serve_reader *reader, const cJSON *json)
{
    if (!cJSON_IsObject(json))
        return serve_config_refuse(r, "readers", "must be a list of objects");
    agg_err err = serve_config_refuse_repeated(r, json, "readers: ");
    for (const cJSON *one = json->child; err == SHOAL_OK && one != NULL; one = one->next)
        err = read_reader_field(r, reader, one);
    if (err != SHOAL_OK) return err;
    if (reader->name == NULL || (!reader->reads_all && reader->collections.n == 0))
        return agg_fail(r->error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE,
                        "readers: %s: missing; every reader has a name and collections",
                        reader->name == NULL ? "name" : "collections");
    return SHOAL_OK;
}

agg_err serve_config_readers(serve_config_reader *r, const cJSON *json)
{
    int n = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0;
    if (n == 0 || n > SERVE_READERS_MAX)
        return serve_config_refuse(r, "readers", "must be a list of 1 to 64 readers");
    r->config->readers = agg_alloc(r->error, (size_t)n, sizeof *r->config->readers);
    if (r->config->readers == NULL) return AGG_ERR_MEMORY;
    agg_err err = SHOAL_OK;
    for (const cJSON *one = json->child; err == SHOAL_OK && one != NULL; one = one->next)
        err = read_reader(r, &r->config->readers[r->config->n_readers++], one);
    return err;
}

// Reads the name of a header: the signs of a token (RFC 9110, section 5.6.2) that names use.
static agg_err read_header(serve_config_reader *r, const cJSON *json)
{
    serve_proxy *proxy = &r->config->proxy;
    proxy->header = serve_config_string(r, json, "proxy: header");
    if (proxy->header == NULL) return r->error->code;
    size_t len =
        strspn(proxy->header, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    if (proxy->header[len] != '\0' || len > HEADER_MAX)
        return serve_config_refuse(r, "proxy: header",
                                   "must be the name of a header, as X-Forwarded-User");
    static const char *const used[] = {"Authorization", "Cookie", "Host", "Origin"};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        if (strcasecmp(proxy->header, used[i]) == 0)
            return serve_config_refuse(r, "proxy: header", "must be a header of the proxy's own");
    }
    return SHOAL_OK;
}

static agg_err read_addresses(serve_config_reader *r, const cJSON *json)
{
    serve_proxy *proxy = &r->config->proxy;
    int n = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0;
    if (n == 0 || n > SERVE_PROXIES_MAX)
        return serve_config_refuse(r, "proxy: addresses", "must be a list of 1 to 16 addresses");
    for (const cJSON *one = json->child; one != NULL; one = one->next) {
        if (!cJSON_IsString(one) ||
            !agg_http_network_read(&proxy->networks[proxy->n_networks], one->valuestring))
            return serve_config_refuse(r, "proxy: addresses", AGG_HTTP_NETWORK_WHY);
        proxy->n_networks++;
    }
    return SHOAL_OK;
}

agg_err serve_config_proxy(serve_config_reader *r, const cJSON *json)
{
    serve_proxy *proxy = &r->config->proxy;
    if (!cJSON_IsObject(json))
        return serve_config_refuse(r, "proxy", "must be an object with header and addresses");
    agg_err err = serve_config_refuse_repeated(r, json, "proxy: ");
    for (const cJSON *one = json->child; err == SHOAL_OK && one != NULL; one = one->next) {
        if (strcmp(one->string, "header") == 0) {
            err = read_header(r, one);
        } else if (strcmp(one->string, "addresses") == 0) {
            err = read_addresses(r, one);
        } else if (strcmp(one->string, "admins") == 0) {
            err = serve_config_texts(r, &proxy->admins, one, "proxy: admins");
        } else {
            err = agg_fail_unknown_field(r->error, "proxy: ", one->string,
                                         (const char *const[]){"header", "addresses", "admins"}, 3);
        }
    }
    if (err != SHOAL_OK || (proxy->header != NULL && proxy->n_networks > 0)) return err;
    return agg_fail(r->error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE,
                    "proxy: %s: missing; the header is believed from stated addresses only",
                    proxy->header == NULL ? "header" : "addresses");
}

static agg_err check_readers(serve_config_reader *r)
{
    const serve_config *config = r->config;
    for (size_t i = 0; i < config->n_readers; i++) {
        const serve_reader *reader = &config->readers[i];
        if (reader->token_file == NULL && config->proxy.header == NULL)
            return agg_fail(r->error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE,
                            "readers: %s: token_file: missing, and no proxy names readers",
                            reader->name);
        if (config->read_token_file != NULL && strcmp(reader->name, "reader") == 0)
            return agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                            "readers: reader: read_token_file makes a reader of this name");
    }
    return SHOAL_OK;
}

static agg_err check_admins(serve_config_reader *r)
{
    const serve_config *config = r->config;
    for (size_t i = 0; i < config->proxy.admins.n; i++) {
        const char *name = config->proxy.admins.list[i];
        if (!is_name(name))
            return serve_config_refuse(r, "proxy: admins",
                                       "must be 1 to 64 letters, digits and the signs . _ @ + -");
        for (size_t k = 0; k < config->n_readers; k++) {
            if (strcmp(name, config->readers[k].name) == 0)
                return agg_fail(r->error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                                "proxy: admins: %s is a reader; who administers does not read",
                                name);
        }
    }
    return SHOAL_OK;
}

agg_err serve_config_check_access(serve_config_reader *r)
{
    const serve_config *config = r->config;
    agg_err err = check_readers(r);
    if (err == SHOAL_OK) err = check_admins(r);
    if (err != SHOAL_OK || config->is_loopback || config->read_token_file != NULL ||
        config->n_readers > 0)
        return err;
    return agg_fail(r->error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE,
                    "read_token_file: missing, and so is readers, and %s is not a loopback "
                    "address: everyone who reaches it could read results",
                    config->listen);
}

void serve_config_release_access(serve_config *config)
{
    for (size_t i = 0; i < config->n_readers; i++) {
        free(config->readers[i].name);
        free(config->readers[i].token_file);
        serve_config_release_texts(&config->readers[i].collections);
    }
    serve_config_release_texts(&config->proxy.admins);
    free(config->readers);
    free(config->proxy.header);
    free(config->read_token_file);
    free(config->admin_token_file);
    free(config->audit_log);
}
