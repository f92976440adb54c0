// SPDX-License-Identifier: Apache-2.0
// Accumulators: adding and merging; see accumulator.h.
#include "accumulator.h"

#include <stdbool.h>
#include <string.h>

#include "accumulator_parts.h"
#include "compound.h"
#include "recipe.h"

agg_err agg_accumulator_init_parts(agg_accumulator *acc, agg_error *error, const agg_shape *shapes,
                                   uint32_t n_parts)
{
    acc->record_size = 0;
    for (acc->n_parts = 0; acc->n_parts < n_parts; acc->n_parts++) {
        const agg_shape *shape = &shapes[acc->n_parts];
        agg_err err = agg_sketch_init(&acc->parts[acc->n_parts], error, shape);
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
    if (acc->n == 0) acc->claims.is_complete = true;
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

// Finds whether a sum's claims are complete. One that has neither records nor complete claims
// changes nothing, so that the order of merging does not decide.
static bool are_complete(const agg_accumulator *a, const agg_accumulator *b)
{
    return agg_accumulator_is_claimed(a) && agg_accumulator_is_claimed(b) &&
           (a->claims.is_complete || b->claims.is_complete);
}

agg_err agg_accumulator_check_alike(const agg_accumulator *into, agg_error *error,
                                    const agg_accumulator *from)
{
    if (memcmp(into->recipe_hash, from->recipe_hash, 32) == 0 && same_shapes(into, from))
        return SHOAL_OK;
    return refuse_recipe(error, from->recipe_id, from->recipe_hash, into->recipe_id,
                         into->recipe_hash);
}

agg_err agg_accumulator_merge(agg_accumulator *into, agg_error *error, const agg_accumulator *from)
{
    bool has_all = agg_accumulator_keeps_records(into) && agg_accumulator_keeps_records(from),
         is_complete = are_complete(into, from);
    agg_err err = agg_accumulator_check_alike(into, error, from);
    if (err == SHOAL_OK) err = agg_accumulator_check_room(into, error, from->n);
    if (err == SHOAL_OK) err = agg_claims_reserve(&into->claims, error, &from->claims);
    if (err == SHOAL_OK && has_all) err = agg_record_set_merge(&into->set, error, &from->set);
    if (err == SHOAL_OK) err = agg_claims_unite(&into->claims, error, &from->claims);
    if (err != SHOAL_OK) return err;
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
