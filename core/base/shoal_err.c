// SPDX-License-Identifier: Apache-2.0
// Names and sentences of the core's errors; see shoal_err.h.
#include "shoal_err.h"

#include <stdbool.h>
#include <stddef.h>

static const struct {
    const char *name, *text;
} errors[SHOAL_ERR_COUNT] = {
    [SHOAL_OK] = {"ok", "No error."},
    [SHOAL_ERR_ARGUMENT] = {"argument", "The call breaks the function's contract."},
    [SHOAL_ERR_RANGE] = {"range", "A number or a length is outside its range."},
    [SHOAL_ERR_UNKNOWN_FIELD] = {"unknown-field", "No such field is known."},
    [SHOAL_ERR_MISSING_FIELD] = {"missing-field", "A required field is absent."},
    [SHOAL_ERR_TYPE] = {"type", "A field is not written as its type asks."},
    [SHOAL_ERR_DUPLICATE] = {"duplicate", "A field or a value is given twice."},
    [SHOAL_ERR_MECHANISM] = {"mechanism", "The mechanism is unknown or not part of this build."},
    [SHOAL_ERR_SPACE] = {"space", "The output does not fit."},
    [SHOAL_ERR_BUDGET] = {"budget", "The day's reports are spent."},
    [SHOAL_ERR_FRESH] = {"fresh", "Fresh storage waits for the next UTC day."},
    [SHOAL_ERR_EXPIRED] = {"expired", "The recipe's last day has passed."},
    [SHOAL_ERR_LEDGER] = {"ledger", "The budget ledger cannot be read, so nothing may be sent."},
    [SHOAL_ERR_CAP] = {"cap", "The site's budget has no room for it now."},
#ifndef SHOAL_WITHOUT_READING
    // Errors in records, batches and accumulators. Modules that read none save 220 bytes each after
    // gzip.
    [SHOAL_ERR_RECORD] = {"record", "The recipe's randomizer cannot have made this record."},
    [SHOAL_ERR_TRUNCATED] = {"truncated", "The bytes end too early."},
    [SHOAL_ERR_MAGIC] = {"magic", "The bytes are of another format."},
    [SHOAL_ERR_VERSION] = {"version", "The format's version is not one that is read here."},
    [SHOAL_ERR_CHECKSUM] = {"checksum", "The bytes are damaged: their checksum does not match."},
    [SHOAL_ERR_RECIPE_HASH] = {"recipe-hash", "The bytes belong to another recipe."},
    [SHOAL_ERR_OVERFLOW] = {"overflow", "A count would no longer be exact."},
    [SHOAL_ERR_EXTRA] = {"extra", "Bytes follow where the end should be."},
#endif
};

static bool is_known(shoal_err err)
{
    return (int)err >= 0 && (int)err < (int)SHOAL_ERR_COUNT && errors[err].name != NULL;
}

const char *shoal_err_name(shoal_err err)
{
    return is_known(err) ? errors[err].name : "unknown";
}

const char *shoal_err_text(shoal_err err)
{
    return is_known(err) ? errors[err].text : "An error of unknown number.";
}
