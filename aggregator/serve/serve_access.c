// SPDX-License-Identifier: Apache-2.0
// People, their tokens and scopes; see serve_access.h.
#include "serve_access.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

// "reader", "admin" and "local" beside the configured ones.
static size_t people_max(const serve_config *config)
{
    return config->n_readers + config->proxy.admins.n + 3;
}

static agg_err add(serve_access *access, agg_error *error, const serve_person *person,
                   const char *token_file)
{
    serve_person *slot = &access->people[access->n++];
    *slot = *person;
    return token_file == NULL ? SHOAL_OK : agg_http_secret_load(&slot->token, error, token_file);
}

static agg_err add_readers(serve_access *access, agg_error *error)
{
    const serve_config *config = access->config;
    bool is_proxied = config->proxy.header != NULL;
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < config->n_readers; i++) {
        const serve_person person = {.name = config->readers[i].name,
                                     .field = config->readers[i].name,
                                     .rights = SERVE_READS,
                                     .is_proxied = is_proxied};
        err = add(access, error, &person, config->readers[i].token_file);
    }
    if (err != SHOAL_OK || config->read_token_file == NULL) return err;
    const serve_person reader = {
        .name = "reader", .field = "read_token_file", .rights = SERVE_READS};
    return add(access, error, &reader, config->read_token_file);
}

static agg_err add_admins(serve_access *access, agg_error *error)
{
    const serve_config *config = access->config;
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < config->proxy.admins.n; i++) {
        const serve_person person = {.name = config->proxy.admins.list[i],
                                     .field = "proxy",
                                     .rights = SERVE_ADMINISTERS,
                                     .is_proxied = true};
        err = add(access, error, &person, NULL);
    }
    if (err != SHOAL_OK || config->admin_token_file == NULL) return err;
    const serve_person admin = {
        .name = "admin", .field = "admin_token_file", .rights = SERVE_ADMINISTERS};
    return add(access, error, &admin, config->admin_token_file);
}

static agg_err refuse_shared(agg_error *error, const char *one, const char *other)
{
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_USAGE,
                    "%s: the token is also that of %s; tokens must differ", one, other);
}

static agg_err check_tokens(const serve_access *access, agg_error *error,
                            const agg_http_secret *batch_secret)
{
    for (size_t i = 0; i < access->n; i++) {
        const serve_person *one = &access->people[i];
        if (agg_http_secret_overlaps(&one->token, batch_secret))
            return refuse_shared(error, one->field, "batch_secret_file");
        for (size_t k = 0; k < i; k++) {
            if (agg_http_secret_overlaps(&one->token, &access->people[k].token))
                return refuse_shared(error, one->field, access->people[k].field);
        }
    }
    return SHOAL_OK;
}

agg_err serve_access_open(serve_access *access, agg_error *error, const serve_config *config,
                          const agg_http_secret *batch_secret)
{
    *access = (serve_access){.config = config};
    agg_err err = sign_in_limit_init(&access->limit, error);
    access->is_open = true;
    access->people = agg_alloc(error, people_max(config), sizeof *access->people);
    if (err == SHOAL_OK && access->people == NULL) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) err = add_readers(access, error);
    if (err == SHOAL_OK) err = add_admins(access, error);
    if (err == SHOAL_OK) err = check_tokens(access, error, batch_secret);
    if (err == SHOAL_OK && access->n == 0) {
        const serve_person local = {.name = "local", .rights = SERVE_READS | SERVE_ADMINISTERS};
        access->is_local = true;
        err = add(access, error, &local, NULL);
    }
    if (err == SHOAL_OK) err = serve_sessions_open(&access->sessions, error, access->n);
    if (err != SHOAL_OK) serve_access_release(access);
    return err;
}

static agg_err find_scope(serve_person *person, agg_error *error, const serve_reader *reader,
                          const serve_collections *collections)
{
    if (reader->reads_all) return SHOAL_OK;
    person->scope = agg_alloc(error, collections->n, sizeof *person->scope);
    if (person->scope == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < reader->collections.n; i++) {
        const char *id = reader->collections.list[i];
        const serve_collection *found = serve_collection_by_id(collections, id);
        if (found == NULL)
            return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                            "readers: %s: no recipe is called %s", reader->name, id);
        person->scope[found - collections->list] = true;
    }
    return SHOAL_OK;
}

agg_err serve_access_find_scopes(serve_access *access, agg_error *error,
                                 const serve_collections *collections)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < access->config->n_readers; i++) // the first people
        err = find_scope(&access->people[i], error, &access->config->readers[i], collections);
    return err;
}

void serve_access_release(serve_access *access)
{
    if (!access->is_open) return;
    for (size_t i = 0; i < access->n; i++) free(access->people[i].scope);
    serve_sessions_close(access->sessions);
    sign_in_limit_release(&access->limit);
    free(access->people);
    *access = (serve_access){0};
}

static bool is_same_secret(const agg_http_secret *a, const agg_http_secret *b)
{
    return a->n == b->n && memcmp(a->digests, b->digests, a->n * sizeof *a->digests) == 0;
}

static bool are_same_people(const serve_access *a, const serve_access *b)
{
    if (a->n != b->n || a->is_local != b->is_local) return false;
    for (size_t i = 0; i < a->n; i++) {
        const serve_person *x = &a->people[i], *y = &b->people[i];
        if (strcmp(x->name, y->name) != 0 || x->rights != y->rights ||
            !is_same_secret(&x->token, &y->token))
            return false;
    }
    return true;
}

void serve_access_keep_sessions(serve_access *access, const serve_access *before)
{
    if (!are_same_people(access, before)) return;
    serve_sessions_close(access->sessions);
    access->sessions = serve_sessions_share(before->sessions);
}

const serve_person *serve_access_by_token(const serve_access *access, const char *token)
{
    uint8_t digest[32];
    const serve_person *found = NULL;
    agg_http_secret_digest(digest, token, strlen(token));
    for (size_t i = 0; i < access->n; i++) {
        if (agg_http_secret_has(&access->people[i].token, digest)) found = &access->people[i];
    }
    return found;
}

const serve_person *serve_access_by_name(const serve_access *access, const char *name)
{
    for (size_t i = 0; i < access->n; i++) {
        if (access->people[i].is_proxied && strcmp(access->people[i].name, name) == 0)
            return &access->people[i];
    }
    return NULL;
}

bool serve_person_reads(const serve_person *person, size_t collection)
{
    return (person->rights & SERVE_READS) != 0 &&
           (person->scope == NULL || person->scope[collection]);
}

uint64_t serve_access_memory(const serve_config *config)
{
    size_t n = people_max(config);
    return sizeof(serve_access) + n * (uint64_t)(sizeof(serve_person) + config->n_recipes) +
           serve_sessions_memory(n);
}
