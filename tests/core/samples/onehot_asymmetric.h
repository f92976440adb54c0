// SPDX-License-Identifier: Apache-2.0
static const sample onehot_asymmetric_samples[] = {
    {10, "word", "1", {SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("size", 2)}},
    {11, "word", "49", {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 50)}},
    {12, "word", "none", {SAMPLE_EPSILON(2500000), SAMPLE_NUMBER("size", 64)}},
    {13, "word", "777", {SAMPLE_EPSILON(8000000), SAMPLE_NUMBER("size", 1000)}},
    {14, "word", "128", {SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("size", 129)}},
    {48, "item", "2", {SAMPLE_EPSILON(3000000), {"parameters.values", "red,green,blue", 0}}},
    {49,
     "number",
     "-2500000",
     {SAMPLE_EPSILON(3000000), SAMPLE_NUMBER("size", 20), SAMPLE_NUMBER("low", -10),
      SAMPLE_NUMBER("high", 10)}},
};
