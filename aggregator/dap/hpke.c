// SPDX-License-Identifier: Apache-2.0
// HPKE; see hpke.h. RFC 9180 sections 4.1 (DHKEM), 5.1 (key schedule) and 6.1 (one message).
// OpenSSL 3.0, which is enough to build this, has no HPKE of its own. All values that could reveal
// a plaintext or a key are wiped.
#include "hpke.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_file.h"
#include "hpke_private.h"
#include "json_object.h"
#include "json_walk.h"
#include "recipe_json.h"

// ---- HKDF with HPKE's labels ----

static const uint8_t kem_suite[] = {'K', 'E', 'M', 0, SHOAL_DAP_KEM_X25519};
static const uint8_t hpke_suite[] = {
    'H', 'P', 'K', 'E', 0, SHOAL_DAP_KEM_X25519, 0, SHOAL_DAP_KDF_SHA256, 0, SHOAL_DAP_AEAD_AES128};

// The longest message has two bytes of length, "HPKE-v1", a suite, a label, and an info string.
#define MESSAGE_MAX (2 + 7 + sizeof hpke_suite + 16 + AGG_HPKE_INFO + 1)

typedef struct message {
    uint8_t bytes[MESSAGE_MAX];
    size_t len;
} message;

static void put(message *m, const void *bytes, size_t len)
{
    if (len > 0) memcpy(m->bytes + m->len, bytes, len);
    m->len += len;
}

static void put_label(message *m, shoal_bytes suite, const char *label)
{
    put(m, "HPKE-v1", 7);
    put(m, suite.at, suite.len);
    put(m, label, strlen(label));
}

// Returns: false when the library fails. HMAC needs a pointer even for an empty key.
static bool hmac(uint8_t out[32], shoal_bytes key, const message *m)
{
    unsigned len = 0;
    const void *at = key.len > 0 ? (const void *)key.at : "";
    return HMAC(EVP_sha256(), at, (int)key.len, m->bytes, m->len, out, &len) != NULL && len == 32;
}

static bool extract(uint8_t out[32], shoal_bytes salt, shoal_bytes suite, const char *label,
                    shoal_bytes ikm)
{
    message m = {.len = 0};
    put_label(&m, suite, label);
    put(&m, ikm.at, ikm.len);
    bool is_done = hmac(out, salt, &m);
    OPENSSL_cleanse(&m, sizeof m);
    return is_done;
}

// Every output here fits in one block.
//   len: 1 .. 32
static bool expand(uint8_t *out, uint8_t len, const uint8_t prk[32], shoal_bytes suite,
                   const char *label, shoal_bytes info)
{
    static const uint8_t first = 1;
    const uint8_t prefix[2] = {0, len};
    uint8_t block[32];
    message m = {.len = 0};
    put(&m, prefix, 2);
    put_label(&m, suite, label);
    put(&m, info.at, info.len);
    put(&m, &first, 1);
    bool is_done = hmac(block, (shoal_bytes){prk, 32}, &m);
    if (is_done) memcpy(out, block, len);
    OPENSSL_cleanse(block, sizeof block);
    return is_done;
}

// ---- the key schedule ----

typedef struct context {
    uint8_t key[16], nonce[12];
} context;

// Section 5.1 in base mode: there is no pre-shared key, so its fields are empty.
static bool schedule(context *c, const uint8_t shared_secret[32], shoal_bytes info)
{
    static const shoal_bytes none = {NULL, 0};
    const shoal_bytes suite = {hpke_suite, sizeof hpke_suite};
    uint8_t secret[32], about[65] = {0}; // mode_base, hash of the empty key's id, hash of info
    const shoal_bytes all = {about, sizeof about};
    bool is_done = extract(about + 1, none, suite, "psk_id_hash", none) &&
                   extract(about + 33, none, suite, "info_hash", info) &&
                   extract(secret, (shoal_bytes){shared_secret, 32}, suite, "secret", none) &&
                   expand(c->key, sizeof c->key, secret, suite, "key", all) &&
                   expand(c->nonce, sizeof c->nonce, secret, suite, "base_nonce", all);
    OPENSSL_cleanse(secret, sizeof secret);
    return is_done;
}

