// SPDX-License-Identifier: Apache-2.0
// Signs and verifies recipes; see recipe_signature.h.
#include "recipe_signature.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#ifdef SHOAL_WITH_SIGNATURES
#include <openssl/evp.h>
#include <openssl/pem.h>

bool agg_signature_is_built(void)
{
    return true;
}

static agg_err no_key(agg_error *error, const char *what)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "holds no Ed25519 %s key in PEM%s", what,
                    strcmp(what, "private") == 0 ? " without a passphrase" : "");
}

// Fills the error for a failure of the library itself: it is out of memory, or broken.
static agg_err broken(agg_error *error)
{
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "libcrypto failed");
}

agg_err agg_ed25519_verify(agg_error *error, const uint8_t key[32], const uint8_t signature[64],
                           const uint8_t *bytes, size_t len)
{
    EVP_PKEY *pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, 32);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_ready = pkey != NULL && context != NULL &&
                    EVP_DigestVerifyInit(context, NULL, NULL, NULL, pkey) == 1;
    bool is_good = is_ready && EVP_DigestVerify(context, signature, 64, bytes, len) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pkey);
    if (is_good) return SHOAL_OK;
    if (!is_ready) return broken(error);
    return agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "the signature is bad");
}

// Refuses key files with a passphrase, in place of asking for one on the terminal.
static int no_passphrase(char *out, int cap, int is_writing, void *context)
{
    (void)out, (void)cap, (void)is_writing, (void)context;
    return -1;
}

static EVP_PKEY *read_pem(const char *pem, size_t len, bool is_private)
{
    BIO *bio = len <= 65536 ? BIO_new_mem_buf(pem, (int)len) : NULL;
    EVP_PKEY *pkey = NULL;
    if (bio == NULL) return NULL;
    if (is_private)
        pkey = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    else
        pkey = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    if (pkey == NULL || EVP_PKEY_get_id(pkey) == EVP_PKEY_ED25519) return pkey;
    EVP_PKEY_free(pkey);
    return NULL;
}

static bool raw_public(uint8_t key[32], const EVP_PKEY *pkey)
{
    size_t len = 32;
    return EVP_PKEY_get_raw_public_key(pkey, key, &len) == 1 && len == 32;
}

agg_err agg_ed25519_sign(uint8_t key[32], uint8_t signature[64], agg_error *error, const char *pem,
                         size_t pem_len, const uint8_t *bytes, size_t len)
{
    size_t signature_len = 64;
    EVP_PKEY *pkey = read_pem(pem, pem_len, true);
    if (pkey == NULL) return no_key(error, "private");
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_done = context != NULL && raw_public(key, pkey) &&
                   EVP_DigestSignInit(context, NULL, NULL, NULL, pkey) == 1 &&
                   EVP_DigestSign(context, signature, &signature_len, bytes, len) == 1 &&
                   signature_len == 64;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pkey);
    return is_done ? SHOAL_OK : broken(error);
}

static agg_err public_pem(uint8_t key[32], agg_error *error, const char *pem, size_t len)
{
    EVP_PKEY *pkey = read_pem(pem, len, false);
    bool is_read = pkey != NULL && raw_public(key, pkey);
    EVP_PKEY_free(pkey);
    return is_read ? SHOAL_OK : no_key(error, "public");
}

#else // without a library

bool agg_signature_is_built(void)
{
    return false;
}

static agg_err not_built(agg_error *error)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "signatures are not part of this build");
}

agg_err agg_ed25519_verify(agg_error *error, const uint8_t key[32], const uint8_t signature[64],
                           const uint8_t *bytes, size_t len)
{
    (void)key, (void)signature, (void)bytes, (void)len;
    return not_built(error);
}

agg_err agg_ed25519_sign(uint8_t key[32], uint8_t signature[64], agg_error *error, const char *pem,
                         size_t pem_len, const uint8_t *bytes, size_t len)
{
    (void)key, (void)signature, (void)pem, (void)pem_len, (void)bytes, (void)len;
    return not_built(error);
}

static agg_err public_pem(uint8_t key[32], agg_error *error, const char *pem, size_t len)
{
    (void)key, (void)pem, (void)len;
    return not_built(error);
}

#endif

