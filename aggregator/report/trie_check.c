// SPDX-License-Identifier: Apache-2.0
// Recipes of a trie's rounds in print.
#include <stdio.h>

#include "call_streams.h"
#include "compound_check.h"
#include "recipe.h"

static void print(const shoal_recipe *r)
{
    agg_print("words               of %u characters at most; %u are known and not reported\n",
              r->depth - 1, r->known.count);
    agg_print("trie                pass %u of %u, %u prefixes kept at most\n", r->pass, r->passes,
              r->max_prefixes);
    agg_print("contributions       %u of a device, %s; each is a report of its own\n",
              r->contributions,
              r->sampler == SHOAL_SAMPLER_GREEDY ? "those of most of its words first"
                                                 : "drawn from all of its cells alike");
    agg_print("alphabet            %u characters; a word with another one is not named: round next "
              "and discover estimate how many\n",
              r->encoding.fields[0].tokens.count);
}

const agg_compound_check agg_trie_check = {
    .id = shoal_trie_id,
    .print = print,
};
