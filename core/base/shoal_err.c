// SPDX-License-Identifier: Apache-2.0
// Names and sentences of the core's errors; see shoal_err.h.
#include "shoal_err.h"

#include <stdbool.h>
#include <stddef.h>

// A module whose host has sentences of its own leaves these out.
#ifdef SHOAL_WITHOUT_SENTENCES
#define TEXT(text) ""
#else
#define TEXT(text) text
#endif

static const struct {
    const char *name, *text;
} errors[SHOAL_ERR_COUNT] = {
    [SHOAL_OK] = {"ok", TEXT("No error.")},
    [SHOAL_ERR_ARGUMENT] = {"argument", TEXT("The call breaks the function's contract.")},
    [SHOAL_ERR_RANGE] = {"range", TEXT("A number or a length is outside its range.")},
    [SHOAL_ERR_UNKNOWN_FIELD] = {"unknown-field", TEXT("No such field is known.")},
    [SHOAL_ERR_MISSING_FIELD] = {"missing-field", TEXT("A required field is absent.")},
    [SHOAL_ERR_TYPE] = {"type", TEXT("A field is not written as its type asks.")},
    [SHOAL_ERR_DUPLICATE] = {"duplicate", TEXT("A field or a value is given twice.")},
    [SHOAL_ERR_MECHANISM] = {"mechanism",
                             TEXT("The mechanism is unknown or not part of this build.")},
    [SHOAL_ERR_SPACE] = {"space", TEXT("The output does not fit.")},
    [SHOAL_ERR_BUDGET] = {"budget", TEXT("The day's reports are spent.")},
    [SHOAL_ERR_FRESH] = {"fresh", TEXT("Fresh storage waits for the next UTC day.")},
    [SHOAL_ERR_EXPIRED] = {"expired", TEXT("The recipe's last day has passed.")},
    [SHOAL_ERR_LEDGER] = {"ledger",
                          TEXT("The budget ledger cannot be read, so nothing may be sent.")},
    [SHOAL_ERR_CAP] = {"cap", TEXT("The site's budget has no room for it now.")},
#ifndef SHOAL_WITHOUT_READING
    // Errors in records, batches and accumulators. Modules that read none save 220 bytes each after
    // gzip.
    [SHOAL_ERR_RECORD] = {"record", TEXT("The recipe's randomizer cannot have made this record.")},
    [SHOAL_ERR_TRUNCATED] = {"truncated", TEXT("The bytes end too early.")},
    [SHOAL_ERR_MAGIC] = {"magic", TEXT("The bytes are of another format.")},
    [SHOAL_ERR_VERSION] = {"version", TEXT("The format's version is not one that is read here.")},
    [SHOAL_ERR_CHECKSUM] = {"checksum",
                            TEXT("The bytes are damaged: their checksum does not match.")},
    [SHOAL_ERR_RECIPE_HASH] = {"recipe-hash", TEXT("The bytes belong to another recipe.")},
    [SHOAL_ERR_OVERFLOW] = {"overflow", TEXT("A count would no longer be exact.")},
    [SHOAL_ERR_EXTRA] = {"extra", TEXT("Bytes follow where the end should be.")},
    [SHOAL_ERR_BATCH_ID] = {"batch-id", TEXT("The id is not the hash of the batch.")},
    [SHOAL_ERR_DAY_ZERO] = {"day-zero", TEXT("The day on which the batch was sealed is missing.")},
    [SHOAL_ERR_DAY_LATE] = {"day-late",
                            TEXT("The day on which the batch was sealed is in the future.")},
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
