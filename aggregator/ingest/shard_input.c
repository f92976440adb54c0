// SPDX-License-Identifier: Apache-2.0
// Batches of a shard; see shard_input.h.
#include "shard_input.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "checksum.h"
#include "manifest_gather.h"
#include "recipe.h"
#include "record.h"

static agg_err check_hash(agg_error *error, const agg_manifest *m, const agg_recipe *recipe,
                          const char *path)
{
    if (memcmp(m->recipe_hash, recipe->recipe->recipe_hash, 32) == 0) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                    "%s: the manifest is of recipe hash %02x%02x%02x%02x..., not of %s (hash "
                    "%.8s...)",
                    path, m->recipe_hash[0], m->recipe_hash[1], m->recipe_hash[2],
                    m->recipe_hash[3], recipe->id, recipe->hash_hex);
}

static agg_err make_claims(agg_shard_input *in, agg_error *error)
{
    const agg_manifest *m = &in->manifest;
    agg_shard_claim about = {
        .generation = m->generation,
        .n_shards = in->n_shards,
        .n_earlier = m->n_earlier,
    };
    memcpy(about.manifest, m->name, sizeof about.manifest);
    about.earlier = agg_alloc(error, m->n_earlier, sizeof *about.earlier);
    if (about.earlier == NULL) return AGG_ERR_MEMORY;
    if (m->n_earlier > 0) memcpy(about.earlier, m->earlier, 32 * (size_t)m->n_earlier);
    agg_err err = agg_shard_claims_of(&in->claims, error, &about, in->shard);
    free(about.earlier);
    return err;
}

agg_err agg_shard_input_open(agg_shard_input *input, agg_error *error, const agg_recipe *recipe,
                             const char *path, uint32_t shard, uint32_t n_shards)
{
    *input = (agg_shard_input){.path = path,
                               .shard = shard,
                               .n_shards = n_shards,
                               .record_size = shoal_record_size(recipe->recipe)};
    agg_err err = agg_manifest_check_recipe(error, recipe);
    if (err == SHOAL_OK) err = agg_manifest_load(&input->manifest, error, path);
    if (err == SHOAL_OK) err = check_hash(error, &input->manifest, recipe, path);
    if (err == SHOAL_OK) err = make_claims(input, error);
    if (err != SHOAL_OK) return err;
    input->first = agg_manifest_shard_start(&input->manifest, shard, n_shards);
    input->end = agg_manifest_shard_start(&input->manifest, shard + 1, n_shards);
    size_t n = input->end - input->first;
    input->seen = agg_alloc(error, n, sizeof *input->seen);
    if (input->seen != NULL && input->manifest.has_version_1)
        input->sums = agg_alloc(error, n, sizeof *input->sums);
    bool has_all = input->seen != NULL && (input->sums != NULL || !input->manifest.has_version_1);
    return has_all ? SHOAL_OK : AGG_ERR_MEMORY;
}

void agg_shard_input_release(agg_shard_input *input)
{
    agg_manifest_release(&input->manifest);
    agg_shard_claims_release(&input->claims);
    free(input->seen);
    free(input->sums);
    memset(input, 0, sizeof *input);
}

static agg_err refuse_foreign(const agg_shard_input *in, agg_error *error, const uint8_t *id,
                              const char *file, bool is_listed)
{
    char text[AGG_CLAIM_TEXT];
    agg_claim_print(text, id);
    if (is_listed)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                        "%s: batch %s is of shard %u/%u, not of %u/%u; nothing was written", file,
                        text, agg_shard_of(id, in->n_shards), in->n_shards, in->shard,
                        in->n_shards);
    return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                    "%s: %s does not list batch %s; nothing was written", file, in->path, text);
}

agg_err agg_shard_input_take(agg_shard_input *input, agg_error *error, const agg_run *run,
                             const char *file, bool *is_fresh)
{
    char text[AGG_CLAIM_TEXT];
    *is_fresh = false;
    if (run->batch_id == NULL)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                        "%s: holds lines; a manifest lists batches", file);
    agg_claim_print(text, run->batch_id);
    size_t place = agg_manifest_find(&input->manifest, run->batch_id);
    if (place < input->first || place >= input->end)
        return refuse_foreign(input, error, run->batch_id, file, place < input->manifest.n_ids);
    if (run->version == 1 && !input->manifest.has_version_1)
        return agg_fail(error, SHOAL_ERR_VERSION, AGG_EXIT_RUNTIME,
                        "%s: batch %s is of version 1, which the manifest does not allow", file,
                        text);
    place -= input->first;
    *is_fresh = !input->seen[place];
    if (input->sums != NULL) {
        uint64_t sum = shoal_checksum_of(run->records, run->count * (size_t)input->record_size);
        if (!*is_fresh && sum != input->sums[place])
            return agg_fail(error, SHOAL_ERR_BATCH_ID, AGG_EXIT_RUNTIME,
                            "%s: batch %s came before with other records; nothing was written",
                            file, text);
        input->sums[place] = sum;
    }
    input->n_seen += *is_fresh;
    input->n_repeated += !*is_fresh;
    input->seen[place] = true;
    return SHOAL_OK;
}

agg_err agg_shard_input_check_all(const agg_shard_input *input, agg_error *error)
{
    char text[AGG_CLAIM_TEXT];
    size_t n = input->end - input->first, missing = 0;
    if (input->n_seen == n) return SHOAL_OK;
    while (input->seen[missing]) missing++;
    return agg_fail(error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_RUNTIME,
                    "of the %zu batches of shard %u/%u of %s, %zu came in no file, such as %s; "
                    "nothing was written",
                    n, input->shard, input->n_shards, input->path, n - input->n_seen,
                    agg_claim_print(text, input->manifest.ids[input->first + missing]));
}
