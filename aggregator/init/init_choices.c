// SPDX-License-Identifier: Apache-2.0
// Lists of choices; see init_choices.h.
#include "init_choices.h"

#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "init_answers.h"
#include "recipe_values.h"

// Takes the values between separators.
//   place: what a value's number is called in errors
static agg_err take(agg_list *values, agg_error *error, const char *at, const char *end,
                    char separator, const char *place)
{
    agg_text texts[INIT_VALUES_MAX];
    size_t n = 0;
    while (at < end) {
        const char *found = memchr(at, separator, (size_t)(end - at)),
                   *stop = found != NULL ? found : end, *next = stop + 1;
        if (stop > at && stop[-1] == '\r') stop--;
        while (separator == ',' && stop > at && stop[-1] == ' ') stop--;
        while (separator == ',' && at < stop && *at == ' ') at++;
        if (n == INIT_VALUES_MAX)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "a page shows at most %u choices; `shoal recipe new --values` writes "
                            "recipes of longer lists",
                            INIT_VALUES_MAX);
        const char *fault = recipe_value_fault(at, (size_t)(stop - at));
        if (fault != NULL)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s %zu: the value %s", place,
                            n + 1, fault);
        texts[n++] = (agg_text){at, (size_t)(stop - at)};
        at = next;
    }
    if (n < 2)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "a list of choices has 2 at least");
    return agg_list_copy(values, error, "choices", texts, n);
}

agg_err init_choices_read(agg_list *values, agg_error *error, const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, (size_t)1 << 20);
    if (err != SHOAL_OK) return err;
    const char *text = (const char *)bytes.data;
    err = take(values, error, text, text + bytes.len, '\n', "line");
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", path);
    free(bytes.data);
    return err;
}

agg_err init_choices_split(agg_list *values, agg_error *error, const char *line)
{
    return take(values, error, line, line + strlen(line), ',', "choice");
}
