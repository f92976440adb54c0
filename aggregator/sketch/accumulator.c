// SPDX-License-Identifier: Apache-2.0
// Accumulators: adding and merging; see accumulator.h.
#include "accumulator.h"

#include <stdbool.h>
#include <string.h>

#include "accumulator_parts.h"
#include "compound.h"
#include "recipe.h"

// Returns: the rows that a sketch of a shape has in an accumulator's numbering.
static uint32_t rows_of(const agg_shape *shape)
{
    const agg_sketch_kind *kind = agg_sketch_kind_of(shape->mechanism);
    return kind == NULL || kind->is_one_row ? 1 : shape->k;
}

uint32_t agg_accumulator_row_count(const agg_accumulator *acc)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < acc->n_parts; i++) n += rows_of(&acc->parts[i].shape);
    return n;
}

agg_part_rows agg_accumulator_part_rows(const agg_accumulator *acc, const agg_shape *shapes,
                                        uint32_t part)
{
    uint64_t before = 0, own = rows_of(&shapes[part]);
    for (uint32_t i = 0; i < part; i++) before += rows_of(&shapes[i]);
    if (acc->rows.first == 0) return (agg_part_rows){0, own, own};
    uint64_t first = acc->rows.first - 1u, end = acc->rows.last;
    first = first < before ? 0 : first - before < own ? first - before : own;
    end = end < before ? 0 : end - before < own ? end - before : own;
    return (agg_part_rows){first, end > first ? end : first, own};
}

void agg_accumulator_put_rows(agg_accumulator *whole, const agg_accumulator *from)
{
    agg_shape shapes[SHOAL_PARTS_MAX];
    for (uint32_t i = 0; i < from->n_parts; i++) shapes[i] = from->parts[i].shape;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        const agg_part_rows rows = agg_accumulator_part_rows(from, shapes, i);
        const agg_sketch *part = &from->parts[i];
        agg_sketch *into = &whole->parts[i];
        if (part->n_cells > 0)
            memcpy(into->cells.ones + rows.first * (into->n_cells / rows.n), part->cells.ones,
                   (size_t)part->n_cells * sizeof *part->cells.ones);
        if (part->n_rows > 0)
            memcpy(into->rows + rows.first * (into->n_rows / rows.n), part->rows,
                   (size_t)part->n_rows * sizeof *part->rows);
    }
}

agg_err agg_accumulator_init_like(agg_accumulator *acc, agg_error *error, agg_accumulator *like)
{
    agg_shape shapes[SHOAL_PARTS_MAX];
    agg_accumulator made = {.n = like->n};
    memcpy(made.recipe_hash, like->recipe_hash, sizeof made.recipe_hash);
    memcpy(made.recipe_id, like->recipe_id, sizeof made.recipe_id);
    for (uint32_t i = 0; i < like->n_parts; i++) shapes[i] = like->parts[i].shape;
    *acc = made;
    agg_err err = agg_accumulator_init_parts(acc, error, shapes, like->n_parts);
    if (err != SHOAL_OK) return err;
    acc->claims = like->claims;
    acc->shards = like->shards;
    memset(&like->claims, 0, sizeof like->claims);
    memset(&like->shards, 0, sizeof like->shards);
    return SHOAL_OK;
}

agg_err agg_accumulator_init_parts(agg_accumulator *acc, agg_error *error, const agg_shape *shapes,
                                   uint32_t n_parts)
{
    acc->record_size = 0;
    for (acc->n_parts = 0; acc->n_parts < n_parts; acc->n_parts++) {
        const agg_shape *shape = &shapes[acc->n_parts];
        agg_err err = agg_sketch_init_rows(&acc->parts[acc->n_parts], error, shape,
                                           agg_accumulator_part_rows(acc, shapes, acc->n_parts));
        if (err != SHOAL_OK) {
            agg_accumulator_release(acc);
            return err;
        }
        acc->record_size += agg_sketch_kind_of(shape->mechanism)->record_size(shape);
    }
    return SHOAL_OK;
}

agg_err agg_accumulator_init(agg_accumulator *acc, agg_error *error, const shoal_recipe *recipe)
{
    agg_shape shapes[SHOAL_PARTS_MAX];
    memset(acc, 0, sizeof *acc);
    memcpy(acc->recipe_hash, recipe->recipe_hash, 32);
    memcpy(acc->recipe_id, recipe->key.bytes, recipe->key.len);
    for (uint32_t i = 0; i < recipe->n_parts; i++)
        shapes[i] = (agg_shape){recipe->parts[i].mechanism, recipe->parts[i].k, recipe->parts[i].m};
    agg_err err = agg_accumulator_init_parts(acc, error, shapes, recipe->n_parts);
    if (err == SHOAL_OK && shoal_recipe_keeps_records(recipe))
        agg_record_set_init(&acc->set, acc->record_size);
    return err;
}

void agg_accumulator_release(agg_accumulator *acc)
{
    for (uint32_t i = 0; i < acc->n_parts; i++) agg_sketch_release(&acc->parts[i]);
    agg_record_set_release(&acc->set);
    agg_claims_release(&acc->claims);
    agg_shard_claims_release(&acc->shards);
    memset(acc, 0, sizeof *acc);
}

