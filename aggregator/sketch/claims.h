// SPDX-License-Identifier: Apache-2.0
// Claims list what an accumulator counts, so that nothing is counted twice.
//
// A claim is an id of 16 bytes. A batch is claimed by its own id. An input of NDJSON reports has
// none and is claimed as a whole, by a fingerprint of its bytes (ingest/input_print.h). Servers
// claim what they give out by ids of their own (agg_claim_of).
//
// An accumulator lists its claims exactly, in ascending order. Two accumulators that claim the same
// id share reports, and merging them is refused. A list is complete if every record is claimed by
// one of its ids. Accumulators whose records nobody claimed have an incomplete list: files of older
// versions, those of a server that keeps the ids in its database, and simulated ones. They merge as
// they always did, and overlaps among their records cannot be found.
#ifndef CLAIMS_H
#define CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_CLAIM 16u // bytes of an id

// Ids of one accumulator, 16 MiB of them. Batches of 4,096 records reach the limit of records
// (2^32) before that of ids.
#define AGG_CLAIMS_MAX ((size_t)1 << 20)

typedef struct agg_claims {
    uint8_t (*ids)[AGG_CLAIM]; // ascending, each once
    size_t n, cap;
    bool is_complete; // every record is claimed by one of the ids
} agg_claims;

void agg_claims_release(agg_claims *claims);

// Returns: whether the list has this id.
bool agg_claims_have(const agg_claims *claims, const uint8_t id[AGG_CLAIM]);

// Returns: the first id that is on both lists, a pointer into a's; NULL if there is none.
const uint8_t *agg_claims_shared(const agg_claims *a, const agg_claims *b);

// Checks that the ids of another list can be added, and allocates the memory for them: after it,
// agg_claims_unite of the same two lists succeeds.
// Returns: SHOAL_ERR_DUPLICATE, naming the id, if an id is on both lists; SHOAL_ERR_OVERFLOW beyond
// AGG_CLAIMS_MAX; AGG_ERR_MEMORY.
agg_err agg_claims_reserve(agg_claims *into, agg_error *error,
                           const agg_claims *from) SHOAL_MUST_CHECK;

// Adds the ids of another list; is_complete stays as it is. Cost: one pass over both lists.
// Returns: as agg_claims_reserve; nothing is added then.
agg_err agg_claims_unite(agg_claims *into, agg_error *error,
                         const agg_claims *from) SHOAL_MUST_CHECK;

// Adds ids in any order.
//   ids: n of them; an id that comes twice is refused as SHOAL_ERR_DUPLICATE
// Returns: as agg_claims_unite.
agg_err agg_claims_add(agg_claims *into, agg_error *error, const uint8_t (*ids)[AGG_CLAIM],
                       size_t n) SHOAL_MUST_CHECK;

// Refuses a number of ids beyond AGG_CLAIMS_MAX.
// Returns: SHOAL_ERR_OVERFLOW.
agg_err agg_claims_check_room(agg_error *error, size_t n) SHOAL_MUST_CHECK;

// Makes an id from anything that has no id of its own: the start of SHA-256 over the label, a zero
// byte, and the bytes.
//   label: says what the bytes are, so that two kinds of things never share an id
void agg_claim_of(uint8_t id[AGG_CLAIM], const char *label, const uint8_t *bytes, size_t len);

#define AGG_CLAIM_TEXT (2 * AGG_CLAIM + 1) // characters of a printed id, NUL included

// Prints an id as hex digits.
// Returns: text.
const char *agg_claim_print(char text[AGG_CLAIM_TEXT], const uint8_t id[AGG_CLAIM]);

#endif
