// SPDX-License-Identifier: Apache-2.0
#define RAPPOR_PQF(p, q, f)                                                                        \
    {"parameters.p", NULL, p}, {"parameters.q", NULL, q},                                          \
    {                                                                                              \
        "parameters.f", NULL, f                                                                    \
    }
#define RAPPOR_BLOOM(bits, hashes, cohorts)                                                        \
    SAMPLE_HASH("poly1"), SAMPLE_NUMBER("bits", bits), SAMPLE_NUMBER("hashes", hashes),            \
        SAMPLE_NUMBER("cohorts", cohorts)
static const sample rappor_samples[] = {
    {144, "word", "v42", {RAPPOR_BLOOM(32, 1, 64), RAPPOR_PQF(250000, 750000, 500000)}},
    {145, "site", "example.org", {RAPPOR_BLOOM(128, 2, 128), RAPPOR_PQF(390000, 610000, 450000)}},
    {146, "word", "", {RAPPOR_BLOOM(2, 16, 1), RAPPOR_PQF(499000, 500001, 1)}},
    {147,
     "word",
     "\xc3\xa9t\xc3\xa9",
     {RAPPOR_BLOOM(100, 3, 1000), RAPPOR_PQF(0, 1000000, 333333)}},
    {148,
     "word",
     "zebra",
     {RAPPOR_BLOOM(4096, 4, 65536), RAPPOR_PQF(225000, 775000, 0), SAMPLE_EPSILON(12000000)}},
    {149,
     "word",
     "5",
     {{"seed", TEST_SEED, 0}, SAMPLE_NUMBER("size", 70), RAPPOR_PQF(500000, 750000, 500000)}},
    {150,
     "word",
     "none",
     {{"seed", TEST_SEED, 0}, SAMPLE_NUMBER("size", 2), RAPPOR_PQF(300000, 900000, 999999)}},
    {151,
     "item",
     "2",
     {{"seed", TEST_SEED, 0},
      {"parameters.values", "red,green,blue", 0},
      RAPPOR_PQF(1, 999999, 100000)}},
    {152,
     "number",
     "7250000",
     {{"seed", TEST_SEED, 0},
      SAMPLE_NUMBER("size", 24),
      SAMPLE_NUMBER("low", 0),
      SAMPLE_NUMBER("high", 24),
      RAPPOR_PQF(250000, 750000, 250000)}},
};
