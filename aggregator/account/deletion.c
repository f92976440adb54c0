// SPDX-License-Identifier: Apache-2.0
// Computes epsilon in the deletion model; see deletion.h.
#include "deletion.h"

#include <math.h>

#include "account.h"

// A list of two is enumerated. The coins of further entries are the same with and without the
// value, so a longer list has the same ratios.
double agg_deletion_epsilon(const shoal_part *part)
{
    const agg_account *account = agg_account_of(part->mechanism);
    shoal_part two = *part;
    uint8_t record[8];
    const char *field;
    double most = 0;
    two.size = 2;
    if (shoal_part_prepare(&two, &field) != SHOAL_OK) return 0;
    for (uint64_t i = 0; i < account->n_outputs(&two); i++) {
        if (!account->output(record, &two, i)) continue;
        double ratio = log(account->probability(&two, record, 0) /
                           account->probability(&two, record, SHOAL_ITEM_NONE));
        if (fabs(ratio) > most) most = fabs(ratio);
    }
    return most;
}
