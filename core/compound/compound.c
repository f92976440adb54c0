// SPDX-License-Identifier: Apache-2.0
// The table of compounds and the fields that only their recipes have; see compound.h and
// recipe_compound.h.
#include "compound.h"

#include "bytes.h"
#include "probability.h"
#include "recipe_compound.h"
#include "recipe_query.h"

#define TAG_ALPHABET 58
#define TAG_KNOWN 59

static const shoal_compound *const table[] = {
#define SHOAL_COMPOUND(id, stem, name) &shoal_##stem##_compound,
#include "compounds.def"
#undef SHOAL_COMPOUND
};
#define TABLE_LEN (sizeof table / sizeof table[0])

const shoal_compound *shoal_compound_by_id(uint32_t id)
{
    for (size_t i = 0; i < TABLE_LEN; i++)
        if (table[i]->id == id) return table[i];
    return NULL;
}

const shoal_compound *shoal_compound_by_name(const char *name, size_t len)
{
    for (size_t i = 0; i < TABLE_LEN; i++)
        if (shoal_text_equal(table[i]->name, name, len)) return table[i];
    return NULL;
}

void shoal_compound_part(shoal_part *part, const shoal_recipe *recipe)
{
    memset(part, 0, sizeof *part);
    part->mechanism = recipe->mechanism;
    part->eps_micro = recipe->eps_micro;
    part->k = recipe->k != 0 ? recipe->k : recipe->cohorts != 0 ? recipe->cohorts : 1;
    part->m = recipe->m != 0 ? recipe->m : recipe->g != 0 ? recipe->g : recipe->bits;
    part->hashes = recipe->hashes;
    memcpy(part->pqf_micro, recipe->pqf_micro, sizeof part->pqf_micro);
    memcpy(part->seed, recipe->seed, sizeof part->seed);
}

// ---- parameters.alphabet and parameters.known ----

static const char alphabet_path[] = "parameters.alphabet", known_path[] = "parameters.known";

// Adds a byte at its place; of characters of several bytes, those that they share come once.
static void add_byte(shoal_recipe *recipe, uint8_t byte)
{
    uint32_t at = recipe->alphabet_len;
    while (at > 0 && recipe->alphabet[at - 1] > byte) at--;
    if (at > 0 && recipe->alphabet[at - 1] == byte) return;
    for (uint32_t i = recipe->alphabet_len++; i > at; i--)
        recipe->alphabet[i] = recipe->alphabet[i - 1];
    recipe->alphabet[at] = byte;
}

static shoal_err set_alphabet(shoal_recipe *recipe, const uint8_t *text, size_t len)
{
    if (recipe->alphabet_len != 0)
        return shoal_recipe_refuse(recipe, alphabet_path, SHOAL_ERR_DUPLICATE, "is given twice");
    if (len < 1 || len > SHOAL_ALPHABET_MAX)
        return shoal_recipe_refuse(recipe, alphabet_path, SHOAL_ERR_RANGE,
                                   "must have 1 to 128 bytes");
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] == 0x7f || (i > 0 && text[i] < 0x80 && text[i] <= text[i - 1]))
            return shoal_recipe_refuse(
                recipe, alphabet_path, SHOAL_ERR_TYPE,
                "must hold characters that print, each above the one before");
    for (size_t i = 0; i < len; i++) add_byte(recipe, text[i]);
    return SHOAL_OK;
}

int shoal_compound_set_string(shoal_recipe *recipe, const char *path, size_t path_len,
                              const char *text, size_t len, shoal_err *err)
{
    if (!shoal_text_equal(alphabet_path, path, path_len)) return 0;
    *err = set_alphabet(recipe, (const uint8_t *)text, len);
    return 1;
}

shoal_err shoal_compound_add_known(shoal_recipe *recipe, const char *text, size_t len)
{
    if (recipe->known.count == SHOAL_KNOWN_MAX)
        return shoal_recipe_refuse(recipe, known_path, SHOAL_ERR_RANGE,
                                   "holds more than 131072 words");
    if (len < 1 || len > SHOAL_VALUE_MAX)
        return shoal_recipe_refuse(recipe, known_path, SHOAL_ERR_RANGE,
                                   "holds a word that is empty or over 256 bytes");
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] <= ' ' || text[i] == 0x7f)
            return shoal_recipe_refuse(recipe, known_path, SHOAL_ERR_TYPE,
                                       "holds a space or a control character");
    shoal_list_add(&recipe->known, text, len);
    return SHOAL_OK;
}

// Strings are words, hosts, sites or items; cells are of an encoding.
static shoal_err check_kind(shoal_recipe *recipe)
{
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    int is_fields = recipe->value == SHOAL_VALUE_FIELDS;
    if (compound == NULL) return SHOAL_OK;
    if (compound->domain == SHOAL_DOMAIN_CLOSED && !is_fields)
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_RANGE,
                                   "must be fields for this mechanism");
    if (compound->domain == SHOAL_DOMAIN_OPEN && (is_fields || recipe->value == SHOAL_VALUE_NUMBER))
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_RANGE,
                                   "must be of strings for this mechanism");
    return SHOAL_OK;
}

shoal_err shoal_compound_check(shoal_recipe *recipe, const shoal_takes *takes)
{
    static const char unknown[] = "is not a field of this mechanism";
    if (recipe->alphabet_len > 0 && !(takes->needs & SHOAL_TAKES_NGRAM))
        return shoal_recipe_refuse(recipe, alphabet_path, SHOAL_ERR_UNKNOWN_FIELD, unknown);
    if (recipe->alphabet_len == 0 && takes->needs & SHOAL_TAKES_NGRAM)
        return shoal_recipe_refuse(recipe, alphabet_path, SHOAL_ERR_MISSING_FIELD, "is missing");
    if (recipe->known.count > 0 && !(takes->may & SHOAL_TAKES_TRIE_PASSES))
        return shoal_recipe_refuse(recipe, known_path, SHOAL_ERR_UNKNOWN_FIELD, unknown);
    return check_kind(recipe);
}

shoal_err shoal_compound_finish(shoal_recipe *recipe, const shoal_compound *compound,
                                uint32_t cells, const char **field)
{
    shoal_err err = compound->expand(recipe, cells, field);
    if (err != SHOAL_OK) return err;
    recipe->record_size = recipe->text_size = recipe->cost_micro = 0;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        recipe->record_size += recipe->parts[i].record_size;
        recipe->text_size += recipe->parts[i].text_size + (i > 0); // and the ';' before it
        recipe->cost_micro += recipe->parts[i].eps_micro;
    }
    if (compound->takes.needs & SHOAL_TAKES_THRESH)
        recipe->cost_micro = recipe->eps_micro; // of all of a run's reports
    *field = "epsilon";
    return recipe->cost_micro <= SHOAL_EPS_MICRO_MAX ? SHOAL_OK : SHOAL_ERR_RANGE;
}

void shoal_compound_put(shoal_canonical *w, const shoal_recipe *recipe)
{
    if (recipe->alphabet_len > 0)
        shoal_canonical_field(w, TAG_ALPHABET, recipe->alphabet, recipe->alphabet_len);
    if (recipe->known.count == 0) return;
    size_t start = shoal_canonical_open(w, TAG_KNOWN);
    shoal_canonical_list(w, &recipe->known);
    shoal_canonical_close(w, start);
}
