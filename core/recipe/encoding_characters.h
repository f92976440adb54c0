// SPDX-License-Identifier: Apache-2.0
// The lists `starts` and `characters` of an encoding, and its step, which only tries use. They have
// their own file so that WebAssembly modules without tries do not link them. The header is private
// to the core.
#ifndef SHOAL_ENCODING_CHARACTERS_H
#define SHOAL_ENCODING_CHARACTERS_H

#include <stdbool.h>

#include "encoding.h"

// Returns: the field with the given index, created if the index is the next one, or NULL with a
// sentence in *why.
shoal_encoded *shoal_encoding_at(shoal_encoding *encoding, uint32_t index, const char **why);

// Adds an entry to the starts or the characters of a field.
//   why: static sentence, written on error
// Returns: RANGE, TYPE, DUPLICATE.
shoal_err shoal_encoding_add_characters(shoal_encoding *encoding, uint32_t index,
                                        enum shoal_encoded_list list, const char *text, size_t len,
                                        const char **why) SHOAL_MUST_CHECK;

// Sets the step of a field of characters, 1 .. SHOAL_STEP_MAX.
shoal_err shoal_encoding_set_step(shoal_encoding *encoding, uint32_t index, uint32_t step,
                                  const char **why) SHOAL_MUST_CHECK;

#endif
