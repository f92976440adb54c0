// SPDX-License-Identifier: Apache-2.0
// Keeps the texts that the rule changed, in blocks; see ruled_texts.h.
#include "ruled_texts.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "text_case.h"
#include "text_rule.h"

#define BLOCK_BYTES ((size_t)1 << 16)

struct agg_ruled_block {
    struct agg_ruled_block *before;
    size_t used;
    char bytes[BLOCK_BYTES];
};

// Makes room for the longest text.
static agg_err reserve(agg_ruled_texts *texts, agg_error *error)
{
    if (texts->last != NULL && BLOCK_BYTES - texts->last->used >= AGG_RULED_TEXT_MAX)
        return SHOAL_OK;
    struct agg_ruled_block *block = agg_alloc(error, 1, sizeof *block);
    if (block == NULL) return AGG_ERR_MEMORY;
    block->before = texts->last;
    texts->last = block;
    return SHOAL_OK;
}

agg_err agg_ruled_text(agg_ruled_texts *texts, agg_error *error, const shoal_recipe *recipe,
                       agg_text *text)
{
    size_t len = 0;
    if (!agg_text_rule_is_applied(recipe) || agg_text_is_kept(recipe, text->bytes, text->len))
        return SHOAL_OK;
    agg_err err = reserve(texts, error);
    if (err != SHOAL_OK) return err;
    char *out = texts->last->bytes + texts->last->used;
    if (!agg_text_apply(out, &len, recipe, *text)) return SHOAL_OK;
    texts->last->used += len;
    *text = (agg_text){out, len};
    return SHOAL_OK;
}

void agg_ruled_texts_release(agg_ruled_texts *texts)
{
    while (texts->last != NULL) {
        struct agg_ruled_block *before = texts->last->before;
        free(texts->last);
        texts->last = before;
    }
}
