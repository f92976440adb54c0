// SPDX-License-Identifier: Apache-2.0
// HPKE: RFC 9180 A.1.1 (vectors/hpke of the folder that SHOAL_SHARED names), what must not open,
// keys of small order, key files.
#include "agg_test.h"

#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg_file.h"
#include "hpke.h"
#include "hpke_private.h"
#include "json_walk.h"

#define BYTES(text)                                                                                \
    (shoal_bytes)                                                                                  \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

// ---- the vector ----

static size_t member_bytes(uint8_t *out, size_t cap, const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!cJSON_IsString(item)) fail_msg("no %s in the vector", name);
    size_t len = strlen(item->valuestring) / 2;
    if (len > cap || !agg_unhex(out, len, item->valuestring))
        fail_msg("%s of the vector is no hex", name);
    return len;
}

static cJSON *read_vector(void)
{
    const char *shared = getenv("SHOAL_SHARED"), *required = getenv("SHOAL_REQUIRE_SHARED");
    char path[1024];
    agg_bytes bytes;
    snprintf(path, sizeof path, "%s/vectors/hpke/rfc9180_a1_1_base_x25519_sha256_aes128gcm.json",
             shared == NULL ? "" : shared);
    if (shared == NULL || agg_file_read(&bytes, NULL, path, 1 << 20) != SHOAL_OK) {
        if (required != NULL && strcmp(required, "1") == 0)
            fail_msg("no vectors/hpke in SHOAL_SHARED");
        fputs("SKIPPED: the vector of RFC 9180 is not there; SHOAL_SHARED names its folder\n",
              stderr);
        return NULL;
    }
    cJSON *json = agg_json_parse(NULL, (const char *)bytes.data, bytes.len);
    free(bytes.data);
    assert_non_null(json);
    return json;
}

static void the_vector_of_rfc_9180(void **state)
{
    uint8_t sk_e[32], sk_r[32], pk_r[32], wanted_enc[32], info[64], aad[64], pt[64], wanted[96];
    uint8_t enc[32], ct[96], opened[64];
    (void)state;
    cJSON *json = read_vector();
    if (json == NULL) return;
    const cJSON *first = cJSON_GetObjectItemCaseSensitive(json, "encryptions")
                             ->child; // the one of sequence number 0
    assert_int_equal(member_bytes(sk_e, 32, json, "skEm"), 32);
    assert_int_equal(member_bytes(sk_r, 32, json, "skRm"), 32);
    assert_int_equal(member_bytes(pk_r, 32, json, "pkRm"), 32);
    assert_int_equal(member_bytes(wanted_enc, 32, json, "enc"), 32);
    const shoal_bytes info_of = {info, member_bytes(info, sizeof info, json, "info")};
    const shoal_bytes aad_of = {aad, member_bytes(aad, sizeof aad, first, "aad")};
    const shoal_bytes pt_of = {pt, member_bytes(pt, sizeof pt, first, "pt")};
    assert_int_equal(member_bytes(wanted, sizeof wanted, first, "ct"), pt_of.len + AGG_HPKE_TAG);
    cJSON_Delete(json);

    assert_ok(agg_hpke_seal_with(enc, ct, sk_e, pk_r, info_of, aad_of, pt_of));
    assert_memory_equal(enc, wanted_enc, 32);
    assert_memory_equal(ct, wanted, pt_of.len + AGG_HPKE_TAG);
    const shoal_bytes ct_of = {wanted, pt_of.len + AGG_HPKE_TAG};
    assert_ok(agg_hpke()->open(NULL, opened, sk_r, wanted_enc, info_of, aad_of, ct_of));
    assert_memory_equal(opened, pt, pt_of.len);
}

// ---- what opens and what does not ----

static void what_is_sealed_opens(void **state)
{
    static const size_t lengths[] = {0, 1, 15, 16, 17, 1000, 70000};
    agg_hpke_key key;
    (void)state;
    assert_ok(agg_hpke_key_new(&key, NULL, 7));
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t len = lengths[i];
        uint8_t enc[32], other_enc[32];
        uint8_t *plain = malloc(len + 1), *sealed = malloc(len + AGG_HPKE_TAG),
                *opened = malloc(len + 1);
        assert_true(plain != NULL && sealed != NULL && opened != NULL);
        for (size_t j = 0; j < len; j++) plain[j] = (uint8_t)(j * 31 + len);
        const shoal_bytes plaintext = {plain, len}, ciphertext = {sealed, len + AGG_HPKE_TAG},
                          none = {NULL, 0};
        assert_ok(agg_hpke()->seal(NULL, enc, sealed, key.public_key, BYTES("info"), plaintext,
                                   plaintext));
        assert_ok(agg_hpke()->open(NULL, opened, key.secret_key, enc, BYTES("info"), plaintext,
                                   ciphertext));
        assert_memory_equal(opened, plain, len);
        assert_ok(agg_hpke()->seal(NULL, other_enc, sealed, key.public_key, none, none, plaintext));
        assert_ok(
            agg_hpke()->open(NULL, opened, key.secret_key, other_enc, none, none, ciphertext));
        assert_memory_equal(opened, plain, len);
        assert_memory_not_equal(enc, other_enc, 32); // another key for every message
        free(plain);
        free(sealed);
        free(opened);
    }
}

