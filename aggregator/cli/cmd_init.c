// SPDX-License-Identifier: Apache-2.0
// shoal init: a folder with everything that a first collection needs.
#include "commands.h"
#include "init.h"

#define FOLDER "my-shoal"

static const char help_text[] =
    "Usage: shoal init [OPTION]... [DIR]\n"
    "\n"
    "Writes a folder, by default " FOLDER ", with everything that a first collection needs: "
    "recipes,\n"
    "a page, configurations, secrets, containers, and drafts for whoever answers for the data.\n"
    "Asks three questions on a terminal; each is an option, too. Overwrites nothing.\n"
    "\n"
    "  --what KIND         words, sites, choices, numbers, or new-words that nobody listed\n"
    "  --visitors N        people who visit on a day\n"
    "  --strict LEVEL      of the protection: high (epsilon 1 a report), medium (2) or low (4);\n"
    "                      twice that for new-words. A person sends at most one report a day\n"
    "\n"
    "What is counted:\n"
    "  --values FILE       choices: one a line\n"
    "  --low X, --high X   numbers: the range, default 1 to 5\n"
    "  --buckets N         numbers: count them in N ranges, instead of their mean\n"
    "  --field SELECTOR    words, new-words: the page's field, default #shoal-field\n"
    "\n"
    "Names:\n"
    "  --site ORIGIN       of your pages, default https://www.example.org\n"
    "  --edge ORIGIN       of the edge worker, default https://edge.example.org, as --site has it\n"
    "  --relay ORIGIN      of a relay that somebody else runs: writes relay.json for them\n"
    "  --id ID             of the recipe, default the kind and -1\n"
    "  --expires DATE      its last day, YYYY-MM-DD; default: in 180 days\n"
    "  --packages PLACE    folder or https URL of a release's packages, or registry: npm's, where\n"
    "                      it has them; default: the folder packages in DIR, to put them into\n"
    "\n"
    "The plan:\n"
    "  --days N            that it looks ahead, default 14\n"
    "  --taking-part S     share of the visitors who agree and do something, default 0.25\n"
    "  --active SHARE      share of windows in which something happens (shoal plan --help)\n"
    "  --pages KIND        with --active: one or many\n"
    "\n";

static const char help_more[] =
    "  --yes               ask nothing; take words, 10000 and medium for what is not stated\n"
    "  --ask               ask, and read the answers from standard input, though it is no "
    "terminal\n"
    "  --anyway            write the folder even if nothing would be seen\n"
    "  --seed TEXT         for tests: derive all secrets from TEXT\n"
    "\n"
    "Exits with 1 if nothing would be seen, and with 2 if DIR holds something.\n";

typedef struct arguments {
    init_options init;
} arguments;

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    a->init.folder = words->n > 0 ? words->texts[0] : FOLDER;
    a->init.version = SHOAL_VERSION;
    return init_run(error, &a->init);
}

static const command_option options[] = {OPTION("what", init.what),
                                         OPTION("visitors", init.visitors),
                                         OPTION("strict", init.strict),
                                         OPTION("values", init.values),
                                         OPTION("low", init.low),
                                         OPTION("high", init.high),
                                         OPTION("buckets", init.buckets),
                                         OPTION("field", init.field),
                                         OPTION("site", init.site),
                                         OPTION("edge", init.edge),
                                         OPTION("relay", init.relay),
                                         OPTION("id", init.id),
                                         OPTION("expires", init.expires),
                                         OPTION("packages", init.packages),
                                         OPTION("days", init.days),
                                         OPTION("taking-part", init.taking_part),
                                         OPTION("active", init.active),
                                         OPTION("pages", init.pages),
                                         OPTION("yes", init.takes_defaults),
                                         OPTION("ask", init.asks),
                                         OPTION("anyway", init.is_anyway),
                                         OPTION("seed", init.seed),
                                         LAST_OPTION};

const cli_command cmd_init = {
    .name = "init",
    .summary = "a folder with all that a first collection needs",
    .help = help_text,
    .more_help = help_more,
    .example = "  shoal init my-site --what words --visitors 20000 --strict medium\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .most_words = 1,
    .words_refused = "init takes one folder at most",
    .run = run};
