// SPDX-License-Identifier: Apache-2.0
// Signed notes, and the heads of logs that they carry.
//
// A note is text, an empty line, and a line for each signature: "\u2014 NAME BASE64", of the first
// four bytes of the key's id and the signature. A head's text is the log's origin, its number of
// entries and its root, a line each. Witnesses may add signature lines of their own keys, which are
// kept and not looked at. One bad signature by the log's own key refuses the note.
// Source: c2sp.org/signed-note, c2sp.org/tlog-checkpoint. Ed25519 by libcrypto.
#ifndef TLOG_NOTE_H
#define TLOG_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "tlog_tree.h"

#define AGG_TLOG_NOTE_MAX ((size_t)1 << 14)             // bytes of a head with all signatures
#define AGG_TLOG_NAME_MAX 128u                          // bytes of a log's name
#define AGG_TLOG_VERIFIER_MAX (AGG_TLOG_NAME_MAX + 56u) // NAME+8 hex+44 base64, and a NUL

// The public half of a log's key.
typedef struct agg_tlog_key {
    char name[AGG_TLOG_NAME_MAX + 1];
    uint8_t id[4];
    uint8_t key[32];
} agg_tlog_key;

typedef struct agg_tlog_head {
    char origin[AGG_TLOG_NAME_MAX + 1];
    uint64_t size;
    uint8_t root[AGG_TLOG_HASH];
    size_t signatures; // lines of signatures
} agg_tlog_head;

// Fills a key and its id.
// Returns: AGG_ERR_USAGE for a name that is empty, too long, or has other characters than printable
// ASCII without space and plus.
agg_err agg_tlog_key_make(agg_tlog_key *key, agg_error *error, const char *name,
                          const uint8_t public_key[32]) SHOAL_MUST_CHECK;

// Reads a verifier key, `<name>+<8 hex>+<base64>`. Returns: AGG_ERR_USAGE for any other text.
agg_err agg_tlog_key_read(agg_tlog_key *key, agg_error *error, const char *text) SHOAL_MUST_CHECK;

// Writes the verifier key with a NUL.
void agg_tlog_key_print(char out[AGG_TLOG_VERIFIER_MAX], const agg_tlog_key *key);

// Reads the head of a note, without looking at its signatures.
// Returns: SHOAL_ERR_TYPE for a text of another form.
agg_err agg_tlog_head_read(agg_tlog_head *head, agg_error *error, const char *note,
                           size_t len) SHOAL_MUST_CHECK;

// Verifies that the log's key signed a note that agg_tlog_head_read took.
// Returns: AGG_ERR_SIGNATURE (exit code 3) if it has not, or if one of its signatures is bad.
agg_err agg_tlog_note_verify(agg_error *error, const agg_tlog_key *key, const char *note,
                             size_t len) SHOAL_MUST_CHECK;

// Writes the signed note of a head, and a NUL.
//   pem: the private key of `key` (PKCS#8)
// Returns: AGG_ERR_SIGNATURE if the private key is that of another public key.
agg_err agg_tlog_head_sign(char note[AGG_TLOG_NOTE_MAX], agg_error *error, const agg_tlog_key *key,
                           const agg_tlog_head *head, const char *pem,
                           size_t pem_len) SHOAL_MUST_CHECK;

// Makes a private key, as PEM (PKCS#8).
//   pem: a string, to be wiped and freed
agg_err agg_tlog_private_new(char **pem, size_t *len, agg_error *error) SHOAL_MUST_CHECK;

#endif
