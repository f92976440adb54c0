// SPDX-License-Identifier: Apache-2.0
// Property: a manifest that is read finds each of its ids in its place, and its shards cover all of
// them; anything else is refused with a reason. The name is put right first.
#include "fuzz.h"
#include "manifest.h"
#include "sha256.h"

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static const uint8_t hash[32] = {9};
    uint8_t ids[3][AGG_CLAIM] = {{1}, {2, 3}, {0xff}}, more[2][AGG_CLAIM] = {{2, 3}, {4}};
    agg_error error = {0};
    agg_manifest first = {.n_ids = 0}, second = {.n_ids = 0};
    agg_generation g = {.recipe_hash = hash, .ids = ids, .n_ids = 3};
    if (index > 1) return 0;
    PROPERTY(agg_manifest_make(&first, &error, &g) == SHOAL_OK);
    g = (agg_generation){.recipe_hash = hash,
                         .has_version_1 = true,
                         .earlier = &first,
                         .n_earlier = 1,
                         .ids = more,
                         .n_ids = 2};
    PROPERTY(agg_manifest_make(&second, &error, &g) == SHOAL_OK && g.n_known == 1);
    const agg_bytes *file = index == 0 ? &first.file : &second.file;
    size_t len = file->len + 1 <= cap ? file->len + 1 : 0;
    out[0] = 1;
    if (len > 0) memcpy(out + 1, file->data, file->len);
    agg_manifest_release(&first);
    agg_manifest_release(&second);
    return len;
}

static void put_name(uint8_t *bytes, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len - 32);
    shoal_sha256_final(bytes + len - 32, &sha);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_error error = {0};
    agg_manifest manifest;
    if (len < 1) return 0;
    agg_bytes file = {malloc(len), len - 1};
    PROPERTY(file.data != NULL);
    memcpy(file.data, data + 1, file.len);
    if (data[0] & 1 && file.len >= 32) put_name(file.data, file.len);
    if (agg_manifest_read(&manifest, &error, "input", &file) == SHOAL_OK) {
        PROPERTY(manifest.file.len == len - 1 && file.data == NULL);
        PROPERTY(manifest.n_ids > 0 && manifest.generation <= manifest.n_earlier + 1);
        for (uint32_t i = 0; i < manifest.n_ids; i++)
            PROPERTY(agg_manifest_find(&manifest, manifest.ids[i]) == i);
        PROPERTY(agg_manifest_shard_start(&manifest, 1, 7) == 0 &&
                 agg_manifest_shard_start(&manifest, 8, 7) == manifest.n_ids);
        agg_manifest_release(&manifest);
    } else {
        PROPERTY(error.text[0] != '\0');
    }
    free(file.data);
    return 0;
}
