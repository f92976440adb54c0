// SPDX-License-Identifier: Apache-2.0
// What differs by what is counted: words on the page and in the documents, and how the page hands
// events to the client.
#include "init_files.h"

static const char *const field_body[] = {
    "      <label for=\"shoal-field\">Write something. A word counts when you finish it.</label>\n"
    "      <textarea id=\"shoal-field\" rows=\"3\" autocomplete=\"off\"></textarea>\n",
    NULL};

static const char *const field_script[] = {
    "// Words are read from this field only, while they are typed. Name a field of your page.\n"
    "const field = document.querySelector({{field}}) ?? at('shoal-field');\n"
    "shoal.observe(field, async (word) => tell(await shoal.type(word)));\n",
    NULL};

static const char *const links_body[] = {
    "      <p>Follow a link. Only the site that it leads to counts, not the page.</p>\n"
    "      <ul>\n"
    "        <li><a href=\"https://www.wikipedia.org/\" rel=\"noopener\">Wikipedia</a></li>\n"
    "        <li><a href=\"https://www.w3.org/\" rel=\"noopener\">W3C</a></li>\n"
    "        <li><a href=\"https://www.example.com/\" rel=\"noopener\">Example</a></li>\n"
    "      </ul>\n",
    NULL};

static const char *const links_script[] = {
    "// A link that leaves this site is an event. The middle button opens links, too.\n"
    "for (const kind of ['click', 'auxclick'])\n"
    "  document.addEventListener(kind, async (event) => {\n"
    "    const link = event.target.closest?.('a[href]');\n"
    "    if (!link || link.host === location.host) return;\n"
    "    await tell(await shoal.visit(link.href));\n"
    "  });\n",
    NULL};

static const char *const choices_body[] = {"      <p>Choose one.</p>\n"
                                           "      <ul class=\"buttons\">\n"
                                           "{{{buttons}}}"
                                           "      </ul>\n",
                                           NULL};

static const char *const choices_script[] = {
    "// A button stands for a value of the recipe's list, by its place in it.\n"
    "for (const button of document.querySelectorAll('button[data-choice]'))\n"
    "  button.onclick = async () =>\n"
    "    tell(await shoal.record({{stream}}, Number(button.dataset.choice)));\n",
    NULL};

static const char *const number_body[] = {
    "      <label for=\"shoal-number\">A number from {{low}} to {{high}}</label>\n"
    "      <input id=\"shoal-number\" type=\"number\" step=\"any\" min=\"{{low}}\" "
    "max=\"{{high}}\">\n"
    "      <p class=\"buttons\"><button type=\"button\" id=\"send\">Record it</button></p>\n",
    NULL};

static const char *const number_script[] = {
    "// A number below the range counts as its lower end, one above as its upper end.\n"
    "at('send').onclick = async () =>\n"
    "  tell(await shoal.record({{stream}}, at('shoal-number').valueAsNumber));\n",
    NULL};

const init_what_texts init_texts[] = {
    [INIT_WORDS] = {.title = "Which words people type",
                    .yours = "one word that you finish below, each day,",
                    .taken = "one word that the person typed into a field that the page names; "
                             "password fields are never read",
                    .unit = "word",
                    .caveat = "You see words that are on your list "
                              "(`dictionaries/`): words of your own must be added there. To "
                              "find words that nobody listed, choose `new-words`.",
                    .body = field_body,
                    .script = field_script},
    [INIT_SITES] = {.title = "Which sites people follow links to",
                    .yours = "the site of one link that you follow here, each day,",
                    .taken = "the site (registrable domain) of one link that the person followed "
                             "from this site; not the page, nor the rest of the address",
                    .unit = "site",
                    .caveat = "You see sites that are on your list (`dictionaries/`): put the "
                              "sites there that your pages link to.",
                    .body = links_body,
                    .script = links_script},
    [INIT_CHOICES] = {.title = "What people choose",
                      .yours = "one choice that you make below, each day,",
                      .taken = "one choice from a closed list",
                      .unit = "choice",
                      .caveat = "The list is part of the recipe. Another list is another recipe, "
                                "with a new id.",
                      .body = choices_body,
                      .script = choices_script},
    [INIT_NUMBERS] = {.title = "Which numbers people enter",
                      .yours = "one number that you enter below, each day,",
                      .taken = "one number within a stated range; numbers outside count as its "
                               "ends",
                      .unit = "number",
                      .caveat = "A mean says nothing of how numbers spread: `--buckets N` counts "
                                "them in N ranges instead.",
                      .body = number_body,
                      .script = number_script},
    [INIT_NEW_WORDS] = {.title = "Words that nobody listed",
                        .yours = "one word that you finish below, each day,",
                        .taken = "one word of at most 10 bytes that the person typed into a field "
                                 "that the page names, and two bytes of it, each under noise of "
                                 "its own; password fields are never read",
                        .unit = "word",
                        .caveat = "Finding unlisted words takes a large crowd and twice the "
                                  "epsilon of a listed word. Whatever is found was typed by many, "
                                  "and may still name a person: look before you publish.",
                        .body = field_body,
                        .script = field_script},
};