typedef struct sealed {
    agg_hpke_key key;
    uint8_t enc[32], ciphertext[11 + AGG_HPKE_TAG];
} sealed;

static const shoal_bytes the_info = {(const uint8_t *)"some info", 9},
                         the_aad = {(const uint8_t *)"some aad", 8};

static void seal_once(sealed *s)
{
    assert_ok(agg_hpke_key_new(&s->key, NULL, 1));
    assert_ok(agg_hpke()->seal(NULL, s->enc, s->ciphertext, s->key.public_key, the_info, the_aad,
                               BYTES("eleven long")));
}

// Refused, and nothing of the plaintext is given out.
static void assert_closed(const sealed *s, shoal_bytes info, shoal_bytes aad, size_t len)
{
    static const uint8_t zeros[11];
    uint8_t plaintext[11];
    memset(plaintext, 0xaa, sizeof plaintext);
    assert_err(agg_hpke()->open(NULL, plaintext, s->key.secret_key, s->enc, info, aad,
                                (shoal_bytes){s->ciphertext, len}),
               SHOAL_ERR_RECORD);
    assert_memory_equal(plaintext, zeros, len - AGG_HPKE_TAG);
}

static void what_was_not_sealed_so_stays_closed(void **state)
{
    sealed s, other;
    uint8_t plaintext[11];
    const size_t len = sizeof s.ciphertext;
    (void)state;
    seal_once(&s);
    assert_ok(agg_hpke()->open(NULL, plaintext, s.key.secret_key, s.enc, the_info, the_aad,
                               (shoal_bytes){s.ciphertext, len}));
    assert_memory_equal(plaintext, "eleven long", 11);

    assert_closed(&s, BYTES("some infO"), the_aad, len);
    assert_closed(&s, BYTES("some inf"), the_aad, len);
    assert_closed(&s, BYTES(""), the_aad, len);
    assert_closed(&s, the_info, BYTES("some aaD"), len);
    assert_closed(&s, the_info, BYTES(""), len);
    assert_closed(&s, the_aad, the_info, len);
    for (size_t shorter = AGG_HPKE_TAG; shorter < len; shorter++)
        assert_closed(&s, the_info, the_aad, shorter);
    for (size_t shorter = 0; shorter < AGG_HPKE_TAG; shorter++)
        assert_err(agg_hpke()->open(NULL, plaintext, s.key.secret_key, s.enc, the_info, the_aad,
                                    (shoal_bytes){s.ciphertext, shorter}),
                   SHOAL_ERR_TRUNCATED);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        s.ciphertext[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_closed(&s, the_info, the_aad, len);
        s.ciphertext[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    // The curve ignores the last bit of a key; the schedule does not.
    for (size_t bit = 0; bit < 8 * sizeof s.enc; bit++) {
        s.enc[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_closed(&s, the_info, the_aad, len);
        s.enc[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    seal_once(&other);
    memcpy(s.key.secret_key, other.key.secret_key, 32);
    assert_closed(&s, the_info, the_aad, len);
}

// Points of order 1, 2, 4 and 8 (RFC 7748 section 6.1): with them the shared secret would be zero.
static void keys_of_small_order_are_refused(void **state)
{
    static const char *const points[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };
    sealed s;
    uint8_t point[32], enc[32], out[64];
    (void)state;
    seal_once(&s);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        assert_true(agg_unhex(point, 32, points[i]));
        assert_err(agg_hpke()->seal(NULL, enc, out, point, the_info, the_aad, BYTES("secret")),
                   SHOAL_ERR_RANGE);
        memcpy(s.enc, point, 32);
        assert_closed(&s, the_info, the_aad, sizeof s.ciphertext);
    }
}

static void an_info_beyond_the_limit_is_refused(void **state)
{
    static const uint8_t info[AGG_HPKE_INFO + 1];
    sealed s;
    uint8_t enc[32], out[64], plain[8];
    (void)state;
    seal_once(&s);
    const shoal_bytes most = {info, AGG_HPKE_INFO}, more = {info, AGG_HPKE_INFO + 1};
    assert_ok(agg_hpke()->seal(NULL, enc, out, s.key.public_key, most, the_aad, BYTES("secret")));
    assert_ok(agg_hpke()->open(NULL, plain, s.key.secret_key, enc, most, the_aad,
                               (shoal_bytes){out, 22}));
    assert_err(agg_hpke()->seal(NULL, enc, out, s.key.public_key, more, the_aad, BYTES("secret")),
               SHOAL_ERR_ARGUMENT);
    assert_err(
        agg_hpke()->open(NULL, plain, s.key.secret_key, enc, more, the_aad, (shoal_bytes){out, 22}),
        SHOAL_ERR_ARGUMENT);
}

// ---- a library without memory ----

static long allocations_left = -1; // -1: no limit

static int may_allocate(void)
{
    if (allocations_left < 0) return 1;
    if (allocations_left == 0) return 0;
    allocations_left--;
    return 1;
}

static void *limited_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return may_allocate() ? malloc(size) : NULL;
}

static void *limited_realloc(void *at, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return may_allocate() ? realloc(at, size) : NULL;
}

static void unlimited_free(void *at, const char *file, int line)
{
    (void)file;
    (void)line;
    free(at);
}

// Fails every allocation of libcrypto from the n-th on, for each n until all succeed.
static void a_library_without_memory_fails_closed(void **state)
{
    static const uint8_t zeros[11];
    sealed s;
    uint8_t enc[32], out[11 + AGG_HPKE_TAG], plain[11];
    unsigned n_memory = 0, n_space = 0;
    int is_done = 0;
    (void)state;
    seal_once(&s); // libcrypto has what it keeps for ever
    for (long n = 0; !is_done; n++) {
        assert_true(n < 10000);
        allocations_left = n;
        agg_err sealed_by =
            agg_hpke_seal(enc, out, s.key.public_key, the_info, the_aad, BYTES("eleven long"));
        allocations_left = n;
        agg_err by_core = agg_hpke()->seal(NULL, enc, out, s.key.public_key, the_info, the_aad,
                                           BYTES("eleven long"));
        memset(plain, 0xaa, sizeof plain);
        allocations_left = n;
        agg_err opened = agg_hpke()->open(NULL, plain, s.key.secret_key, s.enc, the_info, the_aad,
                                          (shoal_bytes){s.ciphertext, sizeof s.ciphertext});
        allocations_left = -1;
        n_memory += sealed_by == AGG_ERR_MEMORY;
        n_space += by_core == SHOAL_ERR_SPACE || opened == SHOAL_ERR_SPACE;
        assert_true(by_core < AGG_ERR_IO && opened < AGG_ERR_IO); // the core's numbers alone
        assert_memory_equal(plain, opened == SHOAL_OK ? (const void *)"eleven long" : zeros, 11);
        is_done = sealed_by == SHOAL_OK && by_core == SHOAL_OK && opened == SHOAL_OK;
    }
    assert_true(n_memory > 10 && n_space > 10);
}

// ---- key files ----

static char folder[] = "/tmp/shoal-hpke-XXXXXX";
static char secret_path[64], public_path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(secret_path, sizeof secret_path, "%s/secret.json", folder);
    snprintf(public_path, sizeof public_path, "%s/public.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(secret_path);
    unlink(public_path);
    return rmdir(folder);
}

static void key_files_are_read_as_they_were_written(void **state)
{
    agg_hpke_key key, read;
    struct stat about;
    (void)state;
    assert_ok(agg_hpke_key_new(&key, NULL, 255));
    mode_t mask = umask(0); // what is secret does not hang on it
    assert_ok(agg_hpke_key_save(&key, NULL, secret_path, AGG_HPKE_SECRET));
    assert_ok(agg_hpke_key_save(&key, NULL, public_path, AGG_HPKE_PUBLIC));
    umask(mask);
    assert_int_equal(stat(secret_path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);

    assert_ok(agg_hpke_key_load(&read, NULL, secret_path));
    assert_true(read.has_secret && read.id == 255);
    assert_memory_equal(read.public_key, key.public_key, 32);
    assert_memory_equal(read.secret_key, key.secret_key, 32);
    assert_int_equal(chmod(public_path, 0644), 0);
    assert_ok(agg_hpke_key_load(&read, NULL, public_path));
    assert_true(!read.has_secret && read.id == 255);
    assert_memory_equal(read.public_key, key.public_key, 32);
    assert_memory_not_equal(read.secret_key, key.secret_key, 32);
    const shoal_dap_hpke_config config = agg_hpke_config(&key);
    assert_true(config.id == 255 && config.kem == 0x20 && config.kdf == 1 && config.aead == 1);
    assert_ptr_equal(config.public_key.at, key.public_key);
}

static void a_secret_that_others_may_read_is_refused(void **state)
{
    static const mode_t open_modes[] = {0640, 0604, 0620, 0602, 0644};
    agg_error error = {SHOAL_OK, 0, ""};
    agg_hpke_key key;
    (void)state;
    assert_ok(agg_hpke_key_new(&key, NULL, 1));
    assert_ok(agg_hpke_key_save(&key, NULL, secret_path, AGG_HPKE_SECRET));
    for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
        assert_int_equal(chmod(secret_path, open_modes[i]), 0);
        assert_err(agg_hpke_key_load(&key, &error, secret_path), AGG_ERR_IO);
        assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
        assert_non_null(strstr(error.text, "chmod 600"));
        assert_false(key.has_secret); // nothing of it is left in memory
    }
    assert_int_equal(chmod(secret_path, 0400), 0);
    assert_ok(agg_hpke_key_load(&key, &error, secret_path));
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

#define SECRET "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"
#define PUBLIC "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d"
#define SUITE "\"kem\":\"x25519\",\"kdf\":\"hkdf-sha256\",\"aead\":\"aes-128-gcm\","

static void malformed_key_files_are_refused_by_name(void **state)
{
    static const struct {
        const char *text, *says;
    } files[] = {
        {"{\"id\":256," SUITE "\"public_key\":\"" PUBLIC "\"}",
         "id must be a whole number of 0 to 255"},
        {"{\"id\":1.5," SUITE "\"public_key\":\"" PUBLIC "\"}", "id must be a whole number"},
        {"{" SUITE "\"public_key\":\"" PUBLIC "\"}", "id is missing"},
        {"{\"id\":1,\"id\":1," SUITE "\"public_key\":\"" PUBLIC "\"}", "id is given twice"},
        {"{\"id\":1," SUITE "\"public_key\":\"" PUBLIC "\",\"more\":1}", "more is not known"},
        {"{\"id\":1," SUITE "\"secret_key\":\"" SECRET "\"}", "public_key is missing"},
        {"{\"id\":1," SUITE "\"public_key\":\"3948\"}",
         "public_key must be 64 lower-case hex digits"},
        {"{\"id\":1,\"kem\":\"p256\",\"kdf\":\"hkdf-sha256\",\"aead\":\"aes-128-gcm\",\"public_"
         "key\":\"" PUBLIC "\"}",
         "kem must be x25519"},
        {"{\"id\":1," SUITE "\"public_key\":\"" SECRET "\",\"secret_key\":\"" SECRET "\"}",
         "public_key is not that of secret_key"},
        {"[]", "a key file must be a JSON object"},
        {"{\"id\":1,", "is not JSON"},
    };
    agg_hpke_key key;
    (void)state;
    write_text(secret_path,
               "{\"id\":1," SUITE "\"public_key\":\"" PUBLIC "\",\"secret_key\":\"" SECRET "\"}");
    assert_ok(agg_hpke_key_load(&key, NULL, secret_path));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        agg_error error = {SHOAL_OK, 0, ""};
        write_text(secret_path, files[i].text);
        assert_int_not_equal(agg_hpke_key_load(&key, &error, secret_path), SHOAL_OK);
        if (strstr(error.text, files[i].says) == NULL)
            fail_msg("\"%s\" does not say: %s", error.text, files[i].says);
        assert_non_null(strstr(error.text, secret_path));
        assert_null(strstr(error.text, SECRET));
        assert_false(key.has_secret);
    }
}

int main(void)
{
    if (CRYPTO_set_mem_functions(limited_malloc, limited_realloc, unlimited_free) != 1) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_of_rfc_9180),
        cmocka_unit_test(what_is_sealed_opens),
        cmocka_unit_test(what_was_not_sealed_so_stays_closed),
        cmocka_unit_test(keys_of_small_order_are_refused),
        cmocka_unit_test(an_info_beyond_the_limit_is_refused),
        cmocka_unit_test(a_library_without_memory_fails_closed),
        cmocka_unit_test(key_files_are_read_as_they_were_written),
        cmocka_unit_test(a_secret_that_others_may_read_is_refused),
        cmocka_unit_test(malformed_key_files_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
