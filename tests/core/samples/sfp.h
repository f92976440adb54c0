// SPDX-License-Identifier: Apache-2.0
#define SFP_STRING(eps_micro, k, m)                                                                \
    SAMPLE_HASH("poly1"), SAMPLE_EPSILON(eps_micro), SAMPLE_NUMBER("k", k), SAMPLE_NUMBER("m", m)
#define SFP_FRAGMENT(eps_micro, k, m)                                                              \
    {"parameters.epsilon_fragment", NULL, eps_micro}, SAMPLE_NUMBER("k_fragment", k),              \
        SAMPLE_NUMBER("m_fragment", m)
#define SFP_OLH                                                                                    \
    {                                                                                              \
        "parameters.oracle", "olh", 0                                                              \
    }
static const sample sfp_samples[] = {
    {176,
     "word",
     "hello",
     {SFP_STRING(6000000, 2048, 1024), SFP_FRAGMENT(2000000, 2048, 1024),
      SAMPLE_NUMBER("length", 10)}},
    {177,
     "word",
     "",
     {SFP_STRING(10000, 1, 2), SFP_FRAGMENT(10000, 1, 2), SAMPLE_NUMBER("length", 2)}},
    {178,
     "word",
     "a word too long",
     {SFP_STRING(4000000, 3, 5), SFP_FRAGMENT(1000000, 3, 4), SAMPLE_NUMBER("length", 10)}},
    {179,
     "word",
     "\xc3\xa9t\xc3\xa9",
     {SFP_STRING(5500000, 65536, 256), SFP_FRAGMENT(2500000, 65536, 16),
      SAMPLE_NUMBER("length", 32), SFP_OLH}},
    {180,
     "site",
     "example.org",
     {SFP_STRING(1234567, 77, 2), SFP_FRAGMENT(500000, 9, 2), SAMPLE_NUMBER("length", 12),
      SFP_OLH}},
    {181,
     "word",
     "a",
     {SFP_STRING(2000000, 1, 2), SFP_FRAGMENT(2000000, 1, 2), SAMPLE_NUMBER("length", 2), SFP_OLH}},
    {182,
     "word",
     "abcdefghij",
     {SFP_STRING(8000000, 100, 64),
      SFP_FRAGMENT(8000000, 7, 64),
      SAMPLE_NUMBER("length", 10),
      {"parameters.oracle", "cms", 0}}},
};
