// SPDX-License-Identifier: Apache-2.0
// The core's error numbers. The numbers never change, because WebAssembly hosts and JSON carry
// them.
#ifndef SHOAL_ERR_H
#define SHOAL_ERR_H

#if defined(__GNUC__) || defined(__clang__)
#define SHOAL_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SHOAL_MUST_CHECK
#endif

typedef enum shoal_err {
    SHOAL_OK = 0,
    SHOAL_ERR_ARGUMENT = 1,      // the caller broke the function's contract
    SHOAL_ERR_RANGE = 2,         // a number or length outside its range
    SHOAL_ERR_UNKNOWN_FIELD = 3, // a recipe field that no version of this core knows
    SHOAL_ERR_MISSING_FIELD = 4, // a required recipe field is absent
    SHOAL_ERR_TYPE = 5,          // a field or record part does not have the form of its type
    SHOAL_ERR_DUPLICATE = 6,     // a field or value given twice
    SHOAL_ERR_MECHANISM = 7,     // unknown mechanism, or one that this build leaves out
    SHOAL_ERR_RECORD = 8,        // a record that the recipe's randomizer cannot have made
    SHOAL_ERR_TRUNCATED = 9,     // the bytes end before the length in their header
    SHOAL_ERR_MAGIC = 10,        // the bytes are of another format
    SHOAL_ERR_VERSION = 11,      // a format version that this core does not read
    SHOAL_ERR_CHECKSUM = 12,     // the bytes were damaged
    SHOAL_ERR_RECIPE_HASH = 13,  // the bytes belong to another recipe
    SHOAL_ERR_SPACE = 14,        // the output buffer is too small
    SHOAL_ERR_BUDGET = 15,       // the day's reports are spent
    SHOAL_ERR_FRESH = 16,        // fresh storage waits for the next UTC day
    SHOAL_ERR_EXPIRED = 17,      // the recipe's last day has passed
    SHOAL_ERR_LEDGER = 18,       // the ledger cannot be read, so nothing may be sent
    SHOAL_ERR_OVERFLOW = 19,     // a count would no longer be exact
    SHOAL_ERR_EXTRA = 20,        // bytes follow the end
    SHOAL_ERR_CAP = 21,          // the site's budget leaves nothing for this
    SHOAL_ERR_BATCH_ID = 22,     // a batch whose id is not the hash of its bytes
    SHOAL_ERR_DAY_ZERO = 23,     // a batch whose sealed day is missing
    SHOAL_ERR_DAY_LATE = 24,     // a batch whose sealed day no clock can have shown yet
    SHOAL_ERR_COUNT              // the number of errors; not an error itself
} shoal_err;

// Returns: a short static name of err in lower case with hyphens ("recipe-hash"), or "unknown" for
// any other number.
const char *shoal_err_name(shoal_err err);

// Returns: one static English sentence that says what err means.
const char *shoal_err_text(shoal_err err);

#endif
