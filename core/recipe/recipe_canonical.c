// SPDX-License-Identifier: Apache-2.0
// Writes and hashes the canonical bytes of a recipe; see recipe_canonical.h.
#include "recipe_canonical.h"

#include "sha256.h"

// Returns: the number that the canonical bytes leave out.
static uint64_t default_of(const shoal_recipe_row *row, const shoal_recipe *recipe)
{
    return row->flags & SHOAL_AS_COHORT ? recipe->cohort_minimum : row->f.initial;
}

static void put_row(shoal_canonical *w, const shoal_recipe *recipe, size_t i)
{
    const shoal_recipe_row *row = &shoal_recipe_rows[i];
    const shoal_field *f = &row->f;
    const uint8_t *at = (const uint8_t *)recipe + f->offset;
    uint8_t eight[8];
    if (row->put != NULL) {
        row->put(w, row->tag, recipe);
    } else if (f->kind == FIELD_NAME) {
        shoal_name name;
        memcpy(&name, at, sizeof name);
        if (name.len > 0) shoal_canonical_field(w, row->tag, name.bytes, name.len);
    } else if (f->kind == FIELD_BYTES) {
        if (shoal_recipe_states(recipe, i)) shoal_canonical_field(w, row->tag, at, 32);
    } else if (shoal_field_get(f, recipe) != default_of(row, recipe)) {
        store64_be(eight, shoal_field_get(f, recipe));
        shoal_canonical_field(w, row->tag, eight, sizeof eight);
    }
}

shoal_err shoal_recipe_write(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe,
                             uint32_t left_out)
{
    static const char title[] = "shoal recipe 1\n";
    shoal_canonical w = {out, cap, 0, 0};
    if (recipe->n_parts == 0) return SHOAL_ERR_ARGUMENT;
    shoal_canonical_put(&w, title, sizeof title - 1);
    for (size_t i = 0; i < shoal_recipe_n_rows; i++)
        if (!(shoal_recipe_rows[i].flags & left_out)) put_row(&w, recipe, i);
    if (w.is_full) return SHOAL_ERR_SPACE;
    *len = w.len;
    return SHOAL_OK;
}

static void hash_bytes(uint8_t hash[32], const uint8_t *bytes, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(hash, &sha);
}

shoal_err shoal_recipe_hash(uint8_t hash[32], const shoal_recipe *recipe, uint32_t left_out)
{
    uint8_t canonical[SHOAL_CANONICAL_MAX];
    size_t len = 0;
    shoal_err err = shoal_recipe_write(canonical, sizeof canonical, &len, recipe, left_out);
    if (err == SHOAL_OK) hash_bytes(hash, canonical, len);
    return err;
}

void shoal_recipe_hash_variable(uint8_t hash[32], const shoal_recipe *recipe)
{
    uint8_t bytes[1024];
    shoal_canonical w = {bytes, sizeof bytes, 0, 0};
    for (size_t i = 0; i < shoal_recipe_n_rows; i++)
        if (shoal_recipe_rows[i].flags & SHOAL_OF_VARIABLE) put_row(&w, recipe, i);
    hash_bytes(hash, bytes, w.len);
}

shoal_err shoal_recipe_signed(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe)
{
    return shoal_recipe_write(out, cap, len, recipe, SHOAL_WITHOUT_PART);
}
