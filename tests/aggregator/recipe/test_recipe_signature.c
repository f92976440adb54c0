// SPDX-License-Identifier: Apache-2.0
// Signatures of recipes: RFC 8032's vectors, a signed file (which wasm/test reads too), every
// flipped bit, malformed members.
#include "agg_test.h"

#include "agg_file.h"
#include "recipe_signature.h"

// RFC 8032, section 7.1, tests 1 to 3. The secret keys are published there, here in PKCS#8.
#define PEM(base64) "-----BEGIN PRIVATE KEY-----\n" base64 "\n-----END PRIVATE KEY-----\n"
typedef struct vector {
    const char *pem, *key, *message, *signature;
} vector;
static const vector vectors[] = {
    {PEM("MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"),
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "46bd25bf5f0595bbe246"
     "55141438e7a100b"},
    {PEM("MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7"),
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d8c387b2eaeb4302aeeb"
     "00d291612bb0c00"},
    {PEM("MC4CAQAwBQYDK2VwBCIEIMWqjfQ/n4N77bdELzHct7Fm04U1B28JS4XOOi4LRFj3"),
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6594a7c15e9716ed28dc"
     "027beceea1ec40a"},
};

static void the_vectors_of_rfc_8032(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const vector *v = &vectors[i];
        uint8_t key[32], wanted[64], signature[64], message[2], public_key[32];
        size_t len = strlen(v->message) / 2;
        assert_true(agg_unhex(message, len, v->message) && agg_unhex(wanted, 64, v->signature));
        assert_ok(agg_ed25519_sign(key, signature, NULL, v->pem, strlen(v->pem), message, len));
        assert_ok(agg_ed25519_public(public_key, NULL, v->key, 64));
        assert_memory_equal(key, public_key, 32);
        assert_memory_equal(signature, wanted, 64);
        assert_ok(agg_ed25519_verify(NULL, key, signature, message, len));
        assert_err(agg_ed25519_verify(NULL, key, signature, (const uint8_t *)"another", 7),
                   AGG_ERR_SIGNATURE);
    }
}

// S and S + L (the group's order) would both pass a careless verifier; RFC 8032, 5.1.7 demands the
// smaller.
static void a_signature_has_one_form(void **state)
{
    static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                      0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
                                      0,    0,    0,    0,    0,    0,    0,    0,
                                      0,    0,    0,    0,    0,    0,    0,    0x10};
    uint8_t key[32], signature[64];
    unsigned carry = 0;
    (void)state;
    assert_true(agg_unhex(key, 32, vectors[0].key) &&
                agg_unhex(signature, 64, vectors[0].signature));
    assert_ok(agg_ed25519_verify(NULL, key, signature, NULL, 0));
    for (int i = 0; i < 32; i++) {
        carry += (unsigned)signature[32 + i] + order[i];
        signature[32 + i] = (uint8_t)carry;
        carry >>= 8;
    }
    assert_int_equal(carry, 0);
    assert_err(agg_ed25519_verify(NULL, key, signature, NULL, 0), AGG_ERR_SIGNATURE);
}

static void read_signed(agg_recipe *recipe)
{
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_recipe_from_file(recipe, &error, "aggregator/golden/signed.json") != SHOAL_OK)
        fail_msg("%s", error.text);
}

