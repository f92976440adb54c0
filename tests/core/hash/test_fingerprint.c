// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 against the authors' vectors (github.com/veorq/SipHash, vectors.h): key 00..0f, input
// 00, 01, 02, ...
#include "fingerprint.h"

#include "check.h"

static const uint64_t vectors[] = {
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
    0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
    0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5,
};

int main(void)
{
    uint8_t key[16], input[64];
    for (uint8_t i = 0; i < 16; i++) key[i] = i;
    for (uint8_t i = 0; i < 64; i++) input[i] = i;
    for (uint32_t len = 0; len < sizeof vectors / sizeof vectors[0]; len++)
        CHECK(shoal_fingerprint(key, input, len) == vectors[len]);
    CHECK(shoal_fingerprint(key, input, 63) == 0x958a324ceb064572);
    uint64_t base = shoal_fingerprint(key, input, 20); // every bit of key and input counts
    for (uint32_t bit = 0; bit < 128; bit++) {
        key[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(shoal_fingerprint(key, input, 20) != base);
        key[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (uint32_t bit = 0; bit < 160; bit++) {
        input[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(shoal_fingerprint(key, input, 20) != base);
        input[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    return check_summary();
}
