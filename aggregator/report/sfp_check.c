// SPDX-License-Identifier: Apache-2.0
// Recipes of sfp in print.
#include <stdio.h>

#include "call_streams.h"
#include "compound_check.h"
#include "part_print.h"
#include "recipe.h"
#include "sfp.h"

static void print(const shoal_recipe *r)
{
    agg_print("strings             of 1 to %u bytes; an empty or longer one is reported as none\n",
              r->length);
    agg_print("positions           %u of 2 bytes; a device draws one and sends it in the clear, as "
              "the row\n",
              shoal_sfp_positions(r));
    agg_part_print(&r->parts[SHOAL_SFP_FRAGMENT], "part 1", "fragment", r->k_fragment);
    agg_part_print(&r->parts[SHOAL_SFP_STRING], "part 2", "whole string", 0);
}

const agg_compound_check agg_sfp_check = {
    .id = shoal_sfp_id,
    .print = print,
};
