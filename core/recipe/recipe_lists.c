// SPDX-License-Identifier: Apache-2.0
// Writes the canonical bytes of the fields that are not scalars; docs/formats.md, "Canonical bytes
// and hash", has their layout. The rows SHOAL_OWN of recipe_fields.def name these functions. An
// absent field writes nothing.
#include "recipe_fields.h"

void shoal_put_values(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    uint8_t bytes[40];
    if (recipe->n_values == 0) return;
    store64_be(bytes, recipe->n_values);
    memcpy(bytes + 8, recipe->values_digest, 32);
    shoal_canonical_field(w, tag, bytes, sizeof bytes);
}

static void put_url(shoal_canonical *w, uint16_t tag, const shoal_url *url)
{
    if (url->len > 0) shoal_canonical_field(w, tag, url->bytes, url->len);
}

void shoal_put_leader(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    put_url(w, tag, &recipe->leader);
}

void shoal_put_helper(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    put_url(w, tag, &recipe->helper);
}

void shoal_put_token(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    put_url(w, tag, &recipe->token);
}

static void put_encoded(shoal_canonical *w, const shoal_encoded *e)
{
    uint8_t scheme = (uint8_t)e->scheme, bytes[8];
    shoal_canonical_name(w, &e->field);
    shoal_canonical_put(w, &scheme, 1);
    shoal_canonical_number(w, e->n_boundaries);
    for (uint32_t i = 0; i < e->n_boundaries; i++) {
        store64_be(bytes, (uint64_t)e->boundaries[i]);
        shoal_canonical_put(w, bytes, sizeof bytes);
    }
    shoal_canonical_list(w, &e->values);
    shoal_canonical_list(w, &e->prefixes);
    shoal_canonical_list(w, &e->tokens);
    if (e->scheme == SHOAL_SCHEME_CHARACTERS) shoal_canonical_number(w, e->step > 0 ? e->step : 1);
}

void shoal_put_encoding(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    if (recipe->encoding.n_fields == 0) return;
    size_t start = shoal_canonical_open(w, tag);
    for (uint32_t i = 0; i < recipe->encoding.n_fields; i++)
        put_encoded(w, &recipe->encoding.fields[i]);
    shoal_canonical_close(w, start);
}

void shoal_put_split_by(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    if (recipe->n_splits == 0) return;
    size_t start = shoal_canonical_open(w, tag);
    for (uint32_t i = 0; i < recipe->n_splits; i++) {
        shoal_canonical_name(w, &recipe->splits[i].field);
        shoal_canonical_list(w, &recipe->splits[i].values);
    }
    shoal_canonical_close(w, start);
}

void shoal_put_part(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    if (recipe->n_part == 0) return;
    size_t start = shoal_canonical_open(w, tag);
    for (uint32_t i = 0; i < recipe->n_part; i++) shoal_canonical_name(w, &recipe->part[i]);
    shoal_canonical_close(w, start);
}

void shoal_put_alphabet(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    if (recipe->alphabet_len > 0)
        shoal_canonical_field(w, tag, recipe->alphabet, recipe->alphabet_len);
}

void shoal_put_known(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    if (recipe->known.count == 0) return;
    size_t start = shoal_canonical_open(w, tag);
    shoal_canonical_list(w, &recipe->known);
    shoal_canonical_close(w, start);
}

void shoal_put_variables(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    if (recipe->n_variables == 0) return;
    size_t start = shoal_canonical_open(w, tag);
    for (uint32_t i = 0; i < recipe->n_variables; i++) {
        shoal_canonical_name(w, &recipe->variables[i].name);
        shoal_canonical_put(w, recipe->variables[i].digest, sizeof recipe->variables[i].digest);
    }
    shoal_canonical_close(w, start);
}
