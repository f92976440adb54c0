// SPDX-License-Identifier: Apache-2.0
// Property: an accumulator file that is read is written back as exactly the same bytes. The checksum is put right first.
#include "accumulator.h"
#include "checksum.h"
#include "fuzz_aggregator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_accumulator acc;
    agg_error error = {0};
    if (len < 9) return 0;
    size_t n = len - 1;
    uint8_t *bytes = malloc(n), *again = NULL;
    size_t size = 0;
    PROPERTY(bytes != NULL);
    memcpy(bytes, data + 1, n);
    if (data[0] & 1) {
        uint64_t sum = shoal_checksum_of(bytes, n - 8);
        for (size_t i = 0; i < 8; i++) bytes[n - 8 + i] = (uint8_t)(sum >> (8 * i));
    }
    FILE *in = fmemopen(bytes, n, "rb");
    PROPERTY(in != NULL);
    shoal_err err = agg_accumulator_read(&acc, &error, "input", in);
    fclose(in);
    if (err == SHOAL_OK) {
        FILE *out = open_memstream((char **)&again, &size);
        PROPERTY(out != NULL && agg_accumulator_write(out, &error, &acc) == SHOAL_OK && fclose(out) == 0);
        PROPERTY(size == n && memcmp(again, bytes, n) == 0 && agg_accumulator_size(&acc) == n);
        agg_accumulator_release(&acc);
        free(again);
    } else {
        PROPERTY(error.text[0] != '\0');
    }
    free(bytes);
    return 0;
}
