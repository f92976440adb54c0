// SPDX-License-Identifier: Apache-2.0
// HPKE for another program: one request a line on standard input, one answer a line on standard
// output, all bytes as hex digits, "-" for none.
//
//     seal PUBLIC_KEY INFO AAD PLAINTEXT           -> ENC CIPHERTEXT
//     open SECRET_KEY ENC INFO AAD CIPHERTEXT      -> PLAINTEXT
//
// What is refused is answered with "error " and its name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpke.h"
#include "recipe_json.h"

#define LINE_MAX_LEN ((size_t)1 << 18)
#define FIELD_MAX (LINE_MAX_LEN / 2)

static uint8_t fields[5][FIELD_MAX], out[FIELD_MAX];
static char line[LINE_MAX_LEN], text[LINE_MAX_LEN];

static shoal_bytes take_field(int i)
{
    const char *word = strtok(NULL, " \n");
    size_t len = word == NULL || strcmp(word, "-") == 0 ? 0 : strlen(word) / 2;
    if (word == NULL || (len > 0 && !agg_unhex(fields[i], len, word))) {
        fputs("hpke_pipe: a field is no hex\n", stderr);
        exit(2);
    }
    return (shoal_bytes){fields[i], len};
}

static void print_bytes(const uint8_t *bytes, size_t len, const char *end)
{
    agg_hex(text, bytes, len);
    printf("%s%s", len > 0 ? text : "-", end);
}

static agg_err answer_seal(void)
{
    uint8_t enc[AGG_HPKE_ENC];
    shoal_bytes key = take_field(0), info = take_field(1), aad = take_field(2),
                plaintext = take_field(3);
    agg_err err = agg_hpke()->seal(NULL, enc, out, key.at, info, aad, plaintext);
    if (err != SHOAL_OK) return err;
    print_bytes(enc, sizeof enc, " ");
    print_bytes(out, plaintext.len + AGG_HPKE_TAG, "\n");
    return SHOAL_OK;
}

static agg_err answer_open(void)
{
    shoal_bytes key = take_field(0), enc = take_field(1), info = take_field(2), aad = take_field(3);
    shoal_bytes ciphertext = take_field(4);
    agg_err err = agg_hpke()->open(NULL, out, key.at, enc.at, info, aad, ciphertext);
    if (err == SHOAL_OK) print_bytes(out, ciphertext.len - AGG_HPKE_TAG, "\n");
    return err;
}

int main(void)
{
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *verb = strtok(line, " \n");
        int is_seal = verb != NULL && strcmp(verb, "seal") == 0;
        if (verb == NULL || (!is_seal && strcmp(verb, "open") != 0)) return 2;
        agg_err err = is_seal ? answer_seal() : answer_open();
        if (err != SHOAL_OK) printf("error %s\n", agg_err_name(err));
        fflush(stdout);
    }
    return 0;
}
