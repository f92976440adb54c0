// SPDX-License-Identifier: Apache-2.0
// XofTurboShake128 (draft-irtf-cfrg-vdaf section "XofTurboShake128") expands a seed, a domain
// separation tag and a binder string to any number of bytes.
//
// The binder may be absorbed in pieces. The first squeeze ends it, and nothing may be absorbed
// after that.
#ifndef SHOAL_XOF_H
#define SHOAL_XOF_H

#include <stdbool.h>

#include "shoal_err.h"
#include "turboshake.h"

#define SHOAL_XOF_SEED 32    // bytes of a seed in every VDAF
#define SHOAL_XOF_SEED_08 16 // bytes of a seed in VDAF-08

typedef struct shoal_xof {
    shoal_turboshake sponge;
    bool is_squeezing;
} shoal_xof;

// Starts a XOF whose tag is `tag` followed by `context`.
//   seed_len: 0 .. 255
//   tag_len + context_len: 0 .. 65535
// Returns: SHOAL_ERR_RANGE if one is longer; *xof must not be used then.
shoal_err shoal_xof_init(shoal_xof *xof, const uint8_t *seed, size_t seed_len, const uint8_t *tag,
                         size_t tag_len, const uint8_t *context,
                         size_t context_len) SHOAL_MUST_CHECK;

// Starts a XOF in VDAF-08's framing: the tag's length is one byte, the seed's length is implied,
// and there is no context.
//   tag_len: 0 .. 255
void shoal_xof_init_08(shoal_xof *xof, const uint8_t seed[SHOAL_XOF_SEED_08], const uint8_t *tag,
                       uint8_t tag_len);

// Appends len bytes to the binder. Only before the first squeeze.
void shoal_xof_absorb(shoal_xof *xof, const uint8_t *binder, size_t len);
// Writes the next len bytes of the output.
void shoal_xof_squeeze(uint8_t *out, size_t len, shoal_xof *xof);

#endif