// ---- DHKEM(X25519, HKDF-SHA256) ----

static bool raw_public(uint8_t out[32], const EVP_PKEY *pkey)
{
    size_t len = 32;
    return EVP_PKEY_get_raw_public_key(pkey, out, &len) == 1 && len == 32;
}

static bool is_all_zero(const uint8_t bytes[32])
{
    unsigned any = 0;
    for (int i = 0; i < 32; i++) any |= bytes[i];
    return any == 0;
}

// Returns: SHOAL_ERR_RANGE for a shared point of zero: with such a key its sender would choose the
// secret.
static agg_err diffie_hellman(uint8_t out[32], EVP_PKEY *own, const uint8_t their_public[32])
{
    EVP_PKEY *their = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, their_public, 32);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(own, NULL);
    size_t len = 32;
    agg_err err = AGG_ERR_MEMORY;
    if (their != NULL && ctx != NULL && EVP_PKEY_derive_init(ctx) == 1 &&
        EVP_PKEY_derive_set_peer(ctx, their) == 1)
        err = EVP_PKEY_derive(ctx, out, &len) == 1 && len == 32 && !is_all_zero(out)
                  ? SHOAL_OK
                  : SHOAL_ERR_RANGE;
    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(their);
    return err;
}

// Derives the KEM's shared secret.
//   dh: the Diffie-Hellman value of the ephemeral key and the recipient's key
//   both: the encapsulated key, then the recipient's public key
static bool kem_secret(uint8_t shared_secret[32], const uint8_t dh[32], const uint8_t both[64])
{
    const shoal_bytes suite = {kem_suite, sizeof kem_suite}, none = {NULL, 0};
    uint8_t prk[32];
    bool is_done = extract(prk, none, suite, "eae_prk", (shoal_bytes){dh, 32}) &&
                   expand(shared_secret, 32, prk, suite, "shared_secret", (shoal_bytes){both, 64});
    OPENSSL_cleanse(prk, sizeof prk);
    return is_done;
}

// Derives the context, as sender and recipient both do.
static agg_err agree(context *c, EVP_PKEY *own, const uint8_t their_public[32],
                     const uint8_t both[64], shoal_bytes info)
{
    uint8_t dh[32], shared_secret[32];
    if (info.len > AGG_HPKE_INFO) return SHOAL_ERR_ARGUMENT;
    agg_err err = diffie_hellman(dh, own, their_public);
    if (err == SHOAL_OK &&
        !(kem_secret(shared_secret, dh, both) && schedule(c, shared_secret, info)))
        err = AGG_ERR_MEMORY;
    OPENSSL_cleanse(dh, sizeof dh);
    OPENSSL_cleanse(shared_secret, sizeof shared_secret);
    return err;
}

// ---- AES-128-GCM ----

static bool is_long(shoal_bytes bytes)
{
    return bytes.len > INT_MAX - AGG_HPKE_TAG;
}

static bool update(EVP_CIPHER_CTX *ctx, uint8_t *out, shoal_bytes in)
{
    int len = 0;
    return in.len == 0 ||
           (EVP_CipherUpdate(ctx, out, &len, in.at, (int)in.len) == 1 && (size_t)len == in.len);
}

static bool encrypt(uint8_t *ciphertext, const context *c, shoal_bytes aad, shoal_bytes plaintext)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int rest = 0;
    bool is_done =
        ctx != NULL && EVP_EncryptInit_ex(ctx, EVP_aes_128_gcm(), NULL, c->key, c->nonce) == 1 &&
        update(ctx, NULL, aad) && update(ctx, ciphertext, plaintext) &&
        EVP_EncryptFinal_ex(ctx, ciphertext + plaintext.len, &rest) == 1 && rest == 0 &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, AGG_HPKE_TAG, ciphertext + plaintext.len) ==
            1;
    EVP_CIPHER_CTX_free(ctx);
    return is_done;
}

