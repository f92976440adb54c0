// SPDX-License-Identifier: Apache-2.0
#define LOLOHA(epsilon, permanent, g)                                                              \
    {"seed", TEST_SEED, 0}, SAMPLE_EPSILON(epsilon),                                               \
        {"parameters.epsilon_permanent", NULL, permanent}, SAMPLE_NUMBER("g", g)
static const sample loloha_samples[] = {
    {304, "item", "1", {LOLOHA(1000000, 2000000, 2), SAMPLE_NUMBER("size", 2)}},
    {305, "item", "14", {LOLOHA(2000000, 1000000, 2), SAMPLE_NUMBER("size", 15)}},
    {306, "item", "none", {LOLOHA(10000, 16000000, 4), SAMPLE_NUMBER("size", 15)}},
    {307, "item", "62", {LOLOHA(4000000, 4000000, 8), SAMPLE_NUMBER("size", 63)}},
    {308, "word", "254", {LOLOHA(16000000, 10000, 16), SAMPLE_NUMBER("size", 255)}},
    {309, "item", "2", {LOLOHA(1234567, 2345678, 4), {"parameters.values", "red,green,blue", 0}}},
    {310,
     "number",
     "7250000",
     {LOLOHA(1000000, 3000000, 8), SAMPLE_NUMBER("size", 24), SAMPLE_NUMBER("low", 0),
      SAMPLE_NUMBER("high", 24)}},
};
