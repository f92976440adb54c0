// SPDX-License-Identifier: Apache-2.0
static const sample grr_samples[] = {
    {80, "word", "1", {SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("size", 2)}},
    {81, "word", "none", {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 9)}},
    {82, "word", "777", {SAMPLE_EPSILON(8000000), SAMPLE_NUMBER("size", 1000)}},
    {83, "item", "16777215", {SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("size", 16777216)}},
    {84, "item", "2", {SAMPLE_EPSILON(500000), {"parameters.values", "red,green,blue", 0}}},
    {85,
     "number",
     "7250000",
     {SAMPLE_EPSILON(2000000), SAMPLE_NUMBER("size", 24), SAMPLE_NUMBER("low", 0),
      SAMPLE_NUMBER("high", 24)}},
};