// Returns: SHOAL_ERR_RECORD for a wrong tag.
static agg_err decrypt(uint8_t *plaintext, const context *c, shoal_bytes aad,
                       shoal_bytes ciphertext)
{
    const shoal_bytes body = {ciphertext.at, ciphertext.len - AGG_HPKE_TAG};
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    uint8_t tag[AGG_HPKE_TAG];
    int rest = 0;
    memcpy(tag, body.at + body.len, sizeof tag);
    agg_err err = AGG_ERR_MEMORY;
    if (ctx != NULL && EVP_DecryptInit_ex(ctx, EVP_aes_128_gcm(), NULL, c->key, c->nonce) == 1 &&
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, AGG_HPKE_TAG, tag) == 1 &&
        update(ctx, NULL, aad) && update(ctx, plaintext, body))
        err = EVP_DecryptFinal_ex(ctx, tag, &rest) == 1 && rest == 0 ? SHOAL_OK : SHOAL_ERR_RECORD;
    EVP_CIPHER_CTX_free(ctx);
    if (err != SHOAL_OK) OPENSSL_cleanse(plaintext, body.len);
    return err;
}

// ---- sealing and opening ----

static agg_err seal_by(uint8_t enc[32], uint8_t *ciphertext, EVP_PKEY *ephemeral,
                       const uint8_t public_key[32], shoal_bytes info, shoal_bytes aad,
                       shoal_bytes plaintext)
{
    context c = {{0}, {0}};
    uint8_t both[64];
    if (is_long(aad) || is_long(plaintext)) return SHOAL_ERR_ARGUMENT;
    if (ephemeral == NULL || !raw_public(both, ephemeral)) return AGG_ERR_MEMORY;
    memcpy(both + 32, public_key, 32);
    agg_err err = agree(&c, ephemeral, public_key, both, info);
    if (err == SHOAL_OK && !encrypt(ciphertext, &c, aad, plaintext)) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) memcpy(enc, both, 32);
    OPENSSL_cleanse(&c, sizeof c);
    return err;
}

agg_err agg_hpke_seal(uint8_t enc[AGG_HPKE_ENC], uint8_t *ciphertext, const uint8_t public_key[32],
                      shoal_bytes info, shoal_bytes aad, shoal_bytes plaintext)
{
    EVP_PKEY *ephemeral = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    agg_err err = seal_by(enc, ciphertext, ephemeral, public_key, info, aad, plaintext);
    EVP_PKEY_free(ephemeral);
    return err;
}

agg_err agg_hpke_seal_with(uint8_t enc[AGG_HPKE_ENC], uint8_t *ciphertext,
                           const uint8_t ephemeral[32], const uint8_t public_key[32],
                           shoal_bytes info, shoal_bytes aad, shoal_bytes plaintext)
{
    EVP_PKEY *pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, ephemeral, 32);
    agg_err err = seal_by(enc, ciphertext, pkey, public_key, info, aad, plaintext);
    EVP_PKEY_free(pkey);
    return err;
}

static agg_err open_by(uint8_t *plaintext, EVP_PKEY *own, const uint8_t enc[32], shoal_bytes info,
                       shoal_bytes aad, shoal_bytes ciphertext)
{
    context c = {{0}, {0}};
    uint8_t both[64];
    if (own == NULL || !raw_public(both + 32, own)) return AGG_ERR_MEMORY;
    memcpy(both, enc, 32);
    agg_err err = agree(&c, own, enc, both, info);
    // A ciphertext under a key of small order counts as one that nobody sealed.
    if (err == SHOAL_ERR_RANGE) err = SHOAL_ERR_RECORD;
    if (err == SHOAL_OK) err = decrypt(plaintext, &c, aad, ciphertext);
    OPENSSL_cleanse(&c, sizeof c);
    return err;
}

