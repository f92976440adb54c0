// SPDX-License-Identifier: Apache-2.0
static const sample hadamard_samples[] = {
    {112, "word", "1", {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 2)}},
    {113, "word", "none", {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 11)}},
    {114, "word", "777", {SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("size", 1000)}},
    {115, "item", "16777215", {SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("size", 16777216)}},
    {116, "item", "123456", {SAMPLE_EPSILON(8000000), SAMPLE_NUMBER("size", 300000)}},
    {117, "item", "none", {SAMPLE_EPSILON(12000000), SAMPLE_NUMBER("size", 100)}},
    {118, "item", "2", {SAMPLE_EPSILON(2000000), {"parameters.values", "red,green,blue", 0}}},
    {119,
     "number",
     "7250000",
     {SAMPLE_EPSILON(3000000), SAMPLE_NUMBER("size", 24), SAMPLE_NUMBER("low", 0),
      SAMPLE_NUMBER("high", 24)}},
};
