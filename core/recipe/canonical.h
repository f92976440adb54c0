// SPDX-License-Identifier: Apache-2.0
// A writer of canonical bytes, which recipes and policies are hashed in. Each field is a tag (u16),
// a length (u32) and a value; integers are big-endian. The header is private to the core.
#ifndef SHOAL_CANONICAL_H
#define SHOAL_CANONICAL_H

#include <stdbool.h>

#include "bytes.h"
#include "encoding.h"

typedef struct shoal_canonical {
    uint8_t *out;
    size_t cap, len;
    bool is_full; // some bytes did not fit, so the output is unusable
} shoal_canonical;

static inline void shoal_canonical_put(shoal_canonical *w, const void *bytes, size_t len)
{
    if (len > w->cap - w->len) {
        w->is_full = true;
        return;
    }
    if (len > 0) memcpy(w->out + w->len, bytes, len);
    w->len += len;
}

static inline void shoal_canonical_field(shoal_canonical *w, uint16_t tag, const void *bytes,
                                         size_t len)
{
    uint8_t head[6] = {(uint8_t)(tag >> 8), (uint8_t)tag};
    store32_be(head + 2, (uint32_t)len);
    shoal_canonical_put(w, head, sizeof head);
    shoal_canonical_put(w, bytes, len);
}

// Opens a field whose length is known only after its value is written. Pass the returned position
// to shoal_canonical_close.
static inline size_t shoal_canonical_open(shoal_canonical *w, uint16_t tag)
{
    shoal_canonical_field(w, tag, NULL, 0);
    return w->len;
}

static inline void shoal_canonical_close(shoal_canonical *w, size_t start)
{
    if (!w->is_full) store32_be(w->out + start - 4, (uint32_t)(w->len - start));
}

static inline void shoal_canonical_number(shoal_canonical *w, uint32_t number)
{
    uint8_t bytes[4];
    store32_be(bytes, number);
    shoal_canonical_put(w, bytes, sizeof bytes);
}

static inline void shoal_canonical_name(shoal_canonical *w, const shoal_name *name)
{
    shoal_canonical_put(w, &name->len, 1);
    shoal_canonical_put(w, name->bytes, name->len);
}

static inline void shoal_canonical_list(shoal_canonical *w, const shoal_list *list)
{
    shoal_canonical_number(w, list->count);
    shoal_canonical_put(w, list->digest, sizeof list->digest);
}

#endif
