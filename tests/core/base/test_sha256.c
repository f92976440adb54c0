// SPDX-License-Identifier: Apache-2.0
// SHA-256 against FIPS 180-4's examples (NIST CSRC, "SHA256.pdf") and every way to cut the input.
#include "sha256.h"

#include <string.h>

#include "check.h"

static void digest_of(uint8_t digest[32], const char *text, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)text, len);
    shoal_sha256_final(digest, &sha);
}

static int is_hex(const uint8_t digest[32], const char *hex)
{
    for (int i = 0; i < 64; i++) {
        int nibble = digest[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15;
        if ("0123456789abcdef"[nibble] != hex[i]) return 0;
    }
    return 1;
}

int main(void)
{
    uint8_t digest[32], other[32];
    static char text[1000];
    digest_of(digest, "", 0);
    CHECK(is_hex(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    digest_of(digest, "abc", 3);
    CHECK(is_hex(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    digest_of(digest, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    CHECK(is_hex(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    for (int i = 0; i < 1000; i++) text[i] = 'a';
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    for (int i = 0; i < 1000; i++) shoal_sha256_update(&sha, (const uint8_t *)text, 1000);
    shoal_sha256_final(digest, &sha);
    CHECK(is_hex(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
    for (size_t len = 0; len < 200; len++) {
        digest_of(digest, text, len);
        for (size_t cut = 0; cut <= len; cut += 13) {
            shoal_sha256_init(&sha);
            shoal_sha256_update(&sha, (const uint8_t *)text, cut);
            shoal_sha256_update(&sha, (const uint8_t *)text + cut, len - cut);
            shoal_sha256_final(other, &sha);
            CHECK(memcmp(digest, other, 32) == 0);
        }
    }
    return check_summary();
}
