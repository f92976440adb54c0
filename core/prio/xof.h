// SPDX-License-Identifier: Apache-2.0
// XofTurboShake128 (draft-irtf-cfrg-vdaf section "XofTurboShake128"): a seed, a domain separation
// tag and a binder string to as many bytes as are wanted.
//
// The binder may be absorbed in pieces; the first squeeze ends it, and nothing may be absorbed
// after.
#ifndef SHOAL_XOF_H
#define SHOAL_XOF_H

#include "shoal_err.h"
#include "turboshake.h"

#define SHOAL_XOF_SEED 32    // bytes of a seed in every VDAF
#define SHOAL_XOF_SEED_08 16 // of VDAF-08

typedef struct shoal_xof {
    shoal_turboshake sponge;
    uint32_t is_squeezing;
} shoal_xof;

// Starts a XOF whose tag is the two byte strings one after the other.
//   seed_len: 0 .. 255
//   tag_len + context_len: 0 .. 65535
// Returns: SHOAL_ERR_RANGE for a longer one, and then *xof is not to be used
shoal_err shoal_xof_init(shoal_xof *xof, const uint8_t *seed, size_t seed_len, const uint8_t *tag,
                         size_t tag_len, const uint8_t *context,
                         size_t context_len) SHOAL_MUST_CHECK;

// Starts a XOF as VDAF-08 frames it: the tag's length is one byte, the seed's goes without saying,
// and there is no context.
//   tag_len: 0 .. 255
void shoal_xof_init_08(shoal_xof *xof, const uint8_t seed[SHOAL_XOF_SEED_08], const uint8_t *tag,
                       uint8_t tag_len);

void shoal_xof_absorb(shoal_xof *xof, const uint8_t *binder, size_t len);
void shoal_xof_squeeze(uint8_t *out, size_t len, shoal_xof *xof);

#endif
