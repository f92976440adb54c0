// SPDX-License-Identifier: Apache-2.0
// The table of accounts; see account.h.
#include "account.h"

static const agg_account *const table[] = {
#define SHOAL_MECHANISM(id, stem, name) &agg_##stem##_account,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
};

const agg_account *agg_account_at(uint32_t index)
{
    return index < sizeof table / sizeof table[0] ? table[index] : NULL;
}

const agg_account *agg_account_usual(uint32_t kind)
{
    for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->usual_for & kind) return table[i];
    return NULL;
}

const agg_account *agg_account_of(uint32_t mechanism)
{
    for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}
