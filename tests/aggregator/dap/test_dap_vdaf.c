// SPDX-License-Identifier: Apache-2.0
// What two servers that share nothing but a seed must compute alike, and as the draft has it: a
// task's verification key. Source: draft-ietf-ppm-dap-18 section "VDAF Verification Key
// Requirements"; the digits are of OpenSSL's command `kdf`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "dap_vdaf.h"

static void make_key(uint8_t key[32], uint32_t version, const uint8_t seed[32],
                     const uint8_t id[32])
{
    agg_error error;
    agg_dap_vdaf vdaf;
    shoal_dap_task task = {.version = version,
                           .info_len = 4,
                           .info = "test",
                           .time_precision_s = 3600,
                           .min_batch_size = 10,
                           .vdaf = {SHOAL_CIRCUIT_COUNT, 1, 1, 1, 2, 1}};
    memcpy(task.id, id, sizeof task.id);
    if (agg_dap_vdaf_init(&vdaf, &error, &task, seed) != SHOAL_OK) fail_msg("%s", error.text);
    memcpy(key, vdaf.verify_key, 32);
}

// The library's own HKDF.
static void library_key(uint8_t *key, size_t len, uint8_t seed[32], uint8_t id[32])
{
    char digest[] = "SHA256", salt[] = "verify_key";
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt, strlen(salt)),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, seed, 32),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, id, 32), OSSL_PARAM_construct_end()};
    assert_int_equal(EVP_KDF_derive(context, key, len, parameters), 1);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
}

static void test_verification_key(void **state)
{
    static const uint8_t expected[32] = {0x6d, 0x1c, 0xd7, 0x4c, 0x7c, 0x72, 0x5a, 0xcf,
                                         0xcd, 0xff, 0xff, 0x1d, 0x78, 0x9a, 0x0b, 0xf6,
                                         0x19, 0xdf, 0x17, 0x5a, 0x34, 0xfa, 0x77, 0xd6,
                                         0xcb, 0x5e, 0xd9, 0x4b, 0xbc, 0xb4, 0xa2, 0xec};
    uint8_t seed[32], id[32], key[32], other[32];
    (void)state;
    for (uint8_t i = 0; i < 32; i++) {
        seed[i] = i;
        id[i] = (uint8_t)(0x80 + i);
    }
    make_key(key, SHOAL_DAP_18, seed, id);
    assert_memory_equal(key, expected, sizeof key);
    for (int i = 0; i < 32; i++) {
        seed[i] ^= 0xff;
        id[31 - i] ^= 0x01;
        make_key(key, SHOAL_DAP_18, seed, id);
        library_key(other, sizeof other, seed, id);
        assert_memory_equal(key, other, sizeof key);
    }
    // VDAF-08 takes 16 bytes: those that HKDF gives for a key of that length.
    make_key(key, SHOAL_DAP_09, seed, id);
    library_key(other, 16, seed, id);
    assert_memory_equal(key, other, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verification_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
