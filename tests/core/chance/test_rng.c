// SPDX-License-Identifier: Apache-2.0
// The generator: RFC 8439 vectors, the order of draws, unbiased ranges, exact coins.
#include "rng.h"

#include <math.h>
#include <string.h>

#include "chacha20.h"
#include "chacha20_lanes.h"
#include "check.h"
#include "scripted_rng.h"

static void count_up(uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) bytes[i] = (uint8_t)i;
}

// RFC 8439 section 2.3.2.
static void block_vector(void)
{
    static const uint8_t expected[64] = {
        0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3,
        0x20, 0x71, 0xc4, 0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22,
        0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e, 0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa,
        0x09, 0x14, 0xc2, 0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2, 0xb5, 0x12, 0x9c, 0xd1,
        0xde, 0x16, 0x4e, 0xb9, 0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e};
    uint8_t key_bytes[32], out[64];
    uint32_t key[8], tail[4] = {1, 0x09000000, 0x4a000000, 0};
    count_up(key_bytes, 32);
    for (int i = 0; i < 8; i++) key[i] = 0x03020100u + 0x04040404u * (uint32_t)i;
    shoal_chacha20_block(out, key, tail);
    CHECK(memcmp(out, expected, 64) == 0);
}

// RFC 8439 appendix A.1, vectors 1 and 2: zero key and nonce, counters 0 and 1 are the stream of a
// zero seed.
static void stream_vector(void)
{
    static const uint8_t first[16] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                      0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28};
    static const uint8_t second[16] = {0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a,
                                       0x98, 0xba, 0x97, 0x7c, 0x73, 0x2d, 0x08, 0x0d};
    uint8_t seed[32] = {0}, out[128];
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    shoal_rng_bytes(&rng, out, sizeof out);
    CHECK(memcmp(out, first, 16) == 0);
    CHECK(memcmp(out + 64, second, 16) == 0);
}

// However the stream is cut, it is the same stream: across refills, at every offset.
static void split_points(void)
{
    uint8_t seed[32], whole[1500], pieces[1500];
    shoal_rng rng;
    count_up(seed, 32);
    shoal_rng_init_stream(&rng, seed, 0x1122334455667788);
    shoal_rng_bytes(&rng, whole, sizeof whole);
    for (uint32_t step = 1; step < 300; step += 7) {
        shoal_rng_init_stream(&rng, seed, 0x1122334455667788);
        for (uint32_t at = 0; at < sizeof pieces; at += step)
            shoal_rng_bytes(&rng, pieces + at,
                            step < sizeof pieces - at ? step : sizeof pieces - at);
        CHECK(memcmp(whole, pieces, sizeof whole) == 0);
    }
    shoal_rng_init_stream(&rng, seed, 0x1122334455667788);
    shoal_rng_bytes(&rng, pieces, 3); // an odd start, so that draws straddle refills
    for (uint32_t at = 3; at + 8 <= sizeof whole; at += 8) {
        uint64_t expected = 0;
        for (uint32_t i = 8; i-- > 0;) expected = expected << 8 | whole[at + i];
        CHECK(shoal_rng_u64(&rng) == expected);
    }
}

typedef void (*side_by_side)(uint8_t *out, const uint32_t state[16]);

// Blocks side by side are those that the reference makes one by one, also where the low word of the
// counter, or all of it, wraps.
static void check_variant(side_by_side variant, uint64_t n)
{
    const uint64_t counters[] = {
        0, 1, 0xfffffff4, 0xfffffffe, 0xfffffffffffffff1, 0xfffffffffffffffb, 0x123456789abcdef0};
    uint8_t made[16 * 64], one[64];
    uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (uint32_t i = 4; i < 16; i++) state[i] = 0x9e3779b9u * i;
    for (uint32_t c = 0; c < sizeof counters / sizeof counters[0]; c++) {
        state[12] = (uint32_t)counters[c];
        state[13] = (uint32_t)(counters[c] >> 32);
        variant(made, state);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t counter = counters[c] + i;
            state[12] = (uint32_t)counter;
            state[13] = (uint32_t)(counter >> 32);
            shoal_chacha20_portable(one, state);
            CHECK(memcmp(made + 64 * i, one, 64) == 0);
        }
    }
}

