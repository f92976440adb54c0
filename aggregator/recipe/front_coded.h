// SPDX-License-Identifier: Apache-2.0
// Lists of words written as one string, for recipes that carry ten thousand of them.
//
// A front-coded list is entries with one space between two. Each entry is a digit and a rest. The
// digit (0-9 a-z A-Z, 0 to 61) says how many leading characters the entry shares with the one
// before it. "0cat 3s 1ow" is cat, cats, cow. The first entry shares 0; the empty entry is "0".
// A row of characters is a list of single characters: "abcö" is a, b, c, ö.
//
// A character is a code point of UTF-8. Entries keep their order, and a sorted list is shortest. An
// entry may share fewer characters than it could: the recipe's hash is over the entries, so that it
// does not depend on how they were written.
//
// Source: front coding (Witten, Moffat, Bell, "Managing Gigabytes", section 4.1).
#ifndef FRONT_CODED_H
#define FRONT_CODED_H

#include "text_list.h"

#define AGG_FRONT_ENTRY_MAX 256u // bytes of one entry

typedef struct agg_texts {
    size_t n;
    agg_text *texts;
    char *pool; // the texts' bytes
} agg_texts;

// Reads a front-coded list.
//   out: on error nothing is left to release
//   path: the name of the string in errors
//   coded: valid UTF-8
// Returns: SHOAL_ERR_MISSING_FIELD for an empty string; SHOAL_ERR_TYPE for a string that is not
// front-coded or has an entry over AGG_FRONT_ENTRY_MAX bytes; AGG_ERR_MEMORY.
// Cost: time and memory grow with the entries' bytes, at most 128 times the string's.
agg_err agg_front_decode(agg_texts *out, agg_error *error, const char *path,
                         agg_text coded) SHOAL_MUST_CHECK;

// Reads a row of characters; otherwise as agg_front_decode.
agg_err agg_characters_split(agg_texts *out, agg_error *error, const char *path,
                             agg_text row) SHOAL_MUST_CHECK;

void agg_texts_release(agg_texts *texts);

// Writes a front-coded list, in which each entry shares as many characters as it can with the one
// before it.
//   out: NUL-terminated; release with free
//   texts: n entries of valid UTF-8
// Returns: SHOAL_ERR_ARGUMENT for no entries, and for an entry that contains a space or has more
// than AGG_FRONT_ENTRY_MAX bytes; AGG_ERR_MEMORY.
agg_err agg_front_encode(char **out, size_t *len, agg_error *error, const agg_text *texts,
                         size_t n) SHOAL_MUST_CHECK;

#endif
