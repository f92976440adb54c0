// SPDX-License-Identifier: Apache-2.0
// Begins a log in a folder, and adds the entries of files to one. What was added is printed to
// standard output, as a line or as a member of one JSON object for each entry.
#ifndef TLOG_ADDING_H
#define TLOG_ADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_file.h"
#include "tlog_log.h"
#include "tlog_writer.h"

// An open writer, and the private key that it signs with.
typedef struct agg_tlog_adding {
    agg_tlog_writer writer;
    agg_bytes pem;
    bool is_json;
    size_t n_added;
} agg_tlog_adding;

// Makes a key and an empty log.
//   verifier: the key that pages name
//   key_path: of the private key, which must not exist; only its owner may read it
// Returns: SHOAL_ERR_DUPLICATE where the folder has a log or the key exists; AGG_ERR_IO.
agg_err agg_tlog_begin(char verifier[AGG_TLOG_VERIFIER_MAX], agg_error *error, const char *folder,
                       const char *name, const char *key_path) SHOAL_MUST_CHECK;

// Opens a log to add to it, and first finishes an append that was cut short. The caller closes it,
// whatever the result.
//   adding: zeros
//   key: the file of the private key
agg_err agg_tlog_adding_open(agg_tlog_adding *adding, agg_error *error, const char *folder,
                             const char *key, bool is_json) SHOAL_MUST_CHECK;

// Adds the recipe of a file, which must be signed and not expired. A part stands for its whole
// collection, whose hash devices compute.
//   signer: the public key that must have signed it; NULL: any
agg_err agg_tlog_add_recipe(agg_tlog_adding *adding, agg_error *error, const char *path,
                            const uint8_t *signer) SHOAL_MUST_CHECK;

// Adds the list of keys in force of a file.
agg_err agg_tlog_add_list(agg_tlog_adding *adding, agg_error *error,
                          const char *path) SHOAL_MUST_CHECK;

// Writes the new head, and prints how many entries the log has.
agg_err agg_tlog_adding_finish(agg_tlog_adding *adding, agg_error *error) SHOAL_MUST_CHECK;

// Closes the log, and wipes the key.
void agg_tlog_adding_close(agg_tlog_adding *adding);

// Reads a public key: 64 hex digits, or a PEM file.
agg_err agg_tlog_read_signer(uint8_t key[32], agg_error *error, const char *text) SHOAL_MUST_CHECK;

#endif
