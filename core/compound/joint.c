// SPDX-License-Identifier: Apache-2.0
// The descriptor of joint recipes; see joint.h. The builder makes each variable's part as its
// fields arrive.
#include "joint.h"

#include "recipe.h"

static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    (void)cells;
    *field = "mechanism";
    if (recipe->n_variables < 2) return SHOAL_ERR_RANGE;
    recipe->n_parts = recipe->n_variables;
    recipe->value_part = 0;
    return SHOAL_OK;
}

const shoal_compound shoal_joint_compound = {
    .id = shoal_joint_id,
    .name = "joint",
    .domain = SHOAL_DOMAIN_OPEN,
    .takes = {SHOAL_TAKES_VARIABLES, SHOAL_TAKES_RECORDS},
    .keeps_records = true,
    // Its parts may be permanent; shoal_recipe_is_permanent asks them.
    .expand = expand,
};
