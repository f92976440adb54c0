// SPDX-License-Identifier: Apache-2.0
// Signed notes; see tlog_note.h.
#include "tlog_note.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "json_walk.h"
#include "recipe_json.h"
#include "recipe_signature.h"
#include "sha256.h"

#define ED25519 1u // the type of a key, its first byte in a verifier key
#define DASH "\xe2\x80\x94 "
#define BASE64_MAX 512u // characters of a signature; those of witnesses may be longer than ours
#define SIZE_DIGITS 15

// ---- base64 ----

// Decodes base64 with its padding, and nothing else.
//   out: at least len / 4 * 3 bytes
static bool unbase64(uint8_t *out, size_t *out_len, const char *text, size_t len)
{
    uint8_t again[BASE64_MAX + 1];
    if (len == 0 || len % 4 != 0 || len > BASE64_MAX) return false;
    int n = EVP_DecodeBlock(out, (const uint8_t *)text, (int)len);
    if (n < 0) return false;
    size_t pad = (size_t)(text[len - 1] == '=') + (text[len - 2] == '=');
    if ((size_t)n < pad) return false;
    *out_len = (size_t)n - pad;
    // The decoder takes more than one text for the same bytes.
    int same = EVP_EncodeBlock(again, out, (int)*out_len);
    return same == (int)len && memcmp(again, text, len) == 0;
}

// ---- keys ----

static bool is_name(const char *text, size_t len)
{
    if (len == 0 || len > AGG_TLOG_NAME_MAX) return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '+') return false;
    return true;
}

agg_err agg_tlog_key_make(agg_tlog_key *key, agg_error *error, const char *name,
                          const uint8_t public_key[32])
{
    static const uint8_t between[] = {'\n', ED25519};
    uint8_t digest[32];
    shoal_sha256 sha;
    if (!is_name(name, strlen(name)))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a log's name has 1 to %u characters, no space and no plus",
                        AGG_TLOG_NAME_MAX);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)name, strlen(name));
    shoal_sha256_update(&sha, between, sizeof between);
    shoal_sha256_update(&sha, public_key, 32);
    shoal_sha256_final(digest, &sha);
    strcpy(key->name, name);
    memcpy(key->id, digest, sizeof key->id);
    memcpy(key->key, public_key, sizeof key->key);
    return SHOAL_OK;
}

agg_err agg_tlog_key_read(agg_tlog_key *key, agg_error *error, const char *text)
{
    uint8_t id[4], bytes[48];
    char name[AGG_TLOG_NAME_MAX + 1] = "", hex[9] = "";
    size_t len = 0, name_len = strcspn(text, "+");
    const char *at = text + name_len;
    bool is_good = is_name(text, name_len) && strlen(at) == 1 + 8 + 1 + 44 && at[9] == '+';
    if (is_good) {
        memcpy(name, text, name_len);
        memcpy(hex, at + 1, 8);
        is_good = agg_unhex(id, sizeof id, hex) && unbase64(bytes, &len, at + 10, 44) &&
                  len == 33 && bytes[0] == ED25519 &&
                  agg_tlog_key_make(key, error, name, bytes + 1) == SHOAL_OK &&
                  memcmp(key->id, id, sizeof id) == 0;
    }
    return is_good ? SHOAL_OK
                   : agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                              "this is no verifier key, <name>+<8 hex digits>+<base64>");
}

void agg_tlog_key_print(char out[AGG_TLOG_VERIFIER_MAX], const agg_tlog_key *key)
{
    char hex[9];
    uint8_t bytes[33] = {ED25519}, base64[45];
    memcpy(bytes + 1, key->key, 32);
    EVP_EncodeBlock(base64, bytes, sizeof bytes);
    agg_hex(hex, key->id, sizeof key->id);
    snprintf(out, AGG_TLOG_VERIFIER_MAX, "%s+%s+%s", key->name, hex, (const char *)base64);
}

// ---- reading ----

static agg_err malformed(agg_error *error, const char *why)
{
    return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_RUNTIME, "is not the head of a log: %s", why);
}

// Returns: the length of the note's text, which ends with a newline before the empty line; 0 if the
// note has no such line.
static size_t text_len(const char *note, size_t len)
{
    for (size_t i = len; i-- > 1;)
        if (note[i] == '\n' && note[i - 1] == '\n') return i;
    return 0;
}

// Takes one line off the text. Returns: its length without the newline.
static size_t take_line(const char **line, const char **at, const char *end)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *at = newline == NULL ? end : newline + 1;
    return newline == NULL ? 0 : (size_t)(newline - *line);
}

static bool is_size(uint64_t *size, const char *text, size_t len)
{
    if (len == 0 || len > SIZE_DIGITS || (len > 1 && text[0] == '0')) return false;
    *size = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *size = 10 * *size + (uint64_t)(text[i] - '0');
    }
    return true;
}

// A line of a signature: its key's name, and what follows.
typedef struct signature_line {
    const char *name, *base64;
    size_t name_len, base64_len;
} signature_line;

