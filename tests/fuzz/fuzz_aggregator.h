// SPDX-License-Identifier: Apache-2.0
// What the aggregator's fuzz targets share: a small recipe as JSON, read once.
#ifndef FUZZ_AGGREGATOR_H
#define FUZZ_AGGREGATOR_H

#include "fuzz.h"
#include "recipe_json.h"
#include "test_seed.h"

static const char fuzz_words_json[] =
    "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"
    "\"cms\","
    "\"parameters\":{\"epsilon\":2,\"k\":9,\"m\":20},\"hash\":\"poly1\",\"seed\":\"" TEST_SEED "\","
    "\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}";

static const char fuzz_list_json[] =
    "{\"recipe\":\"l\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\",\"mechanism\":"
    "\"onehot-asymmetric\","
    "\"parameters\":{\"epsilon\":2,\"values\":[\"one\",\"two\",\"\\u00e9t\\u00e9\"]},"
    "\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}";

static const char fuzz_query_json[] =
    "{\"recipe\":\"q\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":["
    "{\"field\":\"age\",\"boundaries\":[20,30.5]},{\"field\":\"p\",\"prefixes\":[\"i went\",\"i "
    "\u00e9t\u00e9\"],"
    "\"tokens\":[\"a\",\"home\"]},{\"field\":\"app\",\"values\":[\"mail\",\"the notes\"]}],"
    "\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2},\"limit\":{\"per_day\":1},\"part\":["
    "\"de\"],"
    "\"split_by\":[{\"field\":\"l\",\"values\":[\"de\",\"en\"]}],\"expires\":\"2030-01-01\"}";

static const char fuzz_trie_json[] =
    "{\"recipe\":\"t\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":["
    "{\"field\":\"word\",\"starts\":\"0ab "
    "0c\u00e9\",\"characters\":\"a\u00e9c\",\"step\":2}],\"mechanism\":\"trie\","
    "\"parameters\":{\"epsilon\":4,\"contributions\":2,\"sampler\":\"random\",\"depth\":9,\"max_"
    "prefixes\":9,"
    "\"known\":\"0abba 4s\"},\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}";

static const char fuzz_joint_json[] =
    "{\"recipe\":\"j\",\"analysis\":\"a\",\"stream\":\"s\",\"variables\":["
    "{\"name\":\"a\",\"value\":\"item\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2,"
    "\"values\":[\"one\","
    "\"two\"]}},"
    "{\"name\":\"b\",\"value\":\"number\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2,"
    "\"size\":3,\"low\":0,"
    "\"high\":9}},"
    "{\"name\":\"c\",\"value\":\"word\",\"mechanism\":\"olh\",\"parameters\":{\"epsilon\":2,\"k\":"
    "9,\"g\":8},\"hash\":"
    "\"poly1\","
    "\"seed\":\"" TEST_SEED "\"}],\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}";

// A recipe of three variables. It lives until the program ends.
static inline const agg_recipe *fuzz_joint_recipe(void)
{
    static agg_recipe recipe;
    agg_error error;
    if (recipe.json == NULL)
        PROPERTY(agg_recipe_from_bytes(&recipe, &error, "joint", fuzz_joint_json,
                                       strlen(fuzz_joint_json)) == SHOAL_OK);
    return &recipe;
}

// A round of a trie. It lives until the program ends.
static inline const agg_recipe *fuzz_trie_recipe(void)
{
    static agg_recipe recipe;
    agg_error error;
    if (recipe.json == NULL)
        PROPERTY(agg_recipe_from_bytes(&recipe, &error, "trie", fuzz_trie_json,
                                       strlen(fuzz_trie_json)) == SHOAL_OK);
    return &recipe;
}

// A query of three fields and a part. It lives until the program ends.
static inline const agg_recipe *fuzz_query_recipe(void)
{
    static agg_recipe recipe;
    agg_error error;
    if (recipe.json == NULL)
        PROPERTY(agg_recipe_from_bytes(&recipe, &error, "query", fuzz_query_json,
                                       strlen(fuzz_query_json)) == SHOAL_OK);
    return &recipe;
}

// The recipe of the choice's lowest bit. It lives until the program ends.
static inline const agg_recipe *fuzz_agg_recipe(uint8_t choice)
{
    static agg_recipe recipes[2];
    static int is_read;
    if (!is_read) {
        agg_error error;
        PROPERTY(agg_recipe_from_bytes(&recipes[0], &error, "words", fuzz_words_json,
                                       strlen(fuzz_words_json)) == SHOAL_OK);
        PROPERTY(agg_recipe_from_bytes(&recipes[1], &error, "list", fuzz_list_json,
                                       strlen(fuzz_list_json)) == SHOAL_OK);
        is_read = 1;
    }
    return &recipes[choice & 1];
}

#endif
