// SPDX-License-Identifier: Apache-2.0
// Fills errors and names them; see agg_error.h.
#include "agg_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

agg_err agg_fail(agg_error *error, agg_err code, int exit_code, const char *format, ...)
{
    va_list args;
    if (error == NULL) return code;
    error->code = code;
    error->exit_code = exit_code;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return code;
}

agg_err agg_fail_core(agg_error *error, agg_err code, int exit_code)
{
    return agg_fail(error, code, exit_code, "%s", shoal_err_text((shoal_err)code));
}

void agg_error_prefix(agg_error *error, const char *format, ...)
{
    char text[sizeof error->text];
    va_list args;
    if (error == NULL) return;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0) return;
    size_t used = strlen(text), room = sizeof text - used;
    if (room > 2) {
        size_t tail = strlen(error->text);
        if (tail > room - 3) tail = room - 3;
        memcpy(text + used, ": ", 2);
        memcpy(text + used + 2, error->text, tail);
        text[used + 2 + tail] = '\0';
    }
    memcpy(error->text, text, sizeof text);
}

const char *agg_err_name(agg_err code)
{
    static const char *const names[] = {"io",    "memory",    "json",  "cohort",    "rejected",
                                        "usage", "signature", "alarm", "incomplete"};
    if (code >= AGG_ERR_IO && code - AGG_ERR_IO < sizeof names / sizeof names[0])
        return names[code - AGG_ERR_IO];
    return shoal_err_name((shoal_err)code);
}