static bool take_signature(signature_line *s, const char **at, const char *end)
{
    const char *line;
    size_t len = take_line(&line, at, end), dash = sizeof DASH - 1;
    if (len <= dash || memcmp(line, DASH, dash) != 0) return false;
    s->name = line + dash;
    const char *space = memchr(s->name, ' ', len - dash);
    if (space == NULL || space == s->name) return false;
    s->name_len = (size_t)(space - s->name);
    s->base64 = space + 1;
    s->base64_len = len - dash - s->name_len - 1;
    return s->base64_len > 0 && memchr(s->base64, ' ', s->base64_len) == NULL &&
           memchr(s->name, '+', s->name_len) == NULL;
}

static bool has_control(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] < ' ' && text[i] != '\n') return true;
    return false;
}

agg_err agg_tlog_head_read(agg_tlog_head *head, agg_error *error, const char *note, size_t len)
{
    uint8_t root[48];
    size_t root_len = 0, line_len;
    const char *line, *at = note, *end;
    *head = (agg_tlog_head){.size = 0};
    if (len > AGG_TLOG_NOTE_MAX || !agg_utf8_is_valid(note, len) || has_control(note, len))
        return malformed(error, "it is too long, or no text");
    size_t text = text_len(note, len);
    if (text == 0) return malformed(error, "it has no signatures");
    end = note + text;
    line_len = take_line(&line, &at, end);
    if (!is_name(line, line_len)) return malformed(error, "its first line names no log");
    memcpy(head->origin, line, line_len);
    line_len = take_line(&line, &at, end);
    if (!is_size(&head->size, line, line_len))
        return malformed(error, "its second line is no number of entries");
    line_len = take_line(&line, &at, end);
    if (line_len != 44 || !unbase64(root, &root_len, line, line_len) || root_len != AGG_TLOG_HASH)
        return malformed(error, "its third line is no hash");
    memcpy(head->root, root, AGG_TLOG_HASH);
    at = end + 1;
    end = note + len;
    while (at < end) {
        signature_line s;
        if (!take_signature(&s, &at, end)) return malformed(error, "a line is no signature");
        head->signatures++;
    }
    return head->signatures > 0 ? SHOAL_OK : malformed(error, "it has no signatures");
}

agg_err agg_tlog_note_verify(agg_error *error, const agg_tlog_key *key, const char *note,
                             size_t len)
{
    size_t text = text_len(note, len), name_len = strlen(key->name);
    const char *at = note + text + 1, *end = note + len;
    bool is_signed = false;
    signature_line s;
    while (at < end && take_signature(&s, &at, end)) {
        uint8_t bytes[BASE64_MAX];
        size_t n = 0;
        if (s.name_len != name_len || memcmp(s.name, key->name, name_len) != 0) continue;
        if (!unbase64(bytes, &n, s.base64, s.base64_len)) return malformed(error, "no base64");
        if (n < 4 || memcmp(bytes, key->id, 4) != 0) continue;
        if (n != 4 + 64)
            return agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "the signature is bad");
        agg_err err = agg_ed25519_verify(error, key->key, bytes + 4, (const uint8_t *)note, text);
        if (err != SHOAL_OK) return err;
        is_signed = true;
    }
    return is_signed ? SHOAL_OK
                     : agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY,
                                "is not signed by the log's key");
}

// ---- signing ----

agg_err agg_tlog_head_sign(char note[AGG_TLOG_NOTE_MAX], agg_error *error, const agg_tlog_key *key,
                           const agg_tlog_head *head, const char *pem, size_t pem_len)
{
    uint8_t public_key[32], bytes[4 + 64], base64[129];
    EVP_EncodeBlock(base64, head->root, AGG_TLOG_HASH);
    int len = snprintf(note, AGG_TLOG_NOTE_MAX, "%s\n%" PRIu64 "\n%s\n", head->origin, head->size,
                       (const char *)base64);
    agg_err err = agg_ed25519_sign(public_key, bytes + 4, error, pem, pem_len,
                                   (const uint8_t *)note, (size_t)len);
    if (err != SHOAL_OK) return err;
    if (memcmp(public_key, key->key, sizeof public_key) != 0)
        return agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "is not the log's key");
    memcpy(bytes, key->id, 4);
    EVP_EncodeBlock(base64, bytes, sizeof bytes);
    snprintf(note + len, AGG_TLOG_NOTE_MAX - (size_t)len, "\n" DASH "%s %s\n", key->name,
             (const char *)base64);
    return SHOAL_OK;
}

agg_err agg_tlog_private_new(char **pem, size_t *len, agg_error *error)
{
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    BIO *bio = BIO_new(BIO_s_secmem());
    char *bytes = NULL;
    long n = 0;
    bool is_made = pkey != NULL && bio != NULL &&
                   PEM_write_bio_PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1 &&
                   (n = BIO_get_mem_data(bio, &bytes)) > 0;
    *pem = is_made ? agg_alloc(error, (size_t)n + 1, 1) : NULL;
    if (*pem != NULL) memcpy(*pem, bytes, (size_t)n);
    *len = (size_t)n;
    BIO_free(bio);
    EVP_PKEY_free(pkey);
    if (*pem != NULL) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "libcrypto made no key");
}
