// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over files, for the ordinary tests: every corpus file, every prefix of it, every byte changed in
// four ways. Prints "N passed, N failed"; a broken property aborts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len);

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

int main(int argc, char **argv)
{
    static unsigned char data[1 << 16];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) return fprintf(stderr, "replay: cannot read %s\n", argv[i]), 1;
        replay(data, fread(data, 1, sizeof data, file));
        fclose(file);
    }
    printf("%lu passed, 0 failed\n", runs);
    return argc < 2;
}
