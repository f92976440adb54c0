// SPDX-License-Identifier: Apache-2.0
// A record is one randomized answer of one device, as fixed-width bytes or as text. Its parts are
// joined in recipe order, bytes without a gap, text by ';'.
#ifndef SHOAL_RECORD_H
#define SHOAL_RECORD_H

#include "recipe_ref.h"

// Returns: bytes of a finished recipe's record; characters of its text form.
uint32_t shoal_record_size(const shoal_recipe *recipe);
uint32_t shoal_record_text_size(const shoal_recipe *recipe);

// Randomizes one event.
//   record: shoal_record_size bytes, written on OK
//   items: n_items == recipe->n_parts items; closed domains take an index in [0, size) or
//     SHOAL_ITEM_NONE. ARGUMENT for a compound of strings, which chooses its items itself
//   permanent: the device's own secret, the same for every report; may be NULL unless
//     shoal_recipe_is_permanent (else ARGUMENT)
//   rng: seeded with 32 bytes from the host's secure source
// Privacy: the recipe's epsilon for one report (shoal_recipe_epsilon), replacement model. Debit the
// ledger first.
// Timing: constant in the items' values (an index out of range is refused by a branch).
shoal_err shoal_record_randomize(uint8_t *record, const shoal_recipe *recipe, const uint64_t *items,
                                 uint32_t n_items, const shoal_permanent *permanent,
                                 shoal_rng *rng) SHOAL_MUST_CHECK;

// Randomizes a string. In an open domain the item is the string's fingerprint; a compound of
// strings (compound.h) makes its own items.
//   bytes: the string after the recipe's text rule
//   permanent, rng: as for shoal_record_randomize
// Returns: ARGUMENT if the recipe takes no strings.
// Privacy, Timing: as for shoal_record_randomize; the number of bytes shows in the time.
shoal_err shoal_record_randomize_string(uint8_t *record, const shoal_recipe *recipe,
                                        const uint8_t *bytes, size_t len,
                                        const shoal_permanent *permanent,
                                        shoal_rng *rng) SHOAL_MUST_CHECK;

// Randomizes "none", in any domain: what a window without an event reports.
//   record, rng: as for shoal_record_randomize
// Returns: ARGUMENT for a recipe with permanent coins, which has no windows.
// Privacy: as for shoal_record_randomize. "None" of an open domain is the fingerprint of a string
// that is drawn anew for every record. One fixed string would collide with itself in every row, and
// add the square of its count to the variance of all others.
shoal_err shoal_record_randomize_none(uint8_t *record, const shoal_recipe *recipe,
                                      shoal_rng *rng) SHOAL_MUST_CHECK;

// Returns: SHOAL_ERR_RECORD unless the recipe's randomizer could have written these
// shoal_record_size bytes.
shoal_err shoal_record_check(const shoal_recipe *recipe, const uint8_t *record) SHOAL_MUST_CHECK;

// Writes the record's text form: shoal_record_text_size characters, no terminator.
shoal_err shoal_record_to_text(char *text, size_t cap, const shoal_recipe *recipe,
                               const uint8_t *record) SHOAL_MUST_CHECK;

// Reads a text record; accepts only texts that shoal_record_to_text writes.
//   record: shoal_record_size bytes; the record on OK, zeros if a text of the right length is
//     refused, else untouched
//   position: where reading stopped, written on error; may be NULL
shoal_err shoal_record_from_text(uint8_t *record, const shoal_recipe *recipe, const char *text,
                                 size_t len, size_t *position) SHOAL_MUST_CHECK;

#endif
