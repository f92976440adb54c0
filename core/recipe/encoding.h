// SPDX-License-Identifier: Apache-2.0
// An encoding turns the answer to a query into one index of a closed domain. Each field of the
// event has its own scheme, and the fields' buckets are combined.
//
// - number (boundaries b0 < b1 < ...): bucket 0 is "below b0, or no number". Bucket i is [b(i-1),
//   b(i)), and the last bucket has no upper end.
// - list (values v0, v1, ...): bucket 0 is "none of the values", bucket i is v(i-1).
// - tokens (prefixes and tokens): the prefixes, all d tokens long, combined with the next token.
//   Bucket 0 is "begins with none of the prefixes". Then, for each prefix in turn, come "it ends
//   here", "a token that is not listed" and each listed token. A single empty prefix (d = 0) asks
//   for the first token.
// - characters (starts and characters): the starts, all d characters long, combined with the next
//   `step` characters of a word. Bucket 0 is "begins with none of the starts". Then, for each start
//   in turn, come "it ends here" and "a character that is not listed". The words that end after 1,
//   2, ... step - 1 more characters follow, and after them the words that do not end within the
//   step. A run of i characters is a number of i digits whose base is the length of the list, the
//   first character most significant.
//
// The buckets of all fields are digits of a mixed-radix number, the first field's the most
// significant. The host keeps the lists and looks texts up in them; the encoding stores only each
// list's length and digest. The digest of an empty list is 32 zero bytes. An entry turns digest D
// into SHA-256(D, length of the entry as 4 bytes big-endian, entry).
// Source: apple-2022 Figure 4 and Appendix B (whose bucket counts, 1+7 and 1+3*(1+1+9), are these).
#ifndef SHOAL_ENCODING_H
#define SHOAL_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "name.h"
#include "shoal_err.h"

#define SHOAL_ENCODED_MAX 4u             // fields of one encoding
#define SHOAL_BOUNDARIES_MAX 64u         // boundaries of one field
#define SHOAL_LIST_MAX (1u << 20)        // entries of one list
#define SHOAL_TOKEN_TEXT_MAX 256u        // bytes of a list's entry
#define SHOAL_DOMAIN_SIZE_MAX (1u << 24) // cells of the whole domain
#define SHOAL_STEP_MAX 4u                // characters that a step may add
#define SHOAL_DEPTH_MAX 64u              // characters of a start
#define SHOAL_NOT_LISTED UINT32_MAX      // index of an entry that no list holds

enum shoal_scheme {
    SHOAL_SCHEME_NUMBER = 1,
    SHOAL_SCHEME_LIST = 2,
    SHOAL_SCHEME_TOKENS = 3,
    SHOAL_SCHEME_CHARACTERS = 4
};

typedef struct shoal_list {
    uint32_t count;
    uint8_t digest[32];
} shoal_list;

typedef struct shoal_encoded {
    shoal_name field;
    uint32_t scheme;  // enum shoal_scheme; like size, written by shoal_encoding_finish
    uint32_t size;    // buckets
    uint32_t depth;   // tokens of every prefix, characters of every start
    bool is_word;     // prefixes and tokens hold starts and characters
    uint32_t step;    // characters that come next, 1 .. SHOAL_STEP_MAX; 0 (not stated) means 1
    uint32_t choices; // buckets of one prefix; written by shoal_encoding_finish
    uint32_t n_boundaries;
    int64_t boundaries[SHOAL_BOUNDARIES_MAX]; // micro-units
    shoal_list values, prefixes, tokens;      // starts are prefixes, characters are tokens
} shoal_encoded;

typedef struct shoal_encoding {
    uint32_t n_fields; // 0 if the recipe has no encoding
    shoal_encoded fields[SHOAL_ENCODED_MAX];
} shoal_encoding;

enum shoal_encoded_list {
    SHOAL_LIST_VALUES,
    SHOAL_LIST_PREFIXES,
    SHOAL_LIST_TOKENS,
    SHOAL_LIST_STARTS,
    SHOAL_LIST_CHARACTERS,
    SHOAL_ENCODED_LISTS // number of lists
};

// Adds an entry to a list's count and digest.
void shoal_list_add(shoal_list *list, const char *text, size_t len);

// Each function adds to the field with the given index, which must exist already or be the next
// one.
//   why: static sentence, written on error
// Returns: RANGE, TYPE, DUPLICATE.
shoal_err shoal_encoding_set_field(shoal_encoding *encoding, uint32_t index, const char *name,
                                   size_t len, const char **why) SHOAL_MUST_CHECK;
shoal_err shoal_encoding_add_boundary(shoal_encoding *encoding, uint32_t index, int64_t micro,
                                      const char **why) SHOAL_MUST_CHECK;
shoal_err shoal_encoding_add_text(shoal_encoding *encoding, uint32_t index,
                                  enum shoal_encoded_list list, const char *text, size_t len,
                                  const char **why) SHOAL_MUST_CHECK;

// Checks the complete encoding and writes its schemes and sizes.
//   size: cells of the combined domain, 2 .. SHOAL_DOMAIN_SIZE_MAX; written on OK
shoal_err shoal_encoding_finish(shoal_encoding *encoding, uint32_t *size,
                                const char **why) SHOAL_MUST_CHECK;

// Returns: the bucket, below field->size, of a number, of a listed value, or of what follows a
// prefix. Bucket 0 stands for an index beyond its list. A field that the event lacks is in bucket
// 0, too.
//   index: position in the list of values, or SHOAL_NOT_LISTED
//   next: index of the listed token that follows the prefix-th prefix, or SHOAL_NEXT_END or
//   SHOAL_NOT_LISTED
// Timing: shoal_encoded_number is constant in micro; the host did the other two look-ups.
#define SHOAL_NEXT_END (UINT32_MAX - 1)
uint32_t shoal_encoded_number(const shoal_encoded *field, int64_t micro);
uint32_t shoal_encoded_value(const shoal_encoded *field, uint32_t index);
uint32_t shoal_encoded_next(const shoal_encoded *field, uint32_t prefix, uint32_t next);

// Converts the characters after a start to `next` of shoal_encoded_next, and back. The n characters
// are all that is left of the word if n is below the step. With n = 0 the word ends at once. If one
// of the characters is SHOAL_NOT_LISTED, so is `next`.
//   characters: indices in the list; n is at most field->step (1 where the step is 0)
// Returns: shoal_encoded_run returns `next`; shoal_encoded_run_of returns the number of characters
// written, at most SHOAL_STEP_MAX.
uint32_t shoal_encoded_run(const shoal_encoded *field, const uint32_t *characters, uint32_t n);
uint32_t shoal_encoded_run_of(uint32_t characters[SHOAL_STEP_MAX], const shoal_encoded *field,
                              uint32_t next);

// Converts one bucket per field to an item, and an item to its buckets.
//   buckets: encoding->n_fields buckets in the order of the fields, each below its field's size
uint64_t shoal_encoding_item(const shoal_encoding *encoding, const uint32_t *buckets);
void shoal_encoding_buckets(uint32_t *buckets, const shoal_encoding *encoding, uint64_t item);

// Converts a bucket of a field of tokens or characters to its prefix index and its `next`, as
// above.
// Returns: whether the bucket has a prefix; bucket 0 has none.
bool shoal_encoded_next_of(uint32_t *prefix, uint32_t *next, const shoal_encoded *field,
                           uint32_t bucket);

#endif
