// SPDX-License-Identifier: Apache-2.0
// Writes a recipe from a part; see part_recipe.h. The recipe states the fields in the mechanism's
// shoal_takes for the part's domain.
#include "part_recipe.h"

#include <inttypes.h>
#include <string.h>

#include "print_text.h"

typedef struct writer {
    FILE *stream;
    const char *comma; // what precedes the next member: "" before the first, then ", "
} writer;

// Writes a member whose number is given in millionths, without trailing zeros.
static void put_micro(writer *w, const char *name, uint64_t micro)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%" PRIu64 ".%06u", micro / 1000000,
                       (unsigned)(micro % 1000000));
    while (text[len - 1] == '0') len--;
    if (text[len - 1] == '.') len--;
    fprintf(w->stream, "%s\"%s\": %.*s", w->comma, name, len, text);
    w->comma = ", ";
}

static void put_whole(writer *w, const char *name, uint32_t number)
{
    put_micro(w, name, (uint64_t)number * 1000000);
}

static void put_values(writer *w, const agg_text *values, uint32_t size)
{
    fprintf(w->stream, "%s\"values\": [", w->comma);
    for (uint32_t i = 0; i < size; i++) {
        if (i > 0) fputs(", ", w->stream);
        agg_print_json_text(w->stream, values[i].bytes, values[i].len);
    }
    fputc(']', w->stream);
    w->comma = ", ";
}

// Writes the members of "parameters". Mechanisms name the part's fields k and m differently, so one
// field can appear as "k" or "cohorts", or as "m", "g" or "bits".
static void put_parameters(writer *w, const shoal_part *part, const agg_recipe_frame *frame,
                           uint32_t takes)
{
    if (takes & SHOAL_TAKES_EPSILON && part->eps_micro > 0)
        put_micro(w, "epsilon", part->eps_micro);
    if (takes & SHOAL_TAKES_PERMANENT) put_micro(w, "epsilon_permanent", part->eps_permanent_micro);
    if (takes & SHOAL_TAKES_K) put_whole(w, "k", part->k);
    if (takes & SHOAL_TAKES_M) put_whole(w, "m", part->m);
    if (takes & SHOAL_TAKES_G) put_whole(w, "g", part->m);
    if (takes & SHOAL_TAKES_BITS) put_whole(w, "bits", part->m);
    if (takes & SHOAL_TAKES_HASHES) put_whole(w, "hashes", part->hashes);
    if (takes & SHOAL_TAKES_COHORTS) put_whole(w, "cohorts", part->k);
    if (takes & SHOAL_TAKES_PQF) {
        put_micro(w, "p", part->pqf_micro[0]);
        put_micro(w, "q", part->pqf_micro[1]);
        put_micro(w, "f", part->pqf_micro[2]);
    }
    if (takes & SHOAL_TAKES_LIST && frame->values != NULL)
        put_values(w, frame->values, part->size);
    else if (takes & SHOAL_TAKES_LIST)
        put_whole(w, "size", part->size);
    if (strcmp(frame->value, "number") == 0)
        fprintf(w->stream, "%s\"low\": %s, \"high\": %s", w->comma, frame->low, frame->high);
}

void agg_part_recipe_print(FILE *stream, const shoal_part *part, const agg_recipe_frame *frame)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(part->mechanism);
    const shoal_takes *own = shoal_mechanism_takes(mechanism, part->domain);
    uint32_t takes = own->needs | own->may;
    writer w = {stream, ""};
    fprintf(stream,
            "{\n  \"recipe\": \"%s\",\n  \"analysis\": \"%s\",\n  \"stream\": \"%s\",\n  "
            "\"value\": \"%s\",\n",
            frame->id, frame->analysis, frame->stream, frame->value);
    if (frame->text != NULL) fprintf(stream, "  \"text\": %s,\n", frame->text);
    fprintf(stream, "  \"mechanism\": \"%s\",\n  \"parameters\": {", mechanism->name);
    put_parameters(&w, part, frame, takes);
    fputs("},\n", stream);
    if (takes & (SHOAL_TAKES_POLY1 | SHOAL_TAKES_AFFINE1))
        fprintf(stream, "  \"hash\": \"%s\",\n", takes & SHOAL_TAKES_POLY1 ? "poly1" : "affine1");
    if (takes & SHOAL_TAKES_SEED) fprintf(stream, "  \"seed\": \"%s\",\n", frame->seed_hex);
    fprintf(stream, "  \"limit\": {\"per_day\": %u},\n", frame->per_day);
    if (frame->send != NULL) fprintf(stream, "  \"send\": %s,\n", frame->send);
    if (frame->batch_minimum > 0)
        fprintf(stream, "  \"batch\": {\"minimum\": %u},\n", frame->batch_minimum);
    if (frame->cohort_minimum > 0)
        fprintf(stream, "  \"cohort\": {\"minimum\": %u},\n", frame->cohort_minimum);
    if (frame->block_minimum > 0)
        fprintf(stream, "  \"block\": {\"minimum\": %u},\n", frame->block_minimum);
    fprintf(stream, "  \"expires\": \"%s\"\n}\n", frame->expires);
}
