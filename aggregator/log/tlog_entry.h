// SPDX-License-Identifier: Apache-2.0
// The entries of a log: recipes, queries and key lists. Each is one line of JSON in one form: no
// spaces, members in a fixed order, so that an entry has one hash.
//
//     {"type":"recipe","hash":"<64 hex>"}
//     {"type":"query","hash":"<64 hex>"}
//     {"type":"keys","serial":N,"from":DAY,"until":DAY,"gateway":[{"id":1,"config":"<hex>"}],
//      "tokens":[{"recipe":"<64 hex>","day":DAY,"key":"<64 hex>"}]}
//
// A DAY counts UTC days since 1970. A config is a key configuration of RFC 9458.
#ifndef TLOG_ENTRY_H
#define TLOG_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_TLOG_ENTRY_MAX 65535u // bytes; a bundle states the length in two
#define AGG_TLOG_CONFIG_MAX 128u  // bytes of a key configuration
#define AGG_TLOG_GATEWAYS_MAX 16u
#define AGG_TLOG_TOKENS_MAX 512u
#define AGG_TLOG_SERIAL_MAX 2147483647u
#define AGG_TLOG_DAY_MAX 16777215u

typedef enum agg_tlog_type {
    AGG_TLOG_RECIPE,
    AGG_TLOG_QUERY,
    AGG_TLOG_KEYS,
} agg_tlog_type;

typedef struct agg_tlog_gateway {
    uint8_t id;
    size_t len;
    uint8_t config[AGG_TLOG_CONFIG_MAX];
} agg_tlog_gateway;

typedef struct agg_tlog_token {
    uint8_t recipe[32], key[32];
    uint32_t day;
} agg_tlog_token;

typedef struct agg_tlog_entry {
    agg_tlog_type type;
    uint8_t hash[32]; // of a recipe or a query
    // Of a key list:
    uint32_t serial, from, until;
    size_t n_gateways, n_tokens;
    agg_tlog_gateway gateways[AGG_TLOG_GATEWAYS_MAX];
    agg_tlog_token tokens[AGG_TLOG_TOKENS_MAX];
} agg_tlog_entry;

// Returns: "recipe", "query" or "keys".
const char *agg_tlog_type_name(agg_tlog_type type);

// Reads an entry as the log has it.
// Returns: SHOAL_ERR_TYPE, naming the member, for bytes of any other form.
agg_err agg_tlog_entry_read(agg_tlog_entry *entry, agg_error *error, const char *bytes,
                            size_t len) SHOAL_MUST_CHECK;

// Reads a key list as people write it: spaces and the members' order are free, and `type` and
// `serial` may be left out.
//   serial: the one to take where the list states none
agg_err agg_tlog_keys_read(agg_tlog_entry *entry, agg_error *error, const char *text, size_t len,
                           uint32_t serial) SHOAL_MUST_CHECK;

// Writes an entry as the log has it, and a NUL.
//   out: at least AGG_TLOG_ENTRY_MAX + 1 bytes
// Returns: SHOAL_ERR_RANGE if the entry is longer than AGG_TLOG_ENTRY_MAX.
agg_err agg_tlog_entry_print(char *out, size_t *len, agg_error *error,
                             const agg_tlog_entry *entry) SHOAL_MUST_CHECK;

// Checks that a key list may follow another. The serial is one more and the first day not earlier;
// an id keeps its configuration; one configuration at least is in both, for who sealed to the list
// before; a recipe and a day keep their token key, and tokens of days from `today` on stay listed.
//   before: NULL for the first list of a log, whose serial is 1
//   today: UTC day; AGG_TLOG_DAY_MAX where it is not known
// Returns: SHOAL_ERR_TYPE, naming the rule.
agg_err agg_tlog_keys_follow(agg_error *error, const agg_tlog_entry *before,
                             const agg_tlog_entry *after, uint32_t today) SHOAL_MUST_CHECK;

#endif