void agg_accumulator_forget(agg_accumulator *acc)
{
    agg_record_set_release(&acc->set);
}

agg_err agg_accumulator_check_room(const agg_accumulator *acc, agg_error *error, uint64_t more)
{
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        uint64_t n_max = agg_sketch_kind_of(acc->parts[i].shape.mechanism)->n_max;
        if (acc->n <= n_max && more <= n_max - acc->n) continue;
        return agg_fail(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME,
                        "recipe %s: an accumulator counts at most %llu records", acc->recipe_id,
                        (unsigned long long)n_max);
    }
    return SHOAL_OK;
}

static agg_err add_to_parts(agg_accumulator *acc, agg_error *error, const uint8_t *records,
                            uint32_t count, unsigned n_threads)
{
    for (uint32_t i = 0; i < acc->n_parts; i++) {
        const agg_sketch_kind *kind = agg_sketch_kind_of(acc->parts[i].shape.mechanism);
        agg_err err = kind->add(&acc->parts[i], error, records, acc->record_size, count,
                                n_threads > 0 ? n_threads : 1);
        if (err != SHOAL_OK) return err;
        records += kind->record_size(&acc->parts[i].shape);
    }
    return SHOAL_OK;
}

// Takes the counts' bits from the most significant on: doubles the sums, then adds the records
// whose count has the bit.
agg_err agg_accumulator_sum_records(agg_accumulator *acc, agg_error *error)
{
    uint32_t any = 0;
    for (uint64_t i = 0; i < acc->set.n_distinct; i++) any |= acc->set.counts[i];
    for (uint32_t bit = (uint32_t)1 << 31; bit != 0; bit >>= 1) {
        if (bit > any) continue;
        for (uint32_t i = 0; i < acc->n_parts; i++)
            agg_sketch_merge(&acc->parts[i], &acc->parts[i]);
        // Records that follow one another and have the bit are added together.
        for (uint64_t first = 0, last; first < acc->set.n_distinct; first = last) {
            for (last = first; last < acc->set.n_distinct && (acc->set.counts[last] & bit) != 0;)
                last++;
            if (last == first) {
                last++;
                continue;
            }
            agg_err err = add_to_parts(acc, error, agg_record_set_at(&acc->set, first),
                                       (uint32_t)(last - first), 1);
            if (err != SHOAL_OK) return err;
        }
    }
    return SHOAL_OK;
}

agg_err agg_accumulator_add(agg_accumulator *acc, agg_error *error, const uint8_t *records,
                            uint32_t count, unsigned n_threads)
{
    agg_err err = agg_accumulator_check_room(acc, error, count);
    if (err == SHOAL_OK && agg_accumulator_keeps_records(acc))
        err = agg_record_set_add(&acc->set, error, records, count);
    if (err == SHOAL_OK) err = add_to_parts(acc, error, records, count, n_threads);
    if (err == SHOAL_OK) acc->n += count;
    return err;
}

static bool same_shapes(const agg_accumulator *a, const agg_accumulator *b)
{
    if (a->n_parts != b->n_parts) return false;
    for (uint32_t i = 0; i < a->n_parts; i++) {
        const agg_shape *s = &a->parts[i].shape, *t = &b->parts[i].shape;
        if (s->mechanism != t->mechanism || s->k != t->k || s->m != t->m) return false;
    }
    return true;
}

static agg_err refuse_recipe(agg_error *error, const char *theirs, const uint8_t their_hash[32],
                             const char *ours, const uint8_t our_hash[32])
{
    return agg_fail(
        error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
        "belongs to recipe %s (hash %02x%02x%02x%02x...), not to %s (hash %02x%02x%02x%02x...)",
        theirs, their_hash[0], their_hash[1], their_hash[2], their_hash[3], ours, our_hash[0],
        our_hash[1], our_hash[2], our_hash[3]);
}

bool agg_accumulator_claims_fit(const agg_claims *claims, uint64_t n)
{
    if (claims->n > AGG_CLAIMS_MAX || claims->n > n) return false;
    return claims->is_complete ? claims->n > 0 || n == 0 : claims->n > 0 && claims->n < n;
}

void agg_accumulator_begin_claims(agg_accumulator *acc)
{
    if (acc->n == 0 && acc->shards.n == 0) acc->claims.is_complete = true;
}

agg_err agg_accumulator_claim(agg_accumulator *acc, agg_error *error,
                              const uint8_t (*ids)[AGG_CLAIM], size_t n)
{
    return agg_claims_add(&acc->claims, error, ids, n);
}

agg_err agg_accumulator_claim_all(agg_accumulator *acc, agg_error *error,
                                  const uint8_t (*ids)[AGG_CLAIM], size_t n)
{
    agg_claims_release(&acc->claims);
    if (n > acc->n || (n == 0 && acc->n > 0))
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                        "recipe %s: %zu ids cannot claim %llu records", acc->recipe_id, n,
                        (unsigned long long)acc->n);
    agg_err err = agg_claims_add(&acc->claims, error, ids, n);
    acc->claims.is_complete = err == SHOAL_OK;
    return err;
}

