// SPDX-License-Identifier: Apache-2.0
static const sample subset_samples[] = {
    {96, "word", "1", {SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("size", 2)}},
    {97, "word", "none", {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 11)}},
    {98, "word", "777", {SAMPLE_EPSILON(2000000), SAMPLE_NUMBER("size", 1000)}},
    {99, "item", "16777215", {SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("size", 16777216)}},
    {100, "item", "123456", {SAMPLE_EPSILON(8000000), SAMPLE_NUMBER("size", 300000)}},
    {101, "item", "0", {SAMPLE_EPSILON(10000), SAMPLE_NUMBER("size", 4)}},
    {102, "item", "2", {SAMPLE_EPSILON(500000), {"parameters.values", "red,green,blue", 0}}},
    {103,
     "number",
     "7250000",
     {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 24), SAMPLE_NUMBER("low", 0),
      SAMPLE_NUMBER("high", 24)}},
};
