// SPDX-License-Identifier: Apache-2.0
// Implements XofTurboShake128; see xof.h.
#include "xof.h"

shoal_err shoal_xof_init(shoal_xof *xof, const uint8_t *seed, size_t seed_len, const uint8_t *tag,
                         size_t tag_len, const uint8_t *context, size_t context_len)
{
    if (seed_len > 255 || tag_len > 65535 || context_len > 65535 - tag_len) return SHOAL_ERR_RANGE;
    size_t dst_len = tag_len + context_len;
    const uint8_t dst_size[2] = {(uint8_t)dst_len, (uint8_t)(dst_len >> 8)},
                  seed_size = (uint8_t)seed_len;
    xof->is_squeezing = false;
    shoal_turboshake_init(&xof->sponge);
    shoal_turboshake_absorb(&xof->sponge, dst_size, sizeof dst_size);
    shoal_turboshake_absorb(&xof->sponge, tag, tag_len);
    shoal_turboshake_absorb(&xof->sponge, context, context_len);
    shoal_turboshake_absorb(&xof->sponge, &seed_size, 1);
    shoal_turboshake_absorb(&xof->sponge, seed, seed_len);
    return SHOAL_OK;
}

void shoal_xof_init_08(shoal_xof *xof, const uint8_t seed[SHOAL_XOF_SEED_08], const uint8_t *tag,
                       uint8_t tag_len)
{
    xof->is_squeezing = false;
    shoal_turboshake_init(&xof->sponge);
    shoal_turboshake_absorb(&xof->sponge, &tag_len, 1);
    shoal_turboshake_absorb(&xof->sponge, tag, tag_len);
    shoal_turboshake_absorb(&xof->sponge, seed, SHOAL_XOF_SEED_08);
}

void shoal_xof_absorb(shoal_xof *xof, const uint8_t *binder, size_t len)
{
    shoal_turboshake_absorb(&xof->sponge, binder, len);
}

void shoal_xof_squeeze(uint8_t *out, size_t len, shoal_xof *xof)
{
    if (!xof->is_squeezing) shoal_turboshake_end(&xof->sponge, 1);
    xof->is_squeezing = true;
    shoal_turboshake_squeeze(out, len, &xof->sponge);
}
