// SPDX-License-Identifier: Apache-2.0
// Property: a report that is accepted holds a record of the recipe, and the report written of that
// record is accepted as the same.
#include "fuzz_aggregator.h"
#include "report_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 1) return 0;
    const agg_recipe *recipe = fuzz_agg_recipe(data[0]);
    uint8_t record[64], again[64];
    char text[1024];
    agg_error error = {0};
    char *json = malloc(len); // the rest of the input and a NUL
    PROPERTY(json != NULL);
    memcpy(json, data + 1, len - 1);
    json[len - 1] = '\0';
    shoal_err err = agg_report_parse(record, &error, recipe, json, len - 1);
    free(json);
    if (err != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0');
        return 0;
    }
    PROPERTY(shoal_record_check(recipe->recipe, record) == SHOAL_OK);
    size_t size = agg_report_size(recipe);
    PROPERTY(size < sizeof text && agg_report_print(text, sizeof text, recipe, record) == SHOAL_OK);
    text[size] = '\0';
    PROPERTY(agg_report_parse(again, &error, recipe, text, size) == SHOAL_OK);
    PROPERTY(memcmp(record, again, shoal_record_size(recipe->recipe)) == 0);
    return 0;
}
