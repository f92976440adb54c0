// SPDX-License-Identifier: Apache-2.0
static const sample cms_samples[] = {
    {0, "word", "hello", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("k", 65536), SAMPLE_NUMBER("m", 1024)}},
    {1, "word", "example.org", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(2000000), SAMPLE_NUMBER("k", 2048), SAMPLE_NUMBER("m", 1024)}},
    {2, "word", "", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(8000000), SAMPLE_NUMBER("k", 1), SAMPLE_NUMBER("m", 2)}},
    {3, "word", "\xc3\xa9t\xc3\xa9", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("k", 1000), SAMPLE_NUMBER("m", 100)}},
    {4, "word", "a", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(10000), SAMPLE_NUMBER("k", 1048576), SAMPLE_NUMBER("m", 256)}},
    {5, "word", "zebra", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(1234567), SAMPLE_NUMBER("k", 77), SAMPLE_NUMBER("m", 65)}},
    {16, "item", "1234", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("k", 65536), SAMPLE_NUMBER("m", 1024), SAMPLE_NUMBER("size", 2600)}},
    {17, "item", "16777215", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(2000000), SAMPLE_NUMBER("k", 100), SAMPLE_NUMBER("m", 65536), SAMPLE_NUMBER("size", 16777216)}},
    {18, "item", "none", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("k", 7), SAMPLE_NUMBER("m", 2), SAMPLE_NUMBER("size", 2)}},
};
