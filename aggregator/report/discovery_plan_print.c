// SPDX-License-Identifier: Apache-2.0
// Prints plans of discovery; see discovery_plan_print.h.
#include "discovery_plan_print.h"

#include "print_text.h"

static void print_whole(FILE *stream, double x)
{
    fputs(agg_grouped(x, 0).text, stream);
}

static void print_share(FILE *stream, double share)
{
    if (share >= 1)
        fputs("nothing", stream);
    else
        fprintf(stream, "%.2g %%", 100 * share);
}

static void print_sfp(FILE *stream, const agg_discovery_plan *p)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "sfp                 oracle=%s, epsilon %g = %g of the string + %g of its fragment\n",
            agg_discovery_oracles[p->wish.oracle], p->wish.eps_micro / 1e6, s->eps_micro / 1e6,
            s->eps_fragment_micro / 1e6);
    fprintf(
        stream,
        "                    k=%u m=%u k_fragment=%u m_fragment=%u, strings of %u bytes at most\n",
        s->k, s->m, s->k_fragment, s->m_fragment, p->wish.length);
    fputs("                    finds what ", stream);
    print_share(stream, p->share[AGG_DISCOVERY_SFP]);
    fputs(p->share[AGG_DISCOVERY_SFP] < 1
              ? " of the devices send, as often as not; one round, any alphabet\n"
              : "\n",
          stream);
}

// Says what the third way finds, which is never the answer: who has its reports should know.
static void print_ngrams(FILE *stream, const agg_discovery_plan *p)
{
    char least[AGG_NGRAM_PLAN_TEXT];
    agg_ngram_plan_say_share(least, p->ngram_share);
    fprintf(stream, "rappor-ngram        finds %s%s; strings of %u bytes\n", least,
            p->ngram_share < 1 ? ", and often nothing" : "", p->wish.length);
}

// Says which lengths are planned for, and what is given up.
static void print_reach(FILE *stream, const agg_discovery_plan *p)
{
    uint32_t reach = agg_trie_plan_reach(&p->trie), wanted = p->wish.depth - 1;
    fprintf(stream,
            "                    reaches strings of up to %u characters; about %.0f starts are "
            "left open\n",
            reach, p->trie.left);
    if (reach < wanted)
        fprintf(stream,
                "                    longer ones, of up to the %u that --length or --depth "
                "allows, are given up: too rare for so many devices\n",
                wanted);
}

static void print_trie(FILE *stream, const agg_discovery_plan *p)
{
    const agg_trie_plan *t = &p->trie;
    fprintf(stream,
            "trie                %u round%s, epsilon %g a contribution (item), %g a device\n",
            t->n_rounds, t->n_rounds == 1 ? "" : "s", agg_discovery_contribution_micro(p) / 1e6,
            p->wish.eps_micro / 1e6);
    fputs("                    finds what ", stream);
    print_share(stream, p->share[AGG_DISCOVERY_TRIE]);
    fprintf(stream,
            " of the contributions are, as often as not; about %.0f words, were they English\n",
            t->words);
    print_reach(stream, p);
    fputs("\n  round  characters  step       devices    starts     cells  set of   finds from\n",
          stream);
    for (uint32_t i = 0; i < t->n_rounds; i++) {
        const agg_trie_round *r = &t->rounds[i];
        fprintf(stream, "  %5u  %10u  %4u  %12.0f  %8.0f  %8.0f  %6.0f  %9.2g %%\n", i + 1,
                r->depth, r->step, r->devices, r->starts, r->cells, r->set, 100 * r->share);
    }
}

static void print_table(FILE *stream, const agg_discovery_plan *p)
{
    fputs("devices             ", stream);
    print_whole(stream, p->wish.devices);
    fprintf(stream, "\nepsilon             %g a device\nanswer              %s%s\n",
            p->wish.eps_micro / 1e6, agg_discovery_ways[p->way],
            p->share[p->way] < 1 ? "" : ", though nothing will be found");
    print_sfp(stream, p);
    print_ngrams(stream, p);
    print_trie(stream, p);
}

static void print_json(FILE *stream, const agg_discovery_plan *p)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "{\"schema\":1,\"answer\":\"%s\",\"devices\":%.0f,\"epsilon\":%g,\"sfp\":{\"oracle\":"
            "\"%s\",\"epsilon\":%g,"
            "\"epsilon_fragment\":%g,\"k\":%u,\"m\":%u,\"k_fragment\":%u,\"m_fragment\":%u,"
            "\"length\":%u,\"share\":",
            agg_discovery_ways[p->way], p->wish.devices, p->wish.eps_micro / 1e6,
            agg_discovery_oracles[p->wish.oracle], s->eps_micro / 1e6, s->eps_fragment_micro / 1e6,
            s->k, s->m, s->k_fragment, s->m_fragment, p->wish.length);
    agg_print_number(stream, p->share[AGG_DISCOVERY_SFP]);
    fputs("},\"rappor_ngram\":{\"share\":", stream);
    agg_print_number(stream, p->ngram_share);
    fprintf(stream, "},\"trie\":{\"epsilon\":%g,\"contributions\":%u,\"share\":",
            agg_discovery_contribution_micro(p) / 1e6, p->wish.contributions);
    agg_print_number(stream, p->share[AGG_DISCOVERY_TRIE]);
    fputs(",\"words\":", stream);
    agg_print_number(stream, p->trie.words);
    fprintf(stream, ",\"reach\":%u,\"wanted\":%u,\"open\":", agg_trie_plan_reach(&p->trie),
            p->wish.depth - 1);
    agg_print_number(stream, p->trie.left);
    fputs(",\"rounds\":[", stream);
    for (uint32_t i = 0; i < p->trie.n_rounds; i++) {
        const agg_trie_round *r = &p->trie.rounds[i];
        fprintf(stream,
                "%s{\"depth\":%u,\"step\":%u,\"devices\":%.0f,\"starts\":%.0f,\"cells\":%.0f,"
                "\"share\":",
                i > 0 ? "," : "", r->depth, r->step, r->devices, r->starts, r->cells);
        agg_print_number(stream, r->share);
        fputc('}', stream);
    }
    fputs("]}}\n", stream);
}

agg_err agg_discovery_plan_print(FILE *stream, agg_error *error, const agg_discovery_plan *plan,
                                 bool is_json)
{
    (is_json ? print_json : print_table)(stream, plan);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the plan");
}
