// SPDX-License-Identifier: Apache-2.0
// Holds the table of mechanisms in this build; see mechanism.h.
#include "mechanism.h"

#include <stdbool.h>

#include "bytes.h"
#include "chacha20.h"
#include "fingerprint.h"

// A build with only some mechanisms defines SHOAL_CARRIED_MECHANISMS as its own list.
#ifndef SHOAL_CARRIED_MECHANISMS
#define SHOAL_CARRIED_MECHANISMS "mechanisms.def"
#endif

static const shoal_mechanism *const table[] = {
#define SHOAL_MECHANISM(id, stem, name) &shoal_##stem##_mechanism,
#include SHOAL_CARRIED_MECHANISMS
#undef SHOAL_MECHANISM
};
#define TABLE_LEN (sizeof table / sizeof table[0])

const shoal_mechanism *shoal_mechanism_by_id(uint32_t id)
{
    for (size_t i = 0; i < TABLE_LEN; i++)
        if (table[i]->id == id) return table[i];
    return NULL;
}

const shoal_mechanism *shoal_mechanism_by_name(const char *name, size_t len)
{
    for (size_t i = 0; i < TABLE_LEN; i++) {
        const char *own = table[i]->name;
        size_t n = 0;
        while (n < len && own[n] != '\0' && own[n] == name[n]) n++;
        if (n == len && own[n] == '\0') return table[i];
    }
    return NULL;
}

shoal_err shoal_part_prepare(shoal_part *part, const char **field)
{
    uint8_t block[64];
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(part->mechanism);
    *field = "mechanism";
    if (mechanism == NULL) return SHOAL_ERR_MECHANISM;
    shoal_chacha20_derive(block, part->seed, 0, "item key    ");
    memcpy(part->item_key, block, sizeof part->item_key);
    return mechanism->prepare(part, field);
}

const shoal_takes *shoal_mechanism_takes(const shoal_mechanism *mechanism, uint32_t domain)
{
    if (domain == SHOAL_DOMAIN_OPEN) return &mechanism->open;
    return domain == SHOAL_DOMAIN_CLOSED ? &mechanism->closed : &mechanism->number;
}

bool shoal_part_has_item(const shoal_part *part, uint64_t item)
{
    if (part->domain == SHOAL_DOMAIN_OPEN || item == SHOAL_ITEM_NONE) return true;
    return part->domain == SHOAL_DOMAIN_CLOSED ? item < part->size : item <= SHOAL_NUMBER_ONE;
}

uint64_t shoal_part_item(const shoal_part *part, const uint8_t *bytes, size_t len)
{
    return shoal_fingerprint(part->item_key, bytes, len);
}
