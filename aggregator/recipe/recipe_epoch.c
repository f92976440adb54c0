// SPDX-License-Identifier: Apache-2.0
// The recipes of a run's epochs; see recipe_epoch.h.
#include "recipe_epoch.h"

#include <stdlib.h>
#include <string.h>

#include "json_walk.h"

static cJSON *round_of(const agg_epoch *epoch)
{
    char previous[65];
    cJSON *round = cJSON_CreateObject();
    if (epoch->previous != NULL) agg_hex(previous, epoch->previous, 32);
    if (cJSON_AddNumberToObject(round, "index", epoch->index) != NULL &&
        (epoch->previous == NULL || cJSON_AddStringToObject(round, "previous", previous) != NULL) &&
        (!epoch->is_update || cJSON_AddNumberToObject(round, "update", 1) != NULL))
        return round;
    cJSON_Delete(round);
    return NULL;
}

agg_err agg_epoch_put(cJSON *root, agg_error *error, const agg_epoch *epoch)
{
    cJSON *round = round_of(epoch);
    cJSON_DeleteItemFromObjectCaseSensitive(root, "signature");
    if (round != NULL && (cJSON_GetObjectItemCaseSensitive(root, "round") != NULL
                              ? cJSON_ReplaceItemInObjectCaseSensitive(root, "round", round)
                              : cJSON_AddItemToObject(root, "round", round)))
        return SHOAL_OK;
    cJSON_Delete(round);
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
}

agg_err agg_recipe_of_epoch(agg_recipe *out, agg_error *error, const agg_recipe *recipe,
                            const agg_epoch *epoch)
{
    cJSON *root = agg_json_parse(error, recipe->json, recipe->json_len);
    if (root == NULL) return agg_json_refusal(error);
    agg_err err = agg_epoch_put(root, error, epoch);
    char *text = err == SHOAL_OK ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    if (err != SHOAL_OK) return err;
    if (text == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    err = agg_recipe_from_bytes(out, error, recipe->id, text, strlen(text));
    free(text);
    return err;
}
