// SPDX-License-Identifier: Apache-2.0
// Lists of words as one string, for recipes that carry ten thousand of them: front-coded words, and
// characters in a row.
//
//     front-coded   entries with one space between them; each a digit, how many leading characters
//     it shares with the entry before it (0-9
//                   a-z A-Z: 0 to 61; the first shares 0), and the rest of it: "0cat 3s 1ow" is
//                   cat, cats, cow. The empty entry is "0".
//     characters    "abcö": a, b, c, ö
//
// A character is a code point of UTF-8. Entries keep their order; a sorted list is short. Any digit
// that the entry before allows is taken: the recipe's hash is over the entries, so that it does not
// depend on how they were written. Source: front coding (Witten, Moffat, Bell, "Managing
// Gigabytes", section 4.1).
#ifndef FRONT_CODED_H
#define FRONT_CODED_H

#include "text_list.h"

#define AGG_FRONT_ENTRY_MAX 256u // bytes of one entry

typedef struct agg_texts {
    size_t n;
    agg_text *texts;
    char *pool; // the texts' bytes
} agg_texts;

// Reads a front-coded string of valid UTF-8, or a row of characters.
//   out: on error nothing is left to release
//   path: what an error calls the string
// Returns: MISSING_FIELD for an empty string; TYPE for what is not written so or has an entry over
// AGG_FRONT_ENTRY_MAX bytes; MEMORY. Cost: time and memory grow with the entries' bytes, at most
// 128 times the string's.
agg_err agg_front_decode(agg_texts *out, agg_error *error, const char *path,
                         agg_text coded) SHOAL_MUST_CHECK;
agg_err agg_characters_split(agg_texts *out, agg_error *error, const char *path,
                             agg_text row) SHOAL_MUST_CHECK;
void agg_texts_release(agg_texts *texts);

// Writes entries front-coded, each sharing as much as it can with the one before.
//   out: NUL-terminated; release with free
//   texts: valid UTF-8, at least one
// Returns: ARGUMENT where an entry holds a space or has more than AGG_FRONT_ENTRY_MAX bytes, or
// there is none; MEMORY.
agg_err agg_front_encode(char **out, size_t *len, agg_error *error, const agg_text *texts,
                         size_t n) SHOAL_MUST_CHECK;

#endif
