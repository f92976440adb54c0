// SPDX-License-Identifier: Apache-2.0
// Includes every installed header family and calls into the library; prints "range".
#include <shoal/batch.h>
#include <shoal/builder.h>
#include <shoal/checksum.h>
#include <shoal/cms.h>
#include <shoal/fingerprint.h>
#include <shoal/hcms.h>
#include <shoal/ledger.h>
#include <shoal/onehot_asymmetric.h>
#include <shoal/poly1.h>
#include <shoal/probability.h>
#include <shoal/record.h>
#include <stdio.h>

int main(void)
{
    uint64_t threshold = 0;
    shoal_recipe_builder builder;
    shoal_builder_init(&builder);
    if (shoal_threshold(&threshold, 4000000, 2) != SHOAL_OK || threshold == 0) return 1;
    printf("%s\n", shoal_err_name(shoal_threshold(&threshold, 17000000, 1)));
    return 0;
}
