// SPDX-License-Identifier: Apache-2.0
static const sample olh_samples[] = {
    {128, "word", "hello", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("k", 65536), SAMPLE_NUMBER("g", 64)}},
    {129, "word", "", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(500000), SAMPLE_NUMBER("k", 1), SAMPLE_NUMBER("g", 2)}},
    {130, "word", "\xc3\xa9t\xc3\xa9", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(2000000), SAMPLE_NUMBER("k", 1000000), SAMPLE_NUMBER("g", 8)}},
    {131, "site", "example.org", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(12000000), SAMPLE_NUMBER("k", 256), SAMPLE_NUMBER("g", 131072)}},
    {132, "item", "1234", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("k", 65536), SAMPLE_NUMBER("g", 64), SAMPLE_NUMBER("size", 2600)}},
    {133, "item", "16777215", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("k", 100), SAMPLE_NUMBER("g", 1048576), SAMPLE_NUMBER("size", 16777216)}},
    {134, "item", "none", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("k", 16777216), SAMPLE_NUMBER("g", 4), SAMPLE_NUMBER("size", 2)}},
    {135, "item", "2", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(1234567), SAMPLE_NUMBER("k", 77), SAMPLE_NUMBER("g", 2), {"parameters.values", "red,green,blue", 0}}},
    {136, "number", "-9999999", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(10000), SAMPLE_NUMBER("k", 9), SAMPLE_NUMBER("g", 16), SAMPLE_NUMBER("size", 40), SAMPLE_NUMBER("low", -10), SAMPLE_NUMBER("high", 10)}},
};
