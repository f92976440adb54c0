// SPDX-License-Identifier: Apache-2.0
#define JOINT(n, name) "variables." #n "." name
#define JOINT_NUMBER(n, name, number)                                                              \
    {                                                                                              \
        JOINT(n, "parameters." name), NULL, (int64_t)(number)*1000000                              \
    }
#define JOINT_HEAD(n, name, value, mechanism)                                                      \
    {JOINT(n, "name"), name, 0}, {JOINT(n, "value"), value, 0},                                    \
    {                                                                                              \
        JOINT(n, "mechanism"), mechanism, 0                                                        \
    }
#define JOINT_HASH(n, seed)                                                                        \
    {JOINT(n, "hash"), "poly1", 0},                                                                \
    {                                                                                              \
        JOINT(n, "seed"), seed, 0                                                                  \
    }
#define JOINT_SEED "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
static const sample joint_samples[] = {
    {224,
     "variables",
     "example.org;1",
     {JOINT_HEAD(0, "site", "site", "rappor"),
      JOINT_HASH(0, TEST_SEED),
      JOINT_NUMBER(0, "bits", 32),
      JOINT_NUMBER(0, "hashes", 2),
      JOINT_NUMBER(0, "cohorts", 4),
      {JOINT(0, "parameters.p"), NULL, 250000},
      {JOINT(0, "parameters.q"), NULL, 750000},
      {JOINT(0, "parameters.f"), NULL, 500000},
      JOINT_HEAD(1, "age", "item", "grr"),
      JOINT_NUMBER(1, "epsilon", 2),
      {JOINT(1, "parameters.values"), "young,old", 0}}},
    {225,
     "variables",
     "none;hello;72500000",
     {JOINT_HEAD(0, "kind", "item", "subset"), JOINT_NUMBER(0, "epsilon", 1),
      JOINT_NUMBER(0, "size", 9), JOINT_HEAD(1, "word", "word", "cms"), JOINT_HASH(1, JOINT_SEED),
      JOINT_NUMBER(1, "epsilon", 4), JOINT_NUMBER(1, "k", 16), JOINT_NUMBER(1, "m", 64),
      JOINT_HEAD(2, "heat", "number", "onehot-asymmetric"), JOINT_NUMBER(2, "epsilon", 3),
      JOINT_NUMBER(2, "size", 8), JOINT_NUMBER(2, "low", -10), JOINT_NUMBER(2, "high", 100)}},
};
