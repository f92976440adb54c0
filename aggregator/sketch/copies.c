// SPDX-License-Identifier: Apache-2.0
// A table of fingerprints; see copies.h.
#include "copies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "recipe.h"
#include "record.h"
#include "sketch.h"

#define SLOTS 8192u             // 128 KiB, which a core's cache holds
#define ALL ((uint64_t)1 << 14) // records that are all examined
#define STEP 128u               // one in so many of the records behind them
#define COLLISION 0x1p-60       // more than the chance that two records share a fingerprint
#define TWO_PI 6.283185307179586

// Returns: ln P. The parts of a record are drawn independently once their values are given, so
// their bounds multiply.
static double log_likeliest(const shoal_recipe *recipe)
{
    double sum = 0;
    if (recipe->epochs > 0) return 0;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const agg_sketch_kind *kind = agg_sketch_kind_of(recipe->parts[i].mechanism);
        if (kind->log_likeliest != NULL) sum += kind->log_likeliest(&recipe->parts[i]);
    }
    return sum < 0 ? log(exp(sum) + COLLISION) : 0;
}

agg_err agg_copies_init(agg_copies *copies, agg_error *error, const shoal_recipe *recipe)
{
    *copies = (agg_copies){.log_likeliest = log_likeliest(recipe)};
    if (!(copies->log_likeliest < 0)) return SHOAL_OK;
    copies->record_size = shoal_record_size(recipe);
    copies->slots = agg_alloc(error, SLOTS, sizeof *copies->slots);
    return copies->slots != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

void agg_copies_release(agg_copies *copies)
{
    free(copies->slots);
    memset(copies, 0, sizeof *copies);
}

void agg_copies_clear(agg_copies *copies)
{
    if (copies->slots != NULL) memset(copies->slots, 0, SLOTS * sizeof *copies->slots);
    copies->n = copies->n_examined = 0;
    copies->largest = 0;
}

uint64_t agg_copies_memory(const shoal_recipe *recipe)
{
    return log_likeliest(recipe) < 0 ? SLOTS * (uint64_t)sizeof(agg_copies_slot) : 0;
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    lane = (lane << 29 | lane >> 35) ^ word;
    return lane * 0x9e3779b97f4a7c15u; // odd, so that words that differ stay different
}

// Honest records differ in bits that were drawn, so multiplying tells them apart. Whoever makes two
// records collide raises an alarm, as they could with two copies. Two lanes run at the same time.
static uint64_t print_of(const uint8_t *record, size_t size)
{
    uint64_t lanes[2] = {1, 2};
    size_t i = 0;
    for (; i + 16 <= size; i += 16) {
        lanes[0] = mix(lanes[0], load64_le(record + i));
        lanes[1] = mix(lanes[1], load64_le(record + i + 8));
    }
    uint64_t print = mix(lanes[0], lanes[1] ^ lanes[1] >> 32);
    for (; i < size; i++) print = mix(print, record[i]);
    return mix(print ^ print >> 32, 0);
}

static void examine(agg_copies *copies, const uint8_t *record)
{
    uint64_t print = print_of(record, copies->record_size);
    agg_copies_slot *slot = &copies->slots[print >> 40 & (SLOTS - 1)];
    if (slot->count == 0 || slot->print != print) *slot = (agg_copies_slot){print, 0};
    if (slot->count < UINT32_MAX) slot->count++;
    if (slot->count > copies->largest) copies->largest = slot->count;
    copies->n_examined++;
}

void agg_copies_add(agg_copies *copies, const uint8_t *records, uint32_t count)
{
    if (copies->slots == NULL) return;
    uint64_t end = copies->n + count, at = copies->n;
    if (at > ALL) at = (at + STEP - 1) / STEP * STEP;
    while (at < end) {
        examine(copies, records + (size_t)(at - copies->n) * copies->record_size);
        at = at + 1 < ALL ? at + 1 : (at / STEP + 1) * STEP;
    }
    copies->n = end;
}

void agg_copies_merge(agg_copies *into, const agg_copies *from)
{
    into->n += from->n;
    into->n_examined += from->n_examined;
    if (from->largest > into->largest) into->largest = from->largest;
}

void agg_copies_seen_add(agg_copies_seen *into, const agg_copies_seen *from, bool is_first)
{
    into->n_examined += from->n_examined;
    if (from->largest > into->largest) into->largest = from->largest;
    into->is_whole = from->is_whole && (is_first || into->is_whole);
}

// Returns: C(n, g) P^(g-1), with n^g for n!/(n-g)! and Stirling's lower bound of g!.
static double bound(double n, uint32_t largest, double log_p)
{
    double g = largest;
    if (largest < 2 || !(log_p < 0)) return 1;
    double log_factorial = 0.5 * log(TWO_PI * g) + g * (log(g) - 1);
    return fmin(1, exp(g * log(n) - log_factorial + (g - 1) * log_p));
}

double agg_copies_p(const agg_copies *copies)
{
    if (copies->slots == NULL) return 1;
    return bound((double)copies->n_examined, copies->largest, copies->log_likeliest);
}

double agg_copies_seen_p(double *likeliest, const shoal_recipe *recipe, const agg_copies_seen *seen)
{
    double log_p = log_likeliest(recipe);
    *likeliest = exp(log_p);
    return bound((double)seen->n_examined, seen->largest, log_p);
}

bool agg_copies_line(char line[AGG_COPIES_LINE_MAX], const agg_copies *copies)
{
    double p = agg_copies_p(copies);
    if (p > AGG_COPIES_RATE) return false;
    snprintf(line, AGG_COPIES_LINE_MAX,
             "alarm identical-records: one record came %u times or more among %llu that were "
             "examined; honest devices send it so often with a chance of at most %.1g",
             copies->largest, (unsigned long long)copies->n_examined, fmax(p, 1e-300));
    return true;
}
