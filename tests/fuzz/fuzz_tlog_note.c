// SPDX-License-Identifier: Apache-2.0
// Properties of the reader of signed notes: a note is refused with a sentence, or its head prints
// and signs to a note with the same head; no note of the fuzzer's is signed by the log's key; a
// verifier key that is read prints as it was.
#include <string.h>

#include "fuzz_aggregator.h"
#include "tlog_note.h"

static void check_key(const char *text)
{
    agg_error error = {SHOAL_OK, 0, ""};
    char printed[AGG_TLOG_VERIFIER_MAX];
    agg_tlog_key key;
    if (agg_tlog_key_read(&key, &error, text) != SHOAL_OK) {
        PROPERTY(error.exit_code == AGG_EXIT_USAGE && error.text[0] != '\0');
        return;
    }
    agg_tlog_key_print(printed, &key);
    PROPERTY(strcmp(printed, text) == 0);
}

static void check_signed(const agg_tlog_head *head)
{
    static char *pem;
    static size_t pem_len;
    static char note[AGG_TLOG_NOTE_MAX];
    static const uint8_t none[32] = {0};
    agg_error error = {SHOAL_OK, 0, ""};
    agg_tlog_key key;
    agg_tlog_head again;
    if (pem == NULL) PROPERTY(agg_tlog_private_new(&pem, &pem_len, &error) == SHOAL_OK);
    PROPERTY(agg_tlog_key_make(&key, &error, head->origin, none) == SHOAL_OK);
    // The key is another one, so that the note is made and then refused.
    PROPERTY(agg_tlog_head_sign(note, &error, &key, head, pem, pem_len) == AGG_ERR_SIGNATURE);
    size_t len = strlen(note);
    memcpy(note + len, "\n\xe2\x80\x94 x AAAA\n", 13);
    PROPERTY(agg_tlog_head_read(&again, &error, note, len + 12) == SHOAL_OK);
    PROPERTY(strcmp(again.origin, head->origin) == 0 && again.size == head->size);
    PROPERTY(memcmp(again.root, head->root, sizeof again.root) == 0 && again.signatures == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t public_key[32] = {9};
    agg_error error = {SHOAL_OK, 0, ""};
    agg_tlog_head head;
    agg_tlog_key key;
    char text[256];
    // An exact copy, so that a read beyond it is seen.
    char *note = malloc(len > 0 ? len : 1);
    PROPERTY(note != NULL);
    memcpy(note, data, len);
    agg_err err = agg_tlog_head_read(&head, &error, note, len);
    if (err == SHOAL_OK) {
        PROPERTY(head.signatures > 0 && head.size < 1000000000000000u);
        check_signed(&head);
        PROPERTY(agg_tlog_key_make(&key, &error, head.origin, public_key) == SHOAL_OK);
        PROPERTY(agg_tlog_note_verify(&error, &key, note, len) != SHOAL_OK);
    } else {
        PROPERTY(error.exit_code != 0 && error.text[0] != '\0');
    }
    free(note);
    if (len < sizeof text && memchr(data, 0, len) == NULL) {
        memcpy(text, data, len);
        text[len] = '\0';
        check_key(text);
    }
    return 0;
}
