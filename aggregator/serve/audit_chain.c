// SPDX-License-Identifier: Apache-2.0
// Sealing and checking lines; see audit_chain.h.
#include "audit_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "field_text.h"
#include "json_walk.h"
#include "sha256.h"

#define HASH_MARK ",\"hash\":\""
enum { MARK_LEN = 9, HASH_LEN = 64, END_LEN = 2, NUMBER_MAX = 40 };

_Static_assert(MARK_LEN + HASH_LEN + END_LEN + 1 == AGG_AUDIT_SEAL, "a seal and its newline");

void agg_audit_hash_print(char text[65], const uint8_t hash[32])
{
    *shoal_print_hex(text, hash, 32) = '\0';
}

bool agg_audit_hash_parse(uint8_t hash[32], const char *text)
{
    return strlen(text) == HASH_LEN && shoal_parse_hex(hash, 32, &text) == SHOAL_OK;
}

static void hash_line(uint8_t hash[32], const uint8_t before[32], const void *body, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, before, 32);
    shoal_sha256_update(&sha, body, len);
    shoal_sha256_final(hash, &sha);
}

size_t agg_audit_chain_seal(agg_audit_chain *chain, char *line, size_t len)
{
    char text[HASH_LEN + 1];
    hash_line(chain->head, chain->head, line, len);
    agg_audit_hash_print(text, chain->head);
    memcpy(line + len, HASH_MARK, MARK_LEN);
    memcpy(line + len + MARK_LEN, text, HASH_LEN);
    memcpy(line + len + MARK_LEN + HASH_LEN, "\"}\n", END_LEN + 1);
    chain->next++;
    return len + AGG_AUDIT_SEAL;
}

// A line without its newline.
typedef struct line {
    const uint8_t *bytes;
    size_t len;
} line;

// Splits a line into its body and the hash that it states.
// Returns: false if the line does not end in a hash.
static bool split(size_t *body, uint8_t stated[32], line l)
{
    if (l.len < AGG_AUDIT_SEAL) return false;
    *body = l.len - (AGG_AUDIT_SEAL - 1);
    const char *seal = (const char *)l.bytes + *body, *digits = seal + MARK_LEN;
    return memcmp(seal, HASH_MARK, MARK_LEN) == 0 &&
           memcmp(digits + HASH_LEN, "\"}", END_LEN) == 0 &&
           shoal_parse_hex(stated, 32, &digits) == SHOAL_OK;
}

// Moves the chain over a line.
// Returns: NULL, or why the line does not fit; the chain is then unchanged.
static const char *step(agg_audit_chain *chain, line l)
{
    char number[NUMBER_MAX];
    uint8_t stated[32], hash[32];
    size_t body,
        len = (size_t)snprintf(number, sizeof number, "{\"seq\":%" PRIu64 ",", chain->next);
    if (!split(&body, stated, l)) return "it is not a line of an audit log";
    if (body < len || memcmp(l.bytes, number, len) != 0)
        return "its number does not follow: lines were removed, added or moved";
    hash_line(hash, chain->head, l.bytes, body);
    if (memcmp(hash, stated, 32) != 0)
        return "its hash does not fit: the line or one before it was changed";
    memcpy(chain->head, hash, 32);
    chain->next++;
    return NULL;
}

// Returns: the string that a line has under a name, "" if it has none.
static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text == NULL ? "" : text;
}

// Returns: the number that a line has under a name, UINT64_MAX if it has none.
static uint64_t number_of(const cJSON *json, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(json, name);
    bool is_number =
        cJSON_IsNumber(found) && found->valuedouble >= 0 && found->valuedouble < 9007199254740992.0;
    return is_number ? (uint64_t)found->valuedouble : UINT64_MAX;
}

// Reads the first line of a file: what it says of the file before it.
static const char *begin(agg_audit_chain *chain, agg_audit_scan *scan, line l)
{
    uint8_t previous[32];
    cJSON *json = agg_json_parse(NULL, (const char *)l.bytes, l.len);
    const char *why = NULL;
    uint64_t number = number_of(json, "seq");
    if (strcmp(text_of(json, "what"), "begin") != 0 || number == UINT64_MAX ||
        !agg_audit_hash_parse(previous, text_of(json, "previous"))) {
        why = "it does not name the file before it, as the first line of a file must";
    } else if (!chain->is_started) {
        memcpy(chain->head, previous, 32);
        chain->next = number;
        chain->is_started = true;
    } else if (memcmp(previous, chain->head, 32) != 0) {
        why = "it does not continue the file before it: lines or files are missing";
    }
    snprintf(scan->before, sizeof scan->before, "%s", text_of(json, "previous_file"));
    cJSON_Delete(json);
    return why != NULL ? why : step(chain, l);
}