// Returns: whether the accumulator counts something else than shards.
static bool has_others(const agg_accumulator *acc)
{
    return acc->shards.n == 0 && (acc->n > 0 || acc->claims.n > 0);
}

static agg_err check_mixture(agg_error *error, bool is_mixture)
{
    if (!is_mixture) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                    "one counts shards of manifests and the other does not, so batches that both "
                    "count could not be found; nothing was written");
}

agg_err agg_accumulator_check_shards(const agg_accumulator *acc, agg_error *error,
                                     const agg_shard_claims *shards)
{
    agg_shard_claims sum;
    agg_err err = check_mixture(error, shards->n > 0 && has_others(acc));
    if (err == SHOAL_OK) err = agg_shard_claims_unite(&sum, error, &acc->shards, shards);
    if (err == SHOAL_OK) agg_shard_claims_release(&sum);
    return err;
}

agg_err agg_accumulator_claim_shards(agg_accumulator *acc, agg_error *error,
                                     const agg_shard_claims *shards)
{
    agg_shard_claims sum;
    agg_err err = agg_shard_claims_unite(&sum, error, &acc->shards, shards);
    if (err != SHOAL_OK) return err;
    agg_shard_claims_release(&acc->shards);
    acc->shards = sum;
    acc->claims.is_complete = false;
    return SHOAL_OK;
}

agg_err agg_accumulator_check_whole(const agg_accumulator *acc, agg_error *error)
{
    return agg_shard_claims_check_whole(&acc->shards, error);
}

// Finds whether a sum's claims are complete. One that has neither records nor complete claims
// changes nothing, so that the order of merging does not decide.
static bool are_complete(const agg_accumulator *a, const agg_accumulator *b)
{
    return a->shards.n == 0 && b->shards.n == 0 && agg_accumulator_is_claimed(a) &&
           agg_accumulator_is_claimed(b) && (a->claims.is_complete || b->claims.is_complete);
}

agg_err agg_accumulator_check_alike(const agg_accumulator *into, agg_error *error,
                                    const agg_accumulator *from)
{
    if (memcmp(into->recipe_hash, from->recipe_hash, 32) == 0 && same_shapes(into, from)) {
        if (into->rows.first == from->rows.first && into->rows.last == from->rows.last)
            return SHOAL_OK;
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                        "does not hold the same rows as the others");
    }
    return refuse_recipe(error, from->recipe_id, from->recipe_hash, into->recipe_id,
                         into->recipe_hash);
}

agg_err agg_accumulator_merge(agg_accumulator *into, agg_error *error, const agg_accumulator *from)
{
    bool has_all = agg_accumulator_keeps_records(into) && agg_accumulator_keeps_records(from),
         is_complete = are_complete(into, from);
    agg_shard_claims shards = {.n = 0};
    agg_err err = agg_accumulator_check_alike(into, error, from);
    if (err == SHOAL_OK)
        err = check_mixture(error, (into->shards.n > 0 && has_others(from)) ||
                                       (from->shards.n > 0 && has_others(into)));
    if (err == SHOAL_OK) err = agg_shard_claims_unite(&shards, error, &into->shards, &from->shards);
    if (err == SHOAL_OK) err = agg_accumulator_check_room(into, error, from->n);
    if (err == SHOAL_OK) err = agg_claims_reserve(&into->claims, error, &from->claims);
    if (err == SHOAL_OK && has_all) err = agg_record_set_merge(&into->set, error, &from->set);
    if (err == SHOAL_OK) err = agg_claims_unite(&into->claims, error, &from->claims);
    if (err != SHOAL_OK) {
        agg_shard_claims_release(&shards);
        return err;
    }
    agg_shard_claims_release(&into->shards);
    into->shards = shards;
    into->claims.is_complete = is_complete;
    if (!has_all) agg_accumulator_forget(into);
    for (uint32_t i = 0; i < into->n_parts; i++) agg_sketch_merge(&into->parts[i], &from->parts[i]);
    into->n += from->n;
    return SHOAL_OK;
}

agg_err agg_accumulator_check_recipe(const agg_accumulator *acc, agg_error *error,
                                     const shoal_recipe *recipe)
{
    char ours[SHOAL_NAME_MAX + 1] = {0};
    bool is_alike = acc->n_parts == recipe->n_parts;
    if (memcmp(acc->recipe_hash, recipe->recipe_hash, 32) == 0) {
        for (uint32_t i = 0; is_alike && i < acc->n_parts; i++) {
            const agg_shape *shape = &acc->parts[i].shape;
            const shoal_part *part = &recipe->parts[i];
            is_alike =
                shape->mechanism == part->mechanism && shape->k == part->k && shape->m == part->m;
        }
        if (is_alike) return SHOAL_OK;
        return agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                        "says that it is of recipe %s, but its sketches are not", acc->recipe_id);
    }
    memcpy(ours, recipe->key.bytes, recipe->key.len);
    return refuse_recipe(error, acc->recipe_id, acc->recipe_hash, ours, recipe->recipe_hash);
}