agg_err agg_ed25519_public(uint8_t key[32], agg_error *error, const char *text, size_t len)
{
    char hex[65] = "";
    if (len == 64 || (len == 65 && text[64] == '\n')) memcpy(hex, text, 64);
    return agg_unhex(key, 32, hex) ? SHOAL_OK : public_pem(key, error, text, len);
}

// ---- recipes ----

static const char title[] = "shoal recipe signature 1\n";
#define SIGNED_MAX (sizeof title - 1 + SHOAL_CANONICAL_MAX)

static agg_err signed_bytes(uint8_t out[SIGNED_MAX], size_t *len, agg_error *error,
                            const agg_recipe *recipe)
{
    memcpy(out, title, sizeof title - 1);
    agg_err err =
        shoal_recipe_signed(out + sizeof title - 1, SHOAL_CANONICAL_MAX, len, recipe->recipe);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_USAGE);
    *len += sizeof title - 1;
    return SHOAL_OK;
}

agg_err agg_recipe_verify(agg_error *error, const agg_recipe *recipe)
{
    uint8_t bytes[SIGNED_MAX];
    size_t len = 0;
    if (!recipe->has_signature)
        return agg_fail(error, AGG_ERR_SIGNATURE, AGG_EXIT_PRIVACY, "is not signed");
    agg_err err = signed_bytes(bytes, &len, error, recipe);
    return err != SHOAL_OK ? err
                           : agg_ed25519_verify(error, recipe->key, recipe->signature, bytes, len);
}

agg_err agg_recipe_sign(agg_recipe *recipe, agg_error *error, const char *pem, size_t pem_len)
{
    uint8_t bytes[SIGNED_MAX];
    size_t len = 0;
    agg_err err = signed_bytes(bytes, &len, error, recipe);
    if (err == SHOAL_OK)
        err = agg_ed25519_sign(recipe->key, recipe->signature, error, pem, pem_len, bytes, len);
    if (err == SHOAL_OK) recipe->has_signature = true;
    return err;
}

// The functions below read a text that was parsed before. It is valid JSON, so they need not look
// for the end of the text.

static const char *after_string(const char *at)
{
    for (at++; *at != '"'; at++) at += *at == '\\';
    return at + 1;
}

// Returns: the comma or closing brace that follows a value on its own level.
static const char *after_value(const char *at)
{
    int depth = 0;
    for (; depth > 0 || (*at != ',' && *at != '}'); at++) {
        if (*at == '"') {
            at = after_string(at) - 1;
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
    }
    return at;
}

// Returns: whether the parser takes the character for white space, as it does every control
// character.
static bool is_space(char c)
{
    return c > 0 && c <= ' ';
}

static const char *skip_space(const char *at)
{
    while (is_space(*at)) at++;
    return at;
}

typedef struct place {
    const char *from, *to; // the bytes that the signature replaces
    bool is_new;
} place;

// Finds the value of `signature`, or the end of the last member.
static place signature_place(const char *json)
{
    static const char name[] = "\"signature\"";
    const char *at = strchr(json, '{');
    do {
        const char *key = skip_space(at + 1), *behind = after_string(key);
        const char *value = skip_space(skip_space(behind) + 1), *end;
        at = end = after_value(value);
        while (is_space(end[-1])) end--;
        if ((size_t)(behind - key) == sizeof name - 1 && memcmp(key, name, sizeof name - 1) == 0)
            return (place){value, end, 0};
        if (*at == '}') return (place){end, end, 1};
    } while (1);
}

char *agg_recipe_signed_text(agg_error *error, const agg_recipe *recipe)
{
    char key[65], signature[129], *text = agg_alloc(error, recipe->json_len + 512, 1);
    if (text == NULL) return NULL;
    place p = signature_place(recipe->json);
    const char *last = recipe->json + recipe->json_len;
    agg_hex(key, recipe->key, sizeof recipe->key);
    agg_hex(signature, recipe->signature, sizeof recipe->signature);
    snprintf(text, recipe->json_len + 512, "%.*s%s{\"key\": \"%s\", \"ed25519\": \"%s\"}%.*s",
             (int)(p.from - recipe->json), recipe->json, p.is_new ? ",\n  \"signature\": " : "",
             key, signature, (int)(last - p.to), p.to);
    return text;
}
