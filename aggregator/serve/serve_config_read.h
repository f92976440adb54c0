// SPDX-License-Identifier: Apache-2.0
// Steps that the readers of all configuration fields share. Only the serve_config*.c files include
// this header.
#ifndef SERVE_CONFIG_READ_H
#define SERVE_CONFIG_READ_H

#include "json_walk.h"
#include "serve_config.h"

// A configuration on its way from JSON. Every function fills `error` when it fails.
typedef struct serve_config_reader {
    serve_config *config;
    agg_error *error;
    const char *folder; // of the file, with its slash; "" for the working folder
    size_t folder_len;
} serve_config_reader;

// Refuses a field. Returns: SHOAL_ERR_TYPE.
agg_err serve_config_refuse(serve_config_reader *r, const char *name, const char *why);

// Refuses an object that has two members of one name.
//   name: what stands before the member's name in the error
agg_err serve_config_refuse_repeated(serve_config_reader *r, const cJSON *object, const char *name);

// Copies a string that is not empty.
// Returns: a string to free, or NULL.
char *serve_config_string(serve_config_reader *r, const cJSON *json, const char *name);

// Copies a path. A relative path is joined to the file's folder.
// Returns: a string to free, or NULL.
char *serve_config_copy_path(serve_config_reader *r, const cJSON *json, const char *name);

// Copies a path into a member of the configuration.
agg_err serve_config_path(serve_config_reader *r, char **out, const cJSON *json, const char *name);

// Copies a list of distinct strings, at least one.
agg_err serve_config_texts(serve_config_reader *r, serve_texts *texts, const cJSON *json,
                           const char *name);
void serve_config_release_texts(serve_texts *texts);

#endif
