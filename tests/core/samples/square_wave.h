// SPDX-License-Identifier: Apache-2.0
static const sample square_wave_samples[] = {
    {288,
     "number",
     "37500000",
     {SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("low", 0), SAMPLE_NUMBER("high", 100)}},
    {289,
     "number",
     "-273150000",
     {SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("low", -273), SAMPLE_NUMBER("high", 1000)}},
    {290,
     "number",
     "24000000",
     {SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("low", 0), SAMPLE_NUMBER("high", 24)}},
    {291,
     "number",
     "-3",
     {SAMPLE_EPSILON(10000), {"parameters.low", NULL, -1000}, {"parameters.high", NULL, 500}}},
};