static agg_err open_sealed(uint8_t *plaintext, const uint8_t secret_key[32], const uint8_t enc[32],
                           shoal_bytes info, shoal_bytes aad, shoal_bytes ciphertext)
{
    if (ciphertext.len < AGG_HPKE_TAG) return SHOAL_ERR_TRUNCATED;
    if (is_long(aad) || is_long(ciphertext)) return SHOAL_ERR_ARGUMENT;
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, secret_key, 32);
    agg_err err = open_by(plaintext, own, enc, info, aad, ciphertext);
    EVP_PKEY_free(own);
    if (err != SHOAL_OK) OPENSSL_cleanse(plaintext, ciphertext.len - AGG_HPKE_TAG);
    return err;
}

// The core's errors have no number for memory; see agg_hpke.
static shoal_err core_err(agg_err err)
{
    return err == AGG_ERR_MEMORY ? SHOAL_ERR_SPACE : (shoal_err)err;
}

static shoal_err seal_for_core(void *self, uint8_t enc[32], uint8_t *ciphertext,
                               const uint8_t public_key[32], shoal_bytes info, shoal_bytes aad,
                               shoal_bytes plaintext)
{
    (void)self;
    return core_err(agg_hpke_seal(enc, ciphertext, public_key, info, aad, plaintext));
}

static shoal_err open_for_core(void *self, uint8_t *plaintext, const uint8_t secret_key[32],
                               const uint8_t enc[32], shoal_bytes info, shoal_bytes aad,
                               shoal_bytes ciphertext)
{
    (void)self;
    return core_err(open_sealed(plaintext, secret_key, enc, info, aad, ciphertext));
}

const shoal_dap_sealer *agg_hpke(void)
{
    static const shoal_dap_sealer sealer = {
        .self = NULL, .seal = seal_for_core, .open = open_for_core};
    return &sealer;
}

// ---- keys ----

agg_err agg_hpke_key_new(agg_hpke_key *key, agg_error *error, uint8_t id)
{
    size_t len = 32;
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    bool is_done = pkey != NULL && EVP_PKEY_get_raw_private_key(pkey, key->secret_key, &len) == 1 &&
                   len == 32 && raw_public(key->public_key, pkey);
    EVP_PKEY_free(pkey);
    if (!is_done)
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "libcrypto cannot make a key pair");
    key->id = id;
    key->has_secret = true;
    return SHOAL_OK;
}

// Returns: whether the two halves belong together. A server that advertised a public key without
// its secret half would refuse every report.
static bool is_pair(const agg_hpke_key *key)
{
    uint8_t its_public[32];
    EVP_PKEY *pkey = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, key->secret_key, 32);
    bool is_one = pkey != NULL && raw_public(its_public, pkey) &&
                  memcmp(its_public, key->public_key, 32) == 0;
    EVP_PKEY_free(pkey);
    return is_one;
}

static agg_err read_key(agg_hpke_key *key, agg_error *error, const cJSON *json)
{
    static const char *const kems[] = {"x25519", NULL}, *const kdfs[] = {"hkdf-sha256", NULL},
                             *const aeads[] = {"aes-128-gcm", NULL};
    agg_object o;
    uint64_t id = 0;
    agg_object_begin(&o, error, json, "", "a key file");
    (void)agg_object_whole(&id, &o, "id", 0, 255, AGG_REQUIRED);
    (void)agg_object_word(&o, "kem", kems, AGG_REQUIRED);
    (void)agg_object_word(&o, "kdf", kdfs, AGG_REQUIRED);
    (void)agg_object_word(&o, "aead", aeads, AGG_REQUIRED);
    (void)agg_object_hex(key->public_key, &o, "public_key", 32, AGG_REQUIRED);
    key->has_secret = agg_object_hex(key->secret_key, &o, "secret_key", 32, AGG_OPTIONAL);
    key->id = (uint8_t)id;
    if (o.err == SHOAL_OK && key->has_secret && !is_pair(key))
        (void)agg_object_refuse(&o, SHOAL_ERR_RANGE, "public_key", "is not that of secret_key");
    return agg_object_end(&o);
}

