// SPDX-License-Identifier: Apache-2.0
// Property: an accumulator file that is read is written back as exactly the same bytes, and its
// head alone says the same of it. The checksum is put right first.
#include "accumulator.h"
#include "checksum.h"
#include "fuzz_aggregator.h"
#include "fuzz_recipe.h"

#define CELLS_MAX 200u // of a sketch whose file is short enough

static size_t write_file(uint8_t *out, size_t cap, const agg_accumulator *acc)
{
    agg_error error = {0};
    uint64_t size = agg_accumulator_size(acc);
    if (size + 1 > cap) return 0;
    FILE *stream = fmemopen(out, cap, "wb");
    PROPERTY(stream != NULL && agg_accumulator_write(stream, &error, acc) == SHOAL_OK &&
             fclose(stream) == 0);
    return (size_t)size;
}

// Makes one of three claims: none, two ids for all three records, or one id for some of them.
static void claim(agg_accumulator *acc, size_t way)
{
    static const uint8_t ids[2][AGG_CLAIM] = {{9}, {1, 2, 3}};
    agg_error error = {0};
    if (way == 1) PROPERTY(agg_accumulator_claim_all(acc, &error, ids, 2) == SHOAL_OK);
    if (way == 2) PROPERTY(agg_accumulator_claim(acc, &error, ids, 1) == SHOAL_OK);
}

// The file of three records of a sample, with one of three claims, checksum put right.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    uint8_t seed[32] = {5}, records[3 * 64];
    shoal_recipe recipe;
    agg_accumulator acc;
    agg_error error = {0};
    shoal_rng rng;
    size_t way = index % 3;
    index /= 3;
    const sample *s = sample_number(index).sample;
    if (s == NULL || index > UINT8_MAX) return 0;
    fuzz_recipe(&recipe, (uint8_t)index);
    const shoal_part *part = &recipe.parts[0];
    if (recipe.record_size > 64 || (uint64_t)part->k * part->m > CELLS_MAX) return 0;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 3; i++)
        fuzz_randomize(records + i * recipe.record_size, &recipe, s->value, &rng);
    PROPERTY(agg_accumulator_init(&acc, &error, &recipe) == SHOAL_OK);
    PROPERTY(agg_accumulator_add(&acc, &error, records, 3, 1) == SHOAL_OK);
    claim(&acc, way);
    out[0] = 1;
    size_t len = write_file(out + 1, cap - 1, &acc);
    agg_accumulator_release(&acc);
    return len > 0 ? len + 1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_accumulator acc;
    agg_error error = {0};
    if (len < 9) return 0;
    size_t n = len - 1;
    uint8_t *bytes = malloc(n), *again = NULL;
    size_t size = 0;
    PROPERTY(bytes != NULL);
    memcpy(bytes, data + 1, n);
    if (data[0] & 1) {
        uint64_t sum = shoal_checksum_of(bytes, n - 8);
        for (size_t i = 0; i < 8; i++) bytes[n - 8 + i] = (uint8_t)(sum >> (8 * i));
    }
    FILE *in = fmemopen(bytes, n, "rb");
    PROPERTY(in != NULL);
    shoal_err err = agg_accumulator_read(&acc, &error, "input", in);
    fclose(in);
    uint8_t hash[32];
    uint64_t records = 0;
    shoal_err head = agg_accumulator_read_head(hash, &records, bytes, n);
    if (err == SHOAL_OK) {
        PROPERTY(head == SHOAL_OK && records == acc.n && memcmp(hash, acc.recipe_hash, 32) == 0);
        FILE *out = open_memstream((char **)&again, &size);
        PROPERTY(out != NULL && agg_accumulator_write(out, &error, &acc) == SHOAL_OK &&
                 fclose(out) == 0);
        PROPERTY(size == n && memcmp(again, bytes, n) == 0 && agg_accumulator_size(&acc) == n);
        agg_accumulator_release(&acc);
        free(again);
    } else {
        PROPERTY(error.text[0] != '\0');
    }
    free(bytes);
    return 0;
}