static void variants_agree(void)
{
#ifdef SHOAL_CHACHA20_V128
    check_variant(shoal_chacha20_v128_row, 1);
    check_variant(shoal_chacha20_v128, 4);
#endif
#ifdef SHOAL_X86
    if (__builtin_cpu_supports("avx2")) check_variant(shoal_chacha20_avx2, 8);
    if (__builtin_cpu_supports("avx512vl")) {
        check_variant(shoal_chacha20_avx512, 8);
        check_variant(shoal_chacha20_avx512_16, 16);
    }
#endif
    (void)check_variant;
}

// Any number of blocks, whatever goes side by side.
static void any_number_of_blocks(void)
{
    const uint32_t key[8] = {1, 2, 3, 4, 5, 6, 7, 8}, nonce[2] = {9, 10};
    uint8_t whole[40 * 64], made[41 * 64];
    for (uint32_t i = 0; i < 40; i++) {
        const uint32_t tail[4] = {0xfffffff8u + i, i < 8 ? 7 : 8, nonce[0], nonce[1]};
        shoal_chacha20_block(whole + (size_t)64 * i, key, tail);
    }
    for (uint32_t n = 0; n <= 40; n++) {
        memset(made, 0xa5, sizeof made);
        shoal_chacha20_blocks(made, n, key, 0x7fffffff8, nonce);
        CHECK(memcmp(made, whole, (size_t)64 * n) == 0);
        for (size_t i = (size_t)64 * n; i < sizeof made; i++) CHECK(made[i] == 0xa5);
    }
}

static void streams_differ(void)
{
    uint8_t seed[32] = {9}, a[32], b[32], c[32];
    shoal_rng rng;
    shoal_rng_init_stream(&rng, seed, 0);
    shoal_rng_bytes(&rng, a, 32);
    shoal_rng_init_stream(&rng, seed, 1);
    shoal_rng_bytes(&rng, b, 32);
    shoal_rng_init_stream(&rng, seed, (uint64_t)1 << 32);
    shoal_rng_bytes(&rng, c, 32);
    CHECK(memcmp(a, b, 32) != 0 && memcmp(a, c, 32) != 0 && memcmp(b, c, 32) != 0);
    shoal_rng_wipe(&rng);
    for (uint32_t i = 0; i < 8; i++) CHECK(rng.key[i] == 0);
}

// below(n) must reject exactly the 2^64 mod n largest draws.
static void below_edges(void)
{
    const uint64_t ns[] = {
        2, 3, 5, 7, 1000, 65536, 65537, (uint64_t)1 << 63, ((uint64_t)1 << 63) + 1, UINT64_MAX};
    for (uint32_t i = 0; i < sizeof ns / sizeof ns[0]; i++) {
        shoal_rng rng;
        uint64_t n = ns[i], surplus = (0 - n) % n; // 2^64 mod n
        script(&rng, 1, 1);
        script_word(&rng, 0, UINT64_MAX - surplus); // the largest draw that counts
        CHECK(shoal_rng_below(&rng, n) == n - 1);
        CHECK(rng.used == 8);
        if (surplus == 0) continue;
        script(&rng, 1, 1);
        script_word(&rng, 0, UINT64_MAX - surplus + 1); // the smallest that does not
        CHECK(shoal_rng_below(&rng, n) == 1);
        CHECK(rng.used == 16);
    }
    shoal_rng rng;
    script(&rng, 0, 5);
    CHECK(shoal_rng_below(&rng, 1) == 0 && rng.used == 0);
}

static void bernoulli_edges(void)
{
    shoal_rng rng;
    const uint64_t threshold = 331787012026708148;
    script(&rng, 0, threshold);
    CHECK(shoal_rng_bernoulli(&rng, threshold) == 0);
    script(&rng, 0, threshold - 1);
    CHECK(shoal_rng_bernoulli(&rng, threshold) == 1);
    script(&rng, 0, 0);
    CHECK(shoal_rng_bernoulli(&rng, 0) == 0);
}