// Wipes the copies of strings that cJSON makes.
static void wipe_json(cJSON *json)
{
    for (cJSON *item = json != NULL ? json->child : NULL; item != NULL; item = item->next)
        if (cJSON_IsString(item)) OPENSSL_cleanse(item->valuestring, strlen(item->valuestring));
    cJSON_Delete(json);
}

static agg_err refuse_readers(agg_error *error, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
        (about.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return SHOAL_OK;
    return agg_fail(
        error, AGG_ERR_IO, AGG_EXIT_PRIVACY,
        "holds a secret key, and others than its owner may read or write it; chmod 600 %s", path);
}

#define KEY_FILE_MAX 4096

agg_err agg_hpke_key_load(agg_hpke_key *key, agg_error *error, const char *path)
{
    agg_bytes bytes;
    *key = (agg_hpke_key){.has_secret = false};
    agg_err err = agg_file_read(&bytes, error, path, KEY_FILE_MAX);
    if (err != SHOAL_OK) return err;
    cJSON *json = agg_json_parse(error, (const char *)bytes.data, bytes.len);
    err = json == NULL ? error->code : read_key(key, error, json);
    if (err == SHOAL_OK && key->has_secret) err = refuse_readers(error, path);
    wipe_json(json);
    OPENSSL_cleanse(bytes.data, bytes.len);
    free(bytes.data);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_hpke_key_wipe(key);
    agg_error_prefix(error, "%s", path);
    return err;
}

static void print_key(FILE *stream, const agg_hpke_key *key, int half)
{
    char hex[65];
    agg_hex(hex, key->public_key, 32);
    fprintf(stream,
            "{\n  \"id\": %u,\n  \"kem\": \"x25519\",\n  \"kdf\": \"hkdf-sha256\",\n  \"aead\": "
            "\"aes-128-gcm\",\n"
            "  \"public_key\": \"%s\"",
            key->id, hex);
    if (half == AGG_HPKE_SECRET) {
        agg_hex(hex, key->secret_key, 32);
        fprintf(stream, ",\n  \"secret_key\": \"%s\"", hex);
        OPENSSL_cleanse(hex, sizeof hex);
    }
    fputs("\n}\n", stream);
}

agg_err agg_hpke_key_save(const agg_hpke_key *key, agg_error *error, const char *path, int half)
{
    agg_file file;
    char buffer[BUFSIZ];
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    // The mode is set before the first byte is written. A device or a pipe keeps its mode.
    bool is_own = file.temporary[0] == '\0' || half == AGG_HPKE_PUBLIC ||
                  fchmod(fileno(file.stream), 0600) == 0;
    setvbuf(file.stream, buffer, _IOFBF, sizeof buffer);
    if (is_own) {
        print_key(file.stream, key, half);
        err = agg_file_commit(&file, error);
    } else {
        err =
            agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot be kept from other readers", path);
        agg_file_abandon(&file);
    }
    OPENSSL_cleanse(buffer, sizeof buffer);
    return err;
}

void agg_hpke_key_wipe(agg_hpke_key *key)
{
    OPENSSL_cleanse(key, sizeof *key);
}

shoal_dap_hpke_config agg_hpke_config(const agg_hpke_key *key)
{
    return (shoal_dap_hpke_config){key->id,
                                   SHOAL_DAP_KEM_X25519,
                                   SHOAL_DAP_KDF_SHA256,
                                   SHOAL_DAP_AEAD_AES128,
                                   {key->public_key, sizeof key->public_key}};
}
