// SPDX-License-Identifier: Apache-2.0
// Prints logs, and keeps the head that was seen; see tlog_print.h.
#include "tlog_print.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agg_file.h"
#include "print_text.h"
#include "recipe_json.h"

agg_err agg_tlog_compare_seen(agg_tlog *log, uint64_t *seen, agg_error *error, const char *path,
                              const agg_tlog_key *key)
{
    struct stat status;
    agg_bytes note;
    agg_tlog_head head;
    *seen = UINT64_MAX;
    if (stat(path, &status) != 0) return SHOAL_OK;
    agg_err err = agg_file_read(&note, error, path, AGG_TLOG_NOTE_MAX);
    if (err != SHOAL_OK) return err;
    err = agg_tlog_follows(log, error, (const char *)note.data, note.len, key);
    if (err == SHOAL_OK) err = agg_tlog_head_read(&head, error, (const char *)note.data, note.len);
    if (err == SHOAL_OK) *seen = head.size;
    free(note.data);
    return err;
}

agg_err agg_tlog_keep_seen(const agg_tlog *log, agg_error *error, const char *path)
{
    agg_file file;
    agg_err err = agg_file_create(&file, error, path);
    if (err != SHOAL_OK) return err;
    (void)fwrite(log->note, 1, log->note_len, file.stream); // agg_file_commit finds what failed
    return agg_file_commit(&file, error);
}

static void print_day(uint32_t day)
{
    time_t at = (time_t)day * 86400;
    struct tm date;
    char text[32] = "";
    if (gmtime_r(&at, &date) != NULL) strftime(text, sizeof text, "%Y-%m-%d", &date);
    fputs(text, stdout);
}

static void print_table(const agg_tlog *log, bool is_signed, uint64_t seen)
{
    char root[65];
    agg_hex(root, log->head.root, 32);
    printf("log         %s\n", log->head.origin);
    printf("entries     %" PRIu64 ": %" PRIu64 " recipes, %" PRIu64 " queries, %" PRIu64
           " key lists\n",
           log->head.size, log->counts[AGG_TLOG_RECIPE], log->counts[AGG_TLOG_QUERY],
           log->counts[AGG_TLOG_KEYS]);
    printf("root        %s\n", root);
    printf("signature   %s\n", is_signed ? "good" : "not checked: no --key is given");
    if (log->head.signatures > 1)
        printf("            %zu lines of other keys, not checked\n", log->head.signatures - 1);
    if (log->counts[AGG_TLOG_KEYS] > 0) {
        printf("key list    serial %" PRIu32 ", entry %" PRIu64 ", ", log->keys->serial,
               log->keys_at);
        print_day(log->keys->from);
        fputs(" to ", stdout);
        print_day(log->keys->until);
        putchar('\n');
    }
    if (seen != UINT64_MAX)
        printf("last look   %" PRIu64 " entries, and all are still there\n", seen);
}

static void print_json(const agg_tlog *log, bool is_signed, uint64_t seen)
{
    char root[65];
    agg_hex(root, log->head.root, 32);
    fputs("{\"log\":", stdout);
    agg_print_json_text(stdout, log->head.origin, strlen(log->head.origin));
    printf(",\"fault\":null,\"size\":%" PRIu64 ",\"recipes\":%" PRIu64 ",\"queries\":%" PRIu64
           ",\"key_lists\":%" PRIu64 ",\"root\":\"%s\",\"signature\":\"%s\",\"keys\":",
           log->head.size, log->counts[AGG_TLOG_RECIPE], log->counts[AGG_TLOG_QUERY],
           log->counts[AGG_TLOG_KEYS], root, is_signed ? "good" : "unchecked");
    if (log->counts[AGG_TLOG_KEYS] > 0)
        printf("{\"serial\":%" PRIu32 ",\"index\":%" PRIu64 ",\"from\":%" PRIu32
               ",\"until\":%" PRIu32 "}",
               log->keys->serial, log->keys_at, log->keys->from, log->keys->until);
    else
        fputs("null", stdout);
    if (seen != UINT64_MAX)
        printf(",\"seen\":%" PRIu64 "}\n", seen);
    else
        fputs(",\"seen\":null}\n", stdout);
}

void agg_tlog_print_fault(const agg_tlog *log, const agg_error *error)
{
    printf("{\"fault\":\"%s\",\"text\":", agg_tlog_fault_name(log->fault));
    agg_print_json_text(stdout, error->text, strlen(error->text));
    fputs("}\n", stdout);
}

void agg_tlog_print(const agg_tlog *log, bool is_signed, uint64_t seen, bool is_json)
{
    (is_json ? print_json : print_table)(log, is_signed, seen);
}

void agg_tlog_print_proof(const agg_tlog *log, uint64_t index)
{
    uint8_t proof[AGG_TLOG_PROOF_MAX][AGG_TLOG_HASH], base64[48];
    size_t n = agg_tlog_tree_inclusion(proof, &log->tree, index, log->head.size);
    printf("c2sp.org/tlog-proof@v1\nindex %" PRIu64 "\n", index);
    for (size_t i = 0; i < n; i++) {
        EVP_EncodeBlock(base64, proof[i], AGG_TLOG_HASH);
        printf("%s\n", (const char *)base64);
    }
    printf("\n%s", log->note);
}
