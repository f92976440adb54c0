// SPDX-License-Identifier: Apache-2.0
// Prints parts; see part_print.h.
#include "part_print.h"

#include <stdio.h>

#include "account.h"
#include "call_streams.h"

double agg_part_drawn_epsilon(const shoal_part *part)
{
    uint32_t drawn = 0;
    return shoal_mechanism_by_id(part->mechanism)->epsilon(&drawn, part) == SHOAL_OK ? drawn / 1e6
                                                                                     : 0;
}

void agg_part_print(const shoal_part *part, const char *label, const char *what, uint32_t rows)
{
    const agg_account *account = agg_account_of(part->mechanism);
    agg_print("%-19s %s: %s, %u %s%s", label, what, shoal_mechanism_by_id(part->mechanism)->name,
              rows > 0 ? rows : part->k, account->rows != NULL ? account->rows : "rows",
              rows > 0 ? " a position" : "");
    agg_print(" of %u %s, epsilon %.8g (as drawn: %.8g), %u bytes\n", part->m,
              account->columns != NULL ? account->columns : "columns", part->eps_micro / 1e6,
              agg_part_drawn_epsilon(part), part->record_size);
}
