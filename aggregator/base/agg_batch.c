// SPDX-License-Identifier: Apache-2.0
// Hashes batches by libcrypto where the build has it; see agg_batch.h.
#include "agg_batch.h"

#include <stdbool.h>
#include <string.h>

#ifdef SHOAL_WITH_SIGNATURES
#include <openssl/evp.h>

// Writes the id of a batch. Returns: false where libcrypto fails, for instance without memory.
static bool fast_id(uint8_t id[16], const shoal_batch *batch, const uint8_t *bytes)
{
    shoal_batch_piece pieces[SHOAL_BATCH_ID_PIECES];
    uint8_t digest[EVP_MAX_MD_SIZE];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    shoal_batch_id_pieces(pieces, batch, bytes);
    bool is_ok = context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    for (int i = 0; is_ok && i < SHOAL_BATCH_ID_PIECES; i++)
        is_ok = EVP_DigestUpdate(context, pieces[i].bytes, pieces[i].len) == 1;
    is_ok = is_ok && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    if (is_ok) memcpy(id, digest, 16);
    return is_ok;
}
#else
static bool fast_id(uint8_t id[16], const shoal_batch *batch, const uint8_t *bytes)
{
    (void)id, (void)batch, (void)bytes;
    return false;
}
#endif

shoal_err agg_batch_open(shoal_batch *batch, const uint8_t *bytes, size_t len,
                         const shoal_recipe *recipe, uint32_t *bad_record)
{
    shoal_batch head;
    uint8_t id[16];
    shoal_err err = shoal_batch_open_unhashed(&head, bytes, len, recipe, bad_record);
    if (err != SHOAL_OK) return err;
    if (head.version != 1) {
        if (!fast_id(id, &head, bytes)) shoal_batch_id(id, &head, bytes);
        if (memcmp(id, head.id, sizeof id) != 0) return SHOAL_ERR_BATCH_ID;
    }
    *batch = head;
    return SHOAL_OK;
}
