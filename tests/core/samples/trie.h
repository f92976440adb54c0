// SPDX-License-Identifier: Apache-2.0
#define TRIE_CELLS(starts, characters)                                                             \
    {"encoding.0.field", "word", 0}, {"encoding.0.starts", starts, 0},                             \
    {                                                                                              \
        "encoding.0.characters", characters, 0                                                     \
    }
#define TRIE_PLAN(contributions, depth, max_prefixes)                                              \
    SAMPLE_NUMBER("contributions", contributions), SAMPLE_NUMBER("depth", depth),                  \
        SAMPLE_NUMBER("max_prefixes", max_prefixes)
static const sample trie_samples[] = {
    {208,
     "fields",
     "17",
     {TRIE_CELLS("ab,cd", "a,b,c"),
      {"encoding.0.step", NULL, 2000000},
      SAMPLE_EPSILON(4000000),
      TRIE_PLAN(3, 15, 300),
      {"parameters.sampler", "greedy", 0},
      SAMPLE_NUMBER("passes", 2),
      SAMPLE_NUMBER("pass", 2),
      {"parameters.known", "the,of", 0}}},
    {209, "fields", "none", {TRIE_CELLS("", "a"), SAMPLE_EPSILON(1000000), TRIE_PLAN(1, 1, 1)}},
    {210,
     "fields",
     "6",
     {TRIE_CELLS("\xc3\xa9,\xe6\xbc\xa2", "a,\xc3\x9f,\xf0\x9f\x90\x9f"), SAMPLE_EPSILON(10000000),
      TRIE_PLAN(64, 64, 65536)}},
    {211,
     "fields",
     "0",
     {TRIE_CELLS("", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z"),
      {"encoding.0.step", NULL, 3000000},
      SAMPLE_EPSILON(8000000),
      TRIE_PLAN(5, 12, 1000),
      {"parameters.sampler", "random", 0}}},
};