static void every_flipped_bit_is_refused(void **state)
{
    agg_recipe recipe;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    read_signed(&recipe);
    assert_ok(agg_recipe_verify(&error, &recipe));
    for (size_t i = 0; i < 8 * sizeof recipe.key; i++) {
        recipe.key[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_err(agg_recipe_verify(&error, &recipe), AGG_ERR_SIGNATURE);
        recipe.key[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < 8 * sizeof recipe.signature; i++) {
        recipe.signature[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_err(agg_recipe_verify(&error, &recipe), AGG_ERR_SIGNATURE);
        recipe.signature[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    assert_ok(agg_recipe_verify(&error, &recipe));
    recipe.has_signature = false;
    assert_err(agg_recipe_verify(&error, &recipe), AGG_ERR_SIGNATURE);
    agg_recipe_release(&recipe);
}

// What is signed is the title and the canonical bytes: spelt out here, so that a signature of today
// verifies for ever.
static void what_is_signed(void **state)
{
    uint8_t bytes[25 + SHOAL_CANONICAL_MAX] = "shoal recipe signature 1\n";
    size_t len = 0;
    agg_recipe recipe;
    (void)state;
    read_signed(&recipe);
    assert_ok(shoal_recipe_signed(bytes + 25, SHOAL_CANONICAL_MAX, &len, &recipe.recipe));
    assert_ok(agg_ed25519_verify(NULL, recipe.key, recipe.signature, bytes, 25 + len));
    for (size_t i = 0; i < 25 + len; i++) {
        bytes[i] ^= 1;
        assert_err(agg_ed25519_verify(NULL, recipe.key, recipe.signature, bytes, 25 + len),
                   AGG_ERR_SIGNATURE);
        bytes[i] ^= 1;
    }
    agg_recipe_release(&recipe);
}

static void expect_signed(const char *before, const char *head, const char *tail)
{
    agg_recipe recipe;
    read_recipe(&recipe, before);
    assert_ok(agg_recipe_sign(&recipe, NULL, vectors[0].pem, strlen(vectors[0].pem)));
    char *text = agg_recipe_signed_text(NULL, &recipe), hash[65];
    assert_non_null(text);
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    assert_string_equal(text + strlen(text) - strlen(tail), tail);
    memcpy(hash, recipe.hash_hex, sizeof hash);
    agg_recipe_release(&recipe);
    read_recipe(&recipe, text);
    assert_ok(agg_recipe_verify(NULL, &recipe));
    assert_string_equal(recipe.hash_hex, hash);
    agg_recipe_release(&recipe);
    free(text);
}

#define SIGNATURE_OF(key, ed25519) "{\"key\":\"" key "\",\"ed25519\":\"" ed25519 "\"}"
#define HEX64 AGG_TEST_SEED
#define HEX128 AGG_TEST_SEED AGG_TEST_SEED
#define MEMBERS                                                                                    \
    "\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\",\"mechanism\":"       \
    "\"onehot-asymmetric\","                                                                       \
    "\"parameters\":{\"epsilon\":4,\"values\":[\"a\\\"}\",\"\\\\\",\"signature\"]},\"limit\":{"    \
    "\"per_day\":1},"                                                                              \
    "\"expires\":\"2030-01-01\""

static void signing_keeps_the_rest_of_the_text(void **state)
{
    (void)state;
    expect_signed("{" MEMBERS "}", "{" MEMBERS ",\n  \"signature\": {\"key\": \"d75a", "\"}}");
    expect_signed(" {" MEMBERS " \n}\n\n", " {" MEMBERS ",\n  \"signature\": {", "\"} \n}\n\n");
    expect_signed("{" MEMBERS " , \"signature\" :\n" SIGNATURE_OF(HEX64, HEX128) "\t}",
                  "{" MEMBERS " , \"signature\" :\n{\"key\": \"d75a", "\"}\t}");
    expect_signed("{\"signature\":" SIGNATURE_OF(HEX64, HEX128) "," MEMBERS "}",
                  "{\"signature\":{\"key\": \"d75a", "\"}," MEMBERS "}");
}

typedef struct bad_signature {
    const char *value;
    agg_err err;
    const char *says;
} bad_signature;

static void malformed_signatures_are_refused(void **state)
{
    static const bad_signature table[] = {
        {"1", SHOAL_ERR_TYPE, "signature must hold"},
        {"null", SHOAL_ERR_TYPE, "signature must hold"},
        {"[]", SHOAL_ERR_TYPE, "signature must hold"},
        {"{}", SHOAL_ERR_MISSING_FIELD, "signature.key"},
        {"{\"key\":\"" HEX64 "\"}", SHOAL_ERR_MISSING_FIELD, "signature.ed25519"},
        {"{\"ed25519\":\"" HEX128 "\"}", SHOAL_ERR_MISSING_FIELD, "signature.key"},
        {SIGNATURE_OF(HEX64 "0", HEX128), SHOAL_ERR_TYPE, "signature.key"},
        {SIGNATURE_OF(HEX128, HEX128), SHOAL_ERR_TYPE, "signature.key"},
        {SIGNATURE_OF(HEX64, HEX64), SHOAL_ERR_TYPE, "signature.ed25519"},
        {SIGNATURE_OF(HEX64, HEX128 "00"), SHOAL_ERR_TYPE, "signature.ed25519"},
        {SIGNATURE_OF("A0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", HEX128),
         SHOAL_ERR_TYPE, "signature.key must be 64 lower-case hex digits"},
        {SIGNATURE_OF("g0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", HEX128),
         SHOAL_ERR_TYPE, "signature.key"},
        {"{\"key\":7,\"ed25519\":\"" HEX128 "\"}", SHOAL_ERR_TYPE, "signature.key"},
        {"{\"key\":\"" HEX64 "\",\"key\":\"" HEX64 "\",\"ed25519\":\"" HEX128 "\"}",
         SHOAL_ERR_DUPLICATE, "signature.key"},
        {"{\"key\":\"" HEX64 "\",\"ed25519\":\"" HEX128 "\",\"by\":1}", SHOAL_ERR_UNKNOWN_FIELD,
         "signature.by"},
        {SIGNATURE_OF(HEX64, HEX128) ",\"signature\":" SIGNATURE_OF(HEX64, HEX128),
         SHOAL_ERR_DUPLICATE, "signature"},
    };
    char text[2048];
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        agg_recipe recipe;
        agg_error error = {SHOAL_OK, 0, ""};
        snprintf(text, sizeof text, "{" MEMBERS ",\"signature\":%s}", table[i].value);
        assert_err(agg_recipe_from_bytes(&recipe, &error, "test", text, strlen(text)),
                   table[i].err);
        if (strstr(error.text, table[i].says) == NULL)
            fail_msg("%s: %s", table[i].says, error.text);
        assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
    }
}

// A field of the name elsewhere is as unknown as it was.
static void only_at_the_top(void **state)
{
    char text[1024];
    agg_recipe recipe;
    (void)state;
    onehot_text(text, 4, "\"size\":3,\"signature\":" SIGNATURE_OF(HEX64, HEX128), "");
    assert_err(agg_recipe_from_bytes(&recipe, NULL, "test", text, strlen(text)),
               SHOAL_ERR_UNKNOWN_FIELD);
}

static void other_keys_are_refused(void **state)
{
    uint8_t key[32], signature[64];
    static const char *const bad[] = {
        "", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        PEM("MC4CAQAwBQYDK2VuBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g")}; // the last:
                                                                                  // X25519
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_err(agg_ed25519_sign(key, signature, NULL, bad[i], strlen(bad[i]), NULL, 0),
                   AGG_ERR_USAGE);
        assert_err(agg_ed25519_public(key, NULL, bad[i], strlen(bad[i])), AGG_ERR_USAGE);
    }
    assert_err(agg_ed25519_public(key, NULL, vectors[0].pem, strlen(vectors[0].pem)),
               AGG_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_rfc_8032),
        cmocka_unit_test(a_signature_has_one_form),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(what_is_signed),
        cmocka_unit_test(signing_keeps_the_rest_of_the_text),
        cmocka_unit_test(malformed_signatures_are_refused),
        cmocka_unit_test(only_at_the_top),
        cmocka_unit_test(other_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
