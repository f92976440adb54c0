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

// Claims two of the shards of a manifest that names an earlier one, and all of that one.
static void claim_shards(agg_accumulator *acc)
{
    uint8_t earlier[1][32] = {{7}};
    agg_shard_claim about = {.generation = 1, .n_shards = 1};
    agg_shard_claims one;
    agg_error error = {0};
    memcpy(about.manifest, earlier[0], 32);
    PROPERTY(agg_shard_claims_of(&one, &error, &about, 1) == SHOAL_OK);
    PROPERTY(agg_accumulator_claim_shards(acc, &error, &one) == SHOAL_OK);
    agg_shard_claims_release(&one);
    about = (agg_shard_claim){
        .manifest = {3}, .generation = 2, .n_shards = 10, .n_earlier = 1, .earlier = earlier};
    for (uint32_t shard = 2; shard < 12; shard += 8) {
        PROPERTY(agg_shard_claims_of(&one, &error, &about, shard) == SHOAL_OK);
        PROPERTY(agg_accumulator_claim_shards(acc, &error, &one) == SHOAL_OK);
        agg_shard_claims_release(&one);
    }
}

// Makes one of four claims: none, two ids for all three records, one id for some of them, or
// shards.
static void claim(agg_accumulator *acc, size_t way)
{
    static const uint8_t ids[2][AGG_CLAIM] = {{9}, {1, 2, 3}};
    agg_error error = {0};
    if (way == 1) PROPERTY(agg_accumulator_claim_all(acc, &error, ids, 2) == SHOAL_OK);
    if (way == 2) PROPERTY(agg_accumulator_claim(acc, &error, ids, 1) == SHOAL_OK);
    if (way == 3) claim_shards(acc);
}

// The file of three records of a sample, with one of four claims, checksum put right.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    uint8_t seed[32] = {5}, records[3 * 64];
    shoal_recipe recipe;
    agg_accumulator acc;
    agg_error error = {0};
    shoal_rng rng;
    size_t way = index % 4;
    index /= 4;
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

// Reads what may hold some rows only, and writes it back.
static agg_err read_rows(agg_accumulator *acc, uint8_t *bytes, size_t n)
{
    agg_error error = {0};
    uint8_t *again = NULL;
    size_t size = 0;
    FILE *in = fmemopen(bytes, n, "rb");
    PROPERTY(in != NULL);
    agg_err err = agg_accumulator_read_rows(acc, &error, "input", in, (agg_rows){0, 0});
    fclose(in);
    if (err != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0');
        return err;
    }
    FILE *out = open_memstream((char **)&again, &size);
    PROPERTY(out != NULL && agg_accumulator_write(out, &error, acc) == SHOAL_OK &&
             fclose(out) == 0);
    PROPERTY(size == n && memcmp(again, bytes, n) == 0 && agg_accumulator_size(acc) == n);
    free(again);
    return SHOAL_OK;
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
    agg_err err = agg_accumulator_read(&acc, &error, "input", in);
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
    agg_accumulator rows;
    if (read_rows(&rows, bytes, n) == SHOAL_OK) {
        PROPERTY(err == (rows.rows.first > 0 ? (agg_err)AGG_ERR_INCOMPLETE : SHOAL_OK));
        agg_accumulator_release(&rows);
    } else {
        PROPERTY(err != SHOAL_OK);
    }
    free(bytes);
    return 0;
}
