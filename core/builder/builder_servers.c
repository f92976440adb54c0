// SPDX-License-Identifier: Apache-2.0
// Sets the servers that a recipe names: aggregation.leader and aggregation.helper of protocol
// "dap", and send.token, the issuer of tokens.
#include "builder_fields.h"

#define TOKENS_MAX 256 // a day: devices fetch no larger bundle

static shoal_err set_url(shoal_recipe_builder *builder, shoal_url *url, const char *path,
                         size_t path_len, const char *text, size_t len)
{
    const char *why;
    const shoal_recipe_row *row;
    shoal_err err = shoal_builder_state(&row, builder, path, path_len);
    if (err != SHOAL_OK) return err;
    err = shoal_url_set(url, text, len, &why);
    return shoal_builder_answer(builder, row->f.path, err, why);
}

static shoal_err set_leader(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            const char *text, size_t len)
{
    return set_url(builder, &builder->recipe.leader, path, path_len, text, len);
}

static shoal_err set_helper(shoal_recipe_builder *builder, const char *path, size_t path_len,
                            const char *text, size_t len)
{
    return set_url(builder, &builder->recipe.helper, path, path_len, text, len);
}

static shoal_err set_token(shoal_recipe_builder *builder, const char *path, size_t path_len,
                           const char *text, size_t len)
{
    return set_url(builder, &builder->recipe.token, path, path_len, text, len);
}

// Checks that a recipe without protocol "dap" states nothing about servers.
static shoal_err check_none(shoal_recipe_builder *builder)
{
    for (size_t i = 0; i < shoal_recipe_n_rows; i++)
        if (shoal_recipe_rows[i].flags & SHOAL_OF_SERVERS &&
            shoal_recipe_states(&builder->recipe, i))
            return shoal_builder_refuse(builder, shoal_recipe_rows[i].f.path,
                                        SHOAL_ERR_UNKNOWN_FIELD, "goes with protocol dap");
    return SHOAL_OK;
}

// Checks that a recipe with protocol "dap" states two different servers, has one mechanism, and is
// no query and no trial.
static shoal_err check_servers(shoal_recipe_builder *builder)
{
    static const char protocol[] = "aggregation.protocol";
    const shoal_recipe *recipe = &builder->recipe;
    if (recipe->aggregation != SHOAL_AGGREGATION_DAP) return check_none(builder);
    if (recipe->leader.len == 0 || recipe->helper.len == 0)
        return shoal_builder_refuse(
            builder, recipe->leader.len == 0 ? "aggregation.leader" : "aggregation.helper",
            SHOAL_ERR_MISSING_FIELD, "is missing");
    if (shoal_url_equal(&recipe->leader, &recipe->helper))
        return shoal_builder_refuse(builder, "aggregation.helper", SHOAL_ERR_RANGE,
                                    "must be another server than the leader");
    if (shoal_mechanism_by_id(recipe->mechanism) == NULL)
        return shoal_builder_refuse(
            builder, protocol, SHOAL_ERR_RANGE,
            "dap adds up one record of one mechanism, not what consists of several");
    if (recipe->value == SHOAL_VALUE_FIELDS || recipe->version != 0 || recipe->n_splits > 0 ||
        recipe->trial != 0)
        return shoal_builder_refuse(builder, protocol, SHOAL_ERR_RANGE,
                                    "dap does not go with queries and trials");
    return SHOAL_OK;
}

const shoal_setter shoal_leader_setter = {
    .set_string = set_leader, .set_number = shoal_builder_refuse_number, .check = check_servers};
const shoal_setter shoal_helper_setter = {.set_string = set_helper,
                                          .set_number = shoal_builder_refuse_number};

// Checks that every report of a recipe with tokens goes to one store, which spends its token in the
// transaction that keeps the report. Leaders, queries and runs have no such transaction.
static shoal_err check_token(shoal_recipe_builder *builder)
{
    static const char path[] = "send.token";
    const shoal_recipe *recipe = &builder->recipe;
    if (recipe->token.len == 0) return SHOAL_OK;
    if (recipe->aggregation == SHOAL_AGGREGATION_DAP)
        return shoal_builder_refuse(
            builder, path, SHOAL_ERR_RANGE,
            "does not go with two servers, which keep a report apart from the edge's spends");
    if (recipe->value == SHOAL_VALUE_FIELDS || recipe->version != 0 || recipe->n_splits > 0 ||
        recipe->epochs != 0)
        return shoal_builder_refuse(builder, path, SHOAL_ERR_RANGE, "is not for queries and runs");
    if (recipe->per_day > TOKENS_MAX)
        return shoal_builder_refuse(builder, "limit.per_day", SHOAL_ERR_RANGE,
                                    "must be 256 or less with send.token");
    return SHOAL_OK;
}

const shoal_setter shoal_token_setter = {
    .set_string = set_token, .set_number = shoal_builder_refuse_number, .check = check_token};
