// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over files, for the ordinary tests: every corpus file and every seed that the
// target makes of the mechanisms' samples, every prefix of it, every byte changed in four ways.
// Prints "N passed, N failed"; a broken property aborts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS_MAX 4096
#define SEED_BYTES 1024

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);
size_t fuzz_seed(unsigned char *out, size_t cap, size_t index)
    __attribute__((weak)); // see fuzz_recipe.h

static unsigned long runs;

// A copy of exact length, so that AddressSanitizer sees a read past the end.
static void run(const unsigned char *data, size_t len)
{
    unsigned char *copy = malloc(len > 0 ? len : 1);
    if (copy == NULL) abort();
    memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    runs++;
}

static void replay(unsigned char *data, size_t len)
{
    static const unsigned char changes[] = {0x01, 0x80, 0xff, 0x20};
    for (size_t n = 0; n <= len; n++) run(data, n);
    for (size_t at = 0; at < len; at++)
        for (size_t c = 0; c < sizeof changes; c++) {
            data[at] ^= changes[c];
            run(data, len);
            data[at] ^= changes[c];
        }
}

static void replay_seeds(unsigned char *data)
{
    for (size_t i = 0; fuzz_seed != NULL && i < SEEDS_MAX; i++) {
        size_t len = fuzz_seed(data, SEED_BYTES, i);
        if (len > 0) replay(data, len);
    }
}

int main(int argc, char **argv)
{
    static unsigned char data[1 << 16];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) return fprintf(stderr, "replay: cannot read %s\n", argv[i]), 1;
        replay(data, fread(data, 1, sizeof data, file));
        fclose(file);
    }
    replay_seeds(data);
    printf("%lu passed, 0 failed\n", runs);
    return argc < 2;
}
