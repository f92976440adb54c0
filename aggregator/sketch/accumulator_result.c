// SPDX-License-Identifier: Apache-2.0
// Reads accumulators whose results are shown; see accumulator.h.
#include "accumulator.h"

agg_err agg_accumulator_load_result(agg_accumulator *acc, agg_error *error, const char *path,
                                    const shoal_recipe *recipe, agg_wholeness wholeness)
{
    agg_err err = agg_accumulator_load(acc, error, path);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_check_recipe(acc, error, recipe);
    if (err == SHOAL_OK && wholeness == AGG_WHOLE_ONLY)
        err = agg_accumulator_check_whole(acc, error);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_error_prefix(error, "%s", path);
    agg_accumulator_release(acc);
    return err;
}
