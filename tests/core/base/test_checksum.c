// SPDX-License-Identifier: Apache-2.0
// XXH64 against the specification's sanity values (xxHash, xsum_sanity_check: PRIME32-generated
// bytes), cuts and flips.
#include "checksum.h"

#include <string.h>

#include "check.h"

int main(void)
{
    uint8_t bytes[222];
    uint64_t generator = 2654435761u;
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(generator >> 56);
        generator *= UINT64_C(11400714785074694797);
    }
    CHECK(shoal_checksum_of(bytes, 0) == 0xEF46DB3751D8E999);
    CHECK(shoal_checksum_of(bytes, 1) == 0xE934A84ADB052768);
    CHECK(shoal_checksum_of(bytes, 4) == 0x9136A0DCA57457EE);
    CHECK(shoal_checksum_of(bytes, 14) == 0x8282DCC4994E35C8);
    CHECK(shoal_checksum_of(bytes, 222) == 0xB641AE8CB691C174);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        uint64_t whole = shoal_checksum_of(bytes, len);
        for (size_t cut = 0; cut <= len; cut += 5) {
            shoal_checksum sum;
            shoal_checksum_init(&sum);
            shoal_checksum_update(&sum, bytes, cut);
            shoal_checksum_update(&sum, bytes + cut, len - cut);
            CHECK(shoal_checksum_value(&sum) == whole);
        }
    }
    uint64_t base = shoal_checksum_of(bytes, sizeof bytes);
    for (uint32_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(shoal_checksum_of(bytes, sizeof bytes) != base);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    return check_summary();
}
