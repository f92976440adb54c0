// SPDX-License-Identifier: Apache-2.0
// Implements what prio3.c and prio3_field.h share: the XOF of each usage, and the seed of the joint
// randomness; see prio3_private.h.
#include "bytes.h"
#include "prio3_private.h"

size_t shoal_prio3_message_len(const shoal_prio3 *prio3)
{
    return prio3->flp.joint_rand_len > 0 ? prio3->seed : 0;
}

size_t shoal_prio3_public_share_len(const shoal_prio3 *prio3)
{
    return shoal_prio3_message_len(prio3) * prio3->shares;
}

void shoal_prio3_xof(shoal_xof *xof, const shoal_prio3 *prio3, prio3_usage usage,
                     const uint8_t *seed, shoal_prio3_bytes ctx)
{
    uint8_t tag[PRIO3_TAG] = {(uint8_t)prio3->version, 0 /* algorithm class: VDAF */};
    store32_be(tag + 2, prio3->algorithm);
    tag[7] = (uint8_t)usage;
    if (prio3->version != SHOAL_PRIO3_VERSION) {
        shoal_xof_init_08(xof, seed, tag, sizeof tag);
    } else {
        shoal_err err = shoal_xof_init(xof, seed, SHOAL_XOF_SEED, tag, sizeof tag, ctx.at, ctx.len);
        (void)err; // cannot fail: every length is in its range
    }
    xof->sponge.cpu = prio3->cpu;
}

void shoal_prio3_joint_seed(uint8_t *seed, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                            const uint8_t *parts)
{
    static const uint8_t zeros[SHOAL_XOF_SEED];
    shoal_xof xof;
    shoal_prio3_xof(&xof, prio3, PRIO3_JOINT_RAND_SEED, zeros, ctx);
    shoal_xof_absorb(&xof, parts, shoal_prio3_public_share_len(prio3));
    shoal_xof_squeeze(seed, prio3->seed, &xof);
}
