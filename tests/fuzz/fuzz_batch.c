// SPDX-License-Identifier: Apache-2.0
// Property: bytes that are accepted as a batch are what sealing the same records gives, in either
// version. Checksum and id are put right first, so that the fuzzer gets past them.
#include "batch.h"
#include "checksum.h"
#include "fuzz_recipe.h"

#include <stdbool.h>

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    uint8_t seed[32] = {2}, salt[16] = {7};
    shoal_recipe recipe;
    shoal_rng rng;
    const sample *s = sample_number(index).sample;
    if (s == NULL || index > UINT8_MAX) return 0;
    fuzz_recipe(&recipe, (uint8_t)index);
    bool is_v1 = index % 4 == 3;
    size_t header = is_v1 ? SHOAL_BATCH_HEADER_V1 : SHOAL_BATCH_HEADER;
    size_t len = is_v1 ? shoal_batch_size_v1(&recipe, 2) : shoal_batch_size(&recipe, 2);
    if (len > 296 || len + 2 > cap) return 0; // a wide record is no other case
    out[0] = (uint8_t)index;
    out[1] = 7;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 2; i++)
        fuzz_randomize(out + 2 + header + i * recipe.record_size, &recipe, s->value, &rng);
    PROPERTY((is_v1 ? shoal_batch_seal_v1(out + 2, len, &recipe, 2, salt)
                    : shoal_batch_seal(out + 2, len, &recipe, 2, 20780, salt)) == SHOAL_OK);
    return len + 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    shoal_recipe recipe;
    shoal_batch batch;
    uint32_t bad = 0;
    if (len < 2) return 0;
    fuzz_recipe(&recipe, data[0]);
    size_t n = len - 2;
    uint8_t *bytes = malloc(n + 1),
            *again = malloc(n + 1); // exact lengths: one byte too many is found
    PROPERTY(bytes != NULL && again != NULL);
    memcpy(bytes, data + 2, n);
    if (data[1] & 1 && n >= SHOAL_BATCH_HEADER) memcpy(bytes + 24, recipe.recipe_hash, 32);
    if (data[1] & 4 && shoal_batch_peek(&batch, bytes, n) == SHOAL_OK && batch.version == 2 &&
        batch.size == n)
        shoal_batch_id(bytes + 56, &batch, bytes);
    if (data[1] & 2 && n >= 8) {
        uint64_t sum = shoal_checksum_of(bytes, n - 8);
        for (size_t i = 0; i < 8; i++) bytes[n - 8 + i] = (uint8_t)(sum >> (8 * i));
    }
    if (shoal_batch_open(&batch, bytes, n, &recipe, &bad) == SHOAL_OK) {
        memcpy(again, bytes, n);
        PROPERTY(batch.size == n && batch.count >= 1);
        PROPERTY((batch.version == 1 ? shoal_batch_seal_v1(again, n, &recipe, batch.count, batch.id)
                                     : shoal_batch_seal(again, n, &recipe, batch.count, batch.day,
                                                        bytes + 72)) == SHOAL_OK);
        PROPERTY(memcmp(again, bytes, n) == 0);
    }
    free(bytes);
    free(again);
    return 0;
}