// Returns: whether a line is the note of a piece of len bytes, and fits the chain, which then moves
// on.
static bool notes_torn(agg_audit_chain *chain, line l, const uint8_t *piece, size_t len)
{
    uint8_t hash[32];
    char text[HASH_LEN + 1];
    agg_audit_chain moved = *chain;
    if (step(&moved, l) != NULL) return false;
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, piece, len);
    shoal_sha256_final(hash, &sha);
    agg_audit_hash_print(text, hash);
    cJSON *json = agg_json_parse(NULL, (const char *)l.bytes, l.len);
    bool is_note = strcmp(text_of(json, "what"), "torn") == 0 && number_of(json, "bytes") == len &&
                   strcmp(text_of(json, "sha256"), text) == 0;
    cJSON_Delete(json);
    if (is_note) *chain = moved;
    return is_note;
}

// Returns: the line at `at`; its length is SIZE_MAX if no newline ends it.
static line line_at(const uint8_t *bytes, size_t len, size_t at)
{
    const uint8_t *end = at < len ? memchr(bytes + at, '\n', len - at) : NULL;
    return (line){bytes + at, end == NULL ? SIZE_MAX : (size_t)(end - (bytes + at))};
}

// Looks behind a piece that is no line of the chain for the line that notes it.
// Returns: the end of that line, or 0. *is_cut: nothing behind the piece looks like a whole line,
// so the piece may be a write that was cut off just now.
static size_t find_note(agg_audit_chain *chain, bool *is_cut, const uint8_t *bytes, size_t len,
                        size_t at)
{
    *is_cut = true;
    line l = line_at(bytes, len, at);
    while (l.len != SIZE_MAX) {
        if (l.len >= END_LEN && memcmp(l.bytes + l.len - END_LEN, "\"}", END_LEN) == 0) {
            size_t piece = (size_t)(l.bytes - (bytes + at));
            if (piece > 0 && notes_torn(chain, l, bytes + at, piece - 1))
                return at + piece + l.len + 1;
            *is_cut = false;
            return 0;
        }
        l = line_at(bytes, len, (size_t)(l.bytes - bytes) + l.len + 1);
    }
    return 0;
}

static agg_err refuse(agg_error *error, const char *name, uint64_t number, const char *why)
{
    return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_RUNTIME, "%s: line %" PRIu64 ": %s", name,
                    number, why);
}

agg_err agg_audit_chain_scan(agg_audit_chain *chain, agg_audit_scan *scan, agg_error *error,
                             const char *name, const uint8_t *bytes, size_t len,
                             const uint8_t *wanted)
{
    *scan = (agg_audit_scan){0};
    for (size_t at = 0; at < len;) {
        line l = line_at(bytes, len, at);
        bool is_open = l.len == SIZE_MAX;
        if (is_open) l.len = len - at;
        const char *why = at == 0 ? begin(chain, scan, l) : step(chain, l);
        size_t end = why == NULL ? at + l.len + !is_open : 0;
        scan->is_open = is_open && why == NULL;
        bool is_cut = false;
        if (why != NULL && at > 0) end = find_note(chain, &is_cut, bytes, len, at);
        if (end == 0 && is_cut) break;
        if (end == 0) return refuse(error, name, scan->lines + scan->torn + 1, why);
        if (why != NULL) scan->torn++;
        scan->lines++;
        scan->good = at = end;
        if (wanted != NULL && !scan->is_found && memcmp(wanted, chain->head, 32) == 0) {
            scan->is_found = true;
            scan->found = scan->lines + scan->torn;
            scan->found_lines = scan->lines;
        }
    }
    scan->tail = len - scan->good;
    return scan->good > 0 ? SHOAL_OK
                          : agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_RUNTIME,
                                     "%s: the file is empty", name);
}
