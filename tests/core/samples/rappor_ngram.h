// SPDX-License-Identifier: Apache-2.0
#define NGRAM_BLOOM(bits, hashes, cohorts)                                                         \
    SAMPLE_HASH("poly1"), SAMPLE_NUMBER("bits", bits), SAMPLE_NUMBER("hashes", hashes),            \
        SAMPLE_NUMBER("cohorts", cohorts)
#define NGRAM_PQF(p, q, f)                                                                         \
    {"parameters.p", NULL, p}, {"parameters.q", NULL, q},                                          \
    {                                                                                              \
        "parameters.f", NULL, f                                                                    \
    }
#define NGRAM_TEXT(length, n, alphabet)                                                            \
    SAMPLE_NUMBER("length", length), SAMPLE_NUMBER("n", n),                                        \
    {                                                                                              \
        "parameters.alphabet", alphabet, 0                                                         \
    }
static const sample rappor_ngram_samples[] = {
    {192,
     "word",
     "hello",
     {NGRAM_BLOOM(128, 2, 8), NGRAM_PQF(250000, 750000, 0),
      NGRAM_TEXT(20, 2, "abcdefghijklmnopqrstuvwxyz")}},
    {193, "word", "", {NGRAM_BLOOM(2, 1, 1), NGRAM_PQF(499000, 500001, 1), NGRAM_TEXT(2, 1, "a")}},
    {194,
     "word",
     "longer than the thirty-two bytes of it",
     {NGRAM_BLOOM(20, 3, 5), NGRAM_PQF(390000, 610000, 450000),
      NGRAM_TEXT(32, 3, " -.0123456789abcdefghijklmnopqrstuvwxyz"), SAMPLE_NUMBER("grams", 3),
      SAMPLE_EPSILON(16000000)}},
    {195,
     "site",
     "example.org",
     {NGRAM_BLOOM(64, 1, 4096), NGRAM_PQF(250000, 700000, 333333),
      NGRAM_TEXT(16, 4, "-.abcdefghijklmnopqrstuvwxyz"), SAMPLE_NUMBER("grams", 4)}},
    {196,
     "word",
     "\xc3\xa9t\xc3\xa9",
     {NGRAM_BLOOM(16, 2, 1), NGRAM_PQF(0, 500000, 400000), NGRAM_TEXT(5, 2, "et"),
      SAMPLE_NUMBER("grams", 2)}},
};
