// SPDX-License-Identifier: Apache-2.0
// How the answer to a query becomes one index: fields of an event, each by its own scheme, combined
// into one closed domain.
//
//     boundaries b0 < b1 < ...   a number: bucket 0 is "below b0, or no number", bucket i is
//     [b(i-1), b(i)), the last is open above values     v0, v1, ...     one of a list: bucket 0 is
//     "none of them", bucket i is v(i-1) prefixes and tokens        a sequence of tokens: the
//     prefixes p, all of one depth d, times what comes next: bucket 0 is "begins
//                                with none of the prefixes"; behind it, for each prefix in turn,
//                                "it ends here", "a token that is not listed", then each listed
//                                token. One empty prefix (d = 0) asks for the first token.
//     starts and characters      a word: the starts p, all of d characters, times the next `step`
//     characters: bucket 0 is "begins with none
//                                of the starts"; behind it, for each start in turn, "it ends here",
//                                "a character that is not listed", then the words that end after 1,
//                                2, ... step - 1 more characters, then all that do not end within
//                                the step. A run of i characters is a number of i digits in the
//                                base of the list, the first the most significant.
//
// The buckets of all fields are digits of a mixed radix, the first field's the most significant.
// Texts are looked up by the host, which keeps the lists; here they leave their number and a
// digest. An empty list digest is 32 zero bytes, and an entry makes of digest D the digest
// SHA-256(D, length of the entry as 4 bytes big-endian, entry). Source: apple-2022 Figure 4 and
// Appendix B (whose bucket counts, 1+7 and 1+3*(1+1+9), are these).
#ifndef SHOAL_ENCODING_H
#define SHOAL_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "name.h"
#include "shoal_err.h"

#define SHOAL_ENCODED_MAX 4u             // fields of one encoding
#define SHOAL_BOUNDARIES_MAX 64u         // of one field
#define SHOAL_LIST_MAX (1u << 20)        // entries of one list
#define SHOAL_TOKEN_TEXT_MAX 256u        // bytes of a list's entry
#define SHOAL_DOMAIN_SIZE_MAX (1u << 24) // cells of the whole domain
#define SHOAL_STEP_MAX 4u                // characters of one step
#define SHOAL_DEPTH_MAX 64u              // characters of a start
#define SHOAL_NOT_LISTED UINT32_MAX      // an index where there is none

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
    uint32_t scheme;  // enum shoal_scheme; written by shoal_encoding_finish, as is size
    uint32_t size;    // buckets
    uint32_t depth;   // tokens of every prefix, characters of every start
    uint32_t is_word; // prefixes and tokens hold starts and characters
    uint32_t step;    // characters that come next, 1 .. SHOAL_STEP_MAX; 0 where it is not stated: 1
    uint32_t choices; // buckets of one prefix; written by shoal_encoding_finish
    uint32_t n_boundaries;
    int64_t boundaries[SHOAL_BOUNDARIES_MAX]; // micro-units
    shoal_list values, prefixes, tokens;      // starts are prefixes, characters are tokens
} shoal_encoded;

typedef struct shoal_encoding {
    uint32_t n_fields; // 0: the recipe has none
    shoal_encoded fields[SHOAL_ENCODED_MAX];
} shoal_encoding;

enum shoal_encoded_list {
    SHOAL_LIST_VALUES,
    SHOAL_LIST_PREFIXES,
    SHOAL_LIST_TOKENS,
    SHOAL_LIST_STARTS,
    SHOAL_LIST_CHARACTERS,
    SHOAL_ENCODED_LISTS // how many there are
};

// Adds an entry to a list's number and digest.
void shoal_list_add(shoal_list *list, const char *text, size_t len);

// Each adds to the field of that index: one that is there, or the next.
//   why: static sentence, written on error
// Returns: RANGE, TYPE, DUPLICATE.
shoal_err shoal_encoding_set_field(shoal_encoding *encoding, uint32_t index, const char *name,
                                   size_t len, const char **why) SHOAL_MUST_CHECK;
shoal_err shoal_encoding_add_boundary(shoal_encoding *encoding, uint32_t index, int64_t micro,
                                      const char **why) SHOAL_MUST_CHECK;
shoal_err shoal_encoding_add_text(shoal_encoding *encoding, uint32_t index,
                                  enum shoal_encoded_list list, const char *text, size_t len,
                                  const char **why) SHOAL_MUST_CHECK;

// Checks the whole and writes schemes and sizes.
//   size: cells of the combined domain, 2 .. SHOAL_DOMAIN_SIZE_MAX; written on OK
shoal_err shoal_encoding_finish(shoal_encoding *encoding, uint32_t *size,
                                const char **why) SHOAL_MUST_CHECK;

// Bucket of a number, of the index-th listed value (or SHOAL_NOT_LISTED), of what follows the
// prefix-th prefix. A field that the event lacks is in bucket 0.
//   next: index of the listed token that follows, or one of the two below
// Returns: a bucket below field->size; 0 for an index beyond its list.
// Timing: the first is constant in micro; the others' look-ups were the host's.
#define SHOAL_NEXT_END (UINT32_MAX - 1)
uint32_t shoal_encoded_number(const shoal_encoded *field, int64_t micro);
uint32_t shoal_encoded_value(const shoal_encoded *field, uint32_t index);
uint32_t shoal_encoded_next(const shoal_encoded *field, uint32_t prefix, uint32_t next);

// What follows a start, as `next` of shoal_encoded_next: n listed characters, after which the word
// ends where n is below the step. None: it ends at once; one that is SHOAL_NOT_LISTED among them:
// so is what follows. And the reverse.
//   characters: indices; n at most field->step (1 where that is 0)
// Returns: `next`; the reverse the number of characters written, at most SHOAL_STEP_MAX.
uint32_t shoal_encoded_run(const shoal_encoded *field, const uint32_t *characters, uint32_t n);
uint32_t shoal_encoded_run_of(uint32_t characters[SHOAL_STEP_MAX], const shoal_encoded *field,
                              uint32_t next);

// The item of one bucket a field, in order; and the buckets of an item.
//   buckets: encoding->n_fields, each below its field's size
uint64_t shoal_encoding_item(const shoal_encoding *encoding, const uint32_t *buckets);
void shoal_encoding_buckets(uint32_t *buckets, const shoal_encoding *encoding, uint64_t item);

// What a bucket of tokens or characters stands for: prefix index and next as above.
// Returns: 0 for bucket 0, else 1.
int shoal_encoded_next_of(uint32_t *prefix, uint32_t *next, const shoal_encoded *field,
                          uint32_t bucket);

#endif
