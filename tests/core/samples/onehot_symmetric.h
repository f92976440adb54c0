// SPDX-License-Identifier: Apache-2.0
static const sample onehot_symmetric_samples[] = {
    {64, "word", "1", {SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("size", 2)}},
    {65, "word", "49", {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("size", 50)}},
    {66, "word", "none", {SAMPLE_EPSILON(2500000), SAMPLE_NUMBER("size", 64)}},
    {67, "word", "777", {SAMPLE_EPSILON(8000000), SAMPLE_NUMBER("size", 1000)}},
    {68, "word", "128", {SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("size", 129)}},
    {69, "item", "2", {SAMPLE_EPSILON(3000000), {"parameters.values", "red,green,blue", 0}}},
    {70,
     "number",
     "-2500000",
     {SAMPLE_EPSILON(3000000), SAMPLE_NUMBER("size", 20), SAMPLE_NUMBER("low", -10),
      SAMPLE_NUMBER("high", 10)}},
};
