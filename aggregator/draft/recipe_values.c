// SPDX-License-Identifier: Apache-2.0
// Prints lists and encodings from files; see recipe_values.h.
#include "recipe_values.h"

#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "json_walk.h"
#include "print_text.h"
#include "recipe_json.h"

// Bytes that are not UTF-8 would be written as another character.
const char *recipe_value_fault(const char *text, size_t len)
{
    if (len == 0) return "is empty";
    if (len > SHOAL_VALUE_MAX) return "is over 256 bytes";
    if (memchr(text, 0, len) != NULL) return "holds a NUL character";
    return agg_utf8_is_valid(text, len) ? NULL : "is not UTF-8";
}

static agg_err print_lines(FILE *stream, agg_error *error, const char *path, const char *at,
                           const char *end)
{
    unsigned n = 0;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)),
                   *stop = newline != NULL ? newline : end;
        size_t len = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        const char *fault = recipe_value_fault(at, len);
        if (n++ > 0) fputs(", ", stream);
        if (fault != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: line %u: the value %s", path,
                            n, fault);
        agg_print_json_text(stream, at, len);
        at = stop + 1;
    }
    if (n >= 2) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: holds %s: a list has 2 at least",
                    path, n == 0 ? "no value" : "one value");
}

agg_err recipe_count_values(uint64_t *n, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    *n = bytes.len > 0 && bytes.data[bytes.len - 1] != '\n';
    for (size_t i = 0; i < bytes.len; i++) *n += bytes.data[i] == '\n';
    free(bytes.data);
    return SHOAL_OK;
}

agg_err recipe_print_values(FILE *stream, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    fputs("\"values\": [", stream);
    err = print_lines(stream, error, path, (const char *)bytes.data,
                      (const char *)bytes.data + bytes.len);
    fputs("]", stream);
    free(bytes.data);
    return err;
}

agg_err recipe_print_encoding(FILE *stream, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    cJSON *json = agg_json_parse(error, (const char *)bytes.data, bytes.len);
    if (json == NULL)
        err = agg_json_refusal(error);
    else if (!cJSON_IsArray(json))
        err = agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "an encoding is a JSON array");
    while (bytes.len > 0 && bytes.data[bytes.len - 1] <= ' ') bytes.len--;
    if (err == SHOAL_OK)
        fprintf(stream, "  \"encoding\": %.*s,\n", (int)bytes.len, (const char *)bytes.data);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", path);
    cJSON_Delete(json);
    free(bytes.data);
    return err;
}
