// SPDX-License-Identifier: Apache-2.0
// Makes the task of a recipe; see dap.h. The file reads numbers and names of the recipe and follows
// no pointer in it, so that a WebAssembly module may be given a copy of another module's recipe.
#include "bytes.h"
#include "dap.h"
#include "recipe.h"
#include "split.h"

#define DAY_S UINT64_C(86400)

shoal_err shoal_dap_task_of(shoal_dap_task *task, const shoal_recipe *recipe, const char **why)
{
    shoal_split split;
    if (recipe->aggregation != SHOAL_AGGREGATION_DAP) {
        *why = "aggregation.protocol is not dap";
        return SHOAL_ERR_ARGUMENT;
    }
    shoal_err err = shoal_split_init(&split, &recipe->parts[0], why);
    if (err != SHOAL_OK) return err;
    uint64_t precision = recipe->time_precision_s,
             end = ((uint64_t)recipe->expires_day + 1) * DAY_S;
    memset(task, 0, sizeof *task);
    memcpy(task->id, recipe->recipe_hash, sizeof task->id);
    task->version = SHOAL_DAP_18;
    task->info_len = recipe->recipe.len;
    memcpy(task->info, recipe->recipe.bytes, recipe->recipe.len);
    task->leader = recipe->leader;
    task->helper = recipe->helper;
    task->time_precision_s = precision;
    task->min_batch_size = recipe->block_minimum; // a batch is released whole, so it is a block
    task->interval.duration =
        (end + precision - 1) / precision; // the first unit after the last moment of `expires`
    task->vdaf = split.prio3;
    return SHOAL_OK;
}
