// SPDX-License-Identifier: Apache-2.0
// TurboSHAKE128 against the vectors of RFC 9861 section 5, in pieces of every kind
// and by every instruction set that the machine has;
// XofTurboShake128 against the draft's.
#include "turboshake.h"

#include "field128.h"
#include "json_scan.h"
#include "prio_cpu.h"
#include "xof.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#include "field_vector.h"

static size_t bytes_of(uint8_t *bytes, const char *hex)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)strtoul((const char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    return n;
}

// ptn(n) of the RFC: 00 01 .. fa, again and again.
static const struct {
    size_t pattern, skip;
    uint8_t domain;
    const char *output;
} patterns[] = {
    {0, 0, 0x1f,
     "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c3e8ccae2a4dae56c84a04c2385c03"
     "c15e8193bdf587373633"
     "2"
     "1691c05462c8df"},
    {0, 10000, 0x1f, "a3b9b0385900ce761f22aed548e754da10a5242d62e8c658e3f3a923a7555607"},
    {1, 0, 0x1f, "55cedd6f60af7bb29a4042ae832ef3f58db7299f893ebb9247247d856958daa9"},
    {17, 0, 0x1f, "9c97d036a3bac819db70ede0ca554ec6e4c2a1a4ffbfd9ec269ca6a111161233"},
    {17 * 17, 0, 0x1f, "96c77c279e0126f7fc07c9b07f5cdae1e0be60bdbe10620040e75d7223a624d2"},
    {17 * 17 * 17, 0, 0x1f, "d4976eb56bcf118520582b709f73e1d6853e001fdaf80e1b13e0d0599d5fb372"},
};

static void matches_rfc(size_t piece, uint32_t cpu)
{
    static uint8_t message[17 * 17 * 17], out[10100], expected[64];
    for (size_t i = 0; i < sizeof message; i++) message[i] = (uint8_t)(i % 251);
    for (size_t v = 0; v < sizeof patterns / sizeof patterns[0]; v++) {
        shoal_turboshake sponge;
        size_t len = bytes_of(expected, patterns[v].output), all = patterns[v].skip + len;
        shoal_turboshake_init(&sponge);
        sponge.cpu = cpu;
        for (size_t at = 0; at < patterns[v].pattern; at += piece) {
            size_t left = patterns[v].pattern - at;
            shoal_turboshake_absorb(&sponge, message + at, left < piece ? left : piece);
        }
        shoal_turboshake_end(&sponge, patterns[v].domain);
        for (size_t at = 0; at < all; at += piece)
            shoal_turboshake_squeeze(out + at, all - at < piece ? all - at : piece, &sponge);
        CHECK(memcmp(out + patterns[v].skip, expected, len) == 0);
    }
}

// The domain byte counts, also where it and the closing bit fall into one byte.
static void domain_counts(void)
{
    uint8_t message[SHOAL_TURBOSHAKE128_RATE] = {0}, out[3][32];
    for (size_t len = 160; len <= sizeof message; len++) {
        for (uint8_t domain = 1; domain <= 3; domain++) {
            shoal_turboshake sponge;
            shoal_turboshake_init(&sponge);
            shoal_turboshake_absorb(&sponge, message, len);
            shoal_turboshake_end(&sponge, domain);
            shoal_turboshake_squeeze(out[domain - 1], 32, &sponge);
        }
        CHECK(memcmp(out[0], out[1], 32) != 0 && memcmp(out[1], out[2], 32) != 0);
    }
}

static void matches_xof_vector(void)
{
    static char file[8192];
    static uint8_t seed[64], dst[64], binder[64], expected[1024], out[1024];
    const char *json = scan_shared(file, sizeof file, "vectors/XofTurboShake128.json");
    if (json == NULL) return;
    size_t seed_len = scan_hex(seed, sizeof seed, scan_member(json, "seed"));
    size_t dst_len = scan_hex(dst, sizeof dst, scan_member(json, "dst"));
    size_t binder_len = scan_hex(binder, sizeof binder, scan_member(json, "binder"));
    size_t n = (size_t)scan_number(scan_member(json, "length"));
    for (size_t cut = 0; cut <= dst_len; cut++) { // the tag's two strings are one
        shoal_xof xof;
        CHECK(shoal_xof_init(&xof, seed, seed_len, dst, cut, dst + cut, dst_len - cut) == SHOAL_OK);
        shoal_xof_absorb(&xof, binder, cut % binder_len);
        shoal_xof_absorb(&xof, binder + cut % binder_len, binder_len - cut % binder_len);
        shoal_xof_squeeze(out, 32, &xof);
        CHECK(scan_hex(expected, sizeof expected, scan_member(json, "derived_seed")) == 32);
        CHECK(memcmp(out, expected, 32) == 0);
    }
    FE vector[64];
    shoal_xof xof;
    CHECK(n == 40 && shoal_xof_init(&xof, seed, seed_len, dst, dst_len, dst, 0) == SHOAL_OK);
    shoal_xof_absorb(&xof, binder, binder_len);
    F(vector_expand)(vector, n, &xof);
    F(vector_store)(out, vector, n);
    CHECK(scan_hex(expected, sizeof expected, scan_member(json, "expanded_vec_field128")) ==
          n * sizeof(FE));
    CHECK(memcmp(out, expected, n * sizeof(FE)) == 0);
}

static void refuses_long_tags(void)
{
    static const uint8_t zeros[65536];
    shoal_xof xof;
    CHECK(shoal_xof_init(&xof, zeros, 256, zeros, 8, zeros, 0) == SHOAL_ERR_RANGE);
    CHECK(shoal_xof_init(&xof, zeros, 255, zeros, 8, zeros, 65527) == SHOAL_OK);
    CHECK(shoal_xof_init(&xof, zeros, 32, zeros, 8, zeros, 65528) == SHOAL_ERR_RANGE);
    CHECK(shoal_xof_init(&xof, zeros, 32, zeros, 65536, zeros, 0) == SHOAL_ERR_RANGE);
    CHECK(shoal_xof_init(&xof, zeros, 32, zeros, 65535, zeros, SIZE_MAX) == SHOAL_ERR_RANGE);
}

int main(void)
{
    static const size_t pieces[] = {1, 7, 8, 13, 167, 168, 169, 5000};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        for (uint32_t cpu = 0; cpu <= shoal_prio_cpu_best(); cpu++) matches_rfc(pieces[i], cpu);
    domain_counts();
    matches_xof_vector();
    refuses_long_tags();
    return check_summary();
}