// The bit-sliced coin is the comparison "number < threshold" in every lane: rebuild each lane's
// number from the same draws, all 64 bits where the coin read fewer (the rest cannot matter), and
// compare.
static void sliced_coin_is_exact(void)
{
    const uint64_t thresholds[] = {1,
                                   2,
                                   3,
                                   1000,
                                   2075907333724,
                                   331787012026708148,
                                   (uint64_t)1 << 60,
                                   (uint64_t)3 << 58,
                                   2198905795380358826,
                                   ((uint64_t)1 << 63) - 1,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX};
    uint8_t seed[32] = {3};
    for (uint32_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++) {
        shoal_rng rng, copy;
        shoal_rng_init_stream(&rng, seed, i);
        for (int repeat = 0; repeat < 50; repeat++) {
            uint64_t coins, number[64] = {0};
            copy = rng;
            shoal_rng_bernoulli_words(&rng, &coins, 1, thresholds[i]);
            uint64_t drawn = (rng.block - copy.block) * 64 + rng.used - copy.used;
            CHECK(drawn % 8 == 0 && drawn / 8 >= SHOAL_RNG_FIXED_ROUNDS && drawn / 8 <= 64);
            for (uint64_t round = 0; round < drawn / 8; round++) {
                uint64_t bits = shoal_rng_u64(&copy);
                for (int lane = 0; lane < 64; lane++)
                    number[lane] |= (bits >> lane & 1) << (63 - round);
            }
            uint64_t rest = drawn / 8 == 64 ? 0 : UINT64_MAX >> (drawn / 8);
            for (int lane = 0; lane < 64; lane++) {
                CHECK((number[lane] < thresholds[i]) == (coins >> lane & 1));
                CHECK((number[lane] + rest < thresholds[i]) == (coins >> lane & 1));
            }
        }
    }
}

// The coins of 64 lanes as rng.h describes them, a draw at a time.
static uint64_t coins_by_rounds(shoal_rng *rng, uint64_t threshold)
{
    uint64_t less = 0, open = UINT64_MAX;
    for (int round = 0; round < 64; round++) {
        int is_over = open == 0 || (threshold << round) == 0;
        if (round >= SHOAL_RNG_FIXED_ROUNDS && is_over) break;
        uint64_t random = shoal_rng_u64(rng), bit = 0 - (threshold >> (63 - round) & 1);
        less |= open & bit & ~random;
        open &= ~(random ^ bit);
    }
    return less;
}

// However many words one call makes, wherever the buffer ends, and if a lane stays open to the last
// bit: the coins and the draws taken are those of rounds one by one.
static void sliced_coin_takes_its_draws(void)
{
    const uint64_t thresholds[] = {
        1,         (uint64_t)1 << 54, (uint64_t)1 << 55, (uint64_t)3 << 58, 2198905795380358826,
        UINT64_MAX};
    uint8_t seed[32] = {5}, skipped[64 * SHOAL_RNG_USUAL_BLOCKS];
    for (uint32_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++) {
        for (uint32_t skip = 0; skip < sizeof skipped; skip += 3) {
            shoal_rng rng, other;
            uint64_t coins[20];
            shoal_rng_init_stream(&rng, seed, skip);
            if (skip % 4 < 2) shoal_rng_expect_words(&rng, skip % 20);
            shoal_rng_bytes(&rng, skipped, skip);
            if (skip % 2 == 0) { // the first lane is the threshold itself
                for (uint32_t at = rng.used, bit = 64; bit-- > 0 && at + 8 <= sizeof rng.buffer;
                     at += 8)
                    rng.buffer[at] =
                        (uint8_t)((rng.buffer[at] & 0xfe) | (thresholds[i] >> bit & 1));
            }
            other = rng;
            shoal_rng_bernoulli_words(&rng, coins, 20, thresholds[i]);
            for (uint32_t word = 0; word < 20; word++)
                CHECK(coins[word] == coins_by_rounds(&other, thresholds[i]));
            CHECK(shoal_rng_u64(&rng) == shoal_rng_u64(&other));
        }
    }
}

// 640,000 coins: 5 sigma of a binomial, two-sided.
static void sliced_coin_frequency(void)
{
    const uint64_t thresholds[] = {331787012026708148, 2198905795380358826, (uint64_t)1 << 63};
    uint8_t seed[32] = {4};
    for (uint32_t i = 0; i < 3; i++) {
        shoal_rng rng;
        double p = (double)thresholds[i] / 18446744073709551616.0, n = 640000, ones = 0;
        shoal_rng_init_stream(&rng, seed, i);
        for (int word = 0; word < 10000; word++) {
            uint64_t coins;
            shoal_rng_bernoulli_words(&rng, &coins, 1, thresholds[i]);
            for (; coins != 0; coins &= coins - 1) ones++;
        }
        CHECK(fabs(ones - n * p) < 5 * sqrt(n * p * (1 - p)));
    }
}

int main(void)
{
    block_vector();
    stream_vector();
    split_points();
    variants_agree();
    any_number_of_blocks();
    streams_differ();
    below_edges();
    bernoulli_edges();
    sliced_coin_is_exact();
    sliced_coin_takes_its_draws();
    sliced_coin_frequency();
    return check_summary();
}
