// SPDX-License-Identifier: Apache-2.0
static const sample hcms_samples[] = {
    {6, "word", "hello", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("k", 1024), SAMPLE_NUMBER("m", 32768)}},
    {7, "word", "example.org", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(500000), SAMPLE_NUMBER("k", 2048), SAMPLE_NUMBER("m", 1024)}},
    {8, "word", "x", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(16000000), SAMPLE_NUMBER("k", 1), SAMPLE_NUMBER("m", 2)}},
    {9, "word", "\xe6\xbc\xa2\xe5\xad\x97", {SAMPLE_HASH("poly1"), SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("k", 999), SAMPLE_NUMBER("m", 4096)}},
    {32, "item", "249999", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(4000000), SAMPLE_NUMBER("k", 1024), SAMPLE_NUMBER("m", 32768), SAMPLE_NUMBER("size", 250000)}},
    {33, "item", "65537", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(2000000), SAMPLE_NUMBER("k", 99), SAMPLE_NUMBER("m", 256), SAMPLE_NUMBER("size", 16777216)}},
    {34, "item", "none", {SAMPLE_HASH("affine1"), SAMPLE_EPSILON(1000000), SAMPLE_NUMBER("k", 2), SAMPLE_NUMBER("m", 262144), SAMPLE_NUMBER("size", 300)}},
};
