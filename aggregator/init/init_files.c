// SPDX-License-Identifier: Apache-2.0
// All files of a new installation; see init_files.h.
#include "init_files.h"

// Files that hold one text and nothing else.
static const char *const recipe_text[] = {"{{{recipe}}}", NULL};
static const char *const probe_text[] = {"{{{probe}}}", NULL};
static const char *const set_text[] = {"{{{set}}}", NULL};
static const char *const dictionary_text[] = {"{{{dictionary}}}", NULL};
static const char *const batch_secret[] = {"{{{batch_secret}}}\n", NULL};
static const char *const edge_admin[] = {"{{{edge_admin}}}\n", NULL};
static const char *const aggregator_admin[] = {"{{{aggregator_admin}}}\n", NULL};
static const char *const reader[] = {"{{{reader}}}\n", NULL};
static const char *const relay_token[] = {"{{{relay_token}}}\n", NULL};
static const char *const relay_admin[] = {"{{{relay_admin}}}\n", NULL};

const init_dir init_dirs[] = {
    {"secrets", INIT_ALWAYS, true},       {"recipes", INIT_ALWAYS, false},
    {"dictionaries", INIT_ALWAYS, false}, {"page", INIT_ALWAYS, false},
    {"privacy", INIT_ALWAYS, false},      {"data", INIT_ALWAYS, true},
    {"data/edge", INIT_ALWAYS, true},     {"data/aggregator", INIT_ALWAYS, true},
    {"data/proxy", INIT_ALWAYS, true},    {"data/proxy-config", INIT_ALWAYS, true},
    {NULL, INIT_ALWAYS, false},
};

const init_file init_files[] = {
    {"secrets/batch.secret", INIT_PLAIN, batch_secret, INIT_ALWAYS, true},
    {"secrets/edge-admin.token", INIT_PLAIN, edge_admin, INIT_ALWAYS, true},
    {"secrets/aggregator-admin.token", INIT_PLAIN, aggregator_admin, INIT_ALWAYS, true},
    {"secrets/reader.token", INIT_PLAIN, reader, INIT_ALWAYS, true},
    {"secrets/relay.token", INIT_PLAIN, relay_token, INIT_WITH_RELAY, true},
    {"secrets/relay-admin.token", INIT_PLAIN, relay_admin, INIT_WITH_RELAY, true},
    {"recipes/{{{id}}}.json", INIT_PLAIN, recipe_text, INIT_ALWAYS, false},
    {"recipes/probe.json", INIT_PLAIN, probe_text, INIT_ALWAYS, false},
    {"site.json", INIT_PLAIN, set_text, INIT_ALWAYS, false},
    {"dictionaries/{{{id}}}.tsv", INIT_PLAIN, dictionary_text, INIT_WITH_DICTIONARY, false},
    {"page/index.html", INIT_HTML, init_page_html, INIT_ALWAYS, false},
    {"page/shoal.js", INIT_JSON, init_page_js, INIT_ALWAYS, false},
    {"page/style.css", INIT_PLAIN, init_page_css, INIT_ALWAYS, false},
    {"page/icon.svg", INIT_PLAIN, init_icon_svg, INIT_ALWAYS, false},
    {"edge.json", INIT_JSON, init_edge_json, INIT_ALWAYS, false},
    {"aggregator.json", INIT_JSON, init_aggregator_json, INIT_ALWAYS, false},
    {"relay.json", INIT_JSON, init_relay_json, INIT_WITH_RELAY, false},
    {"compose.yaml", INIT_JSON, init_compose_yaml, INIT_ALWAYS, false},
    {"Caddyfile", INIT_PLAIN, init_caddyfile, INIT_ALWAYS, false},
    {"package.json", INIT_JSON, init_package_json, INIT_ALWAYS, false},
    {".gitignore", INIT_PLAIN, init_gitignore, INIT_ALWAYS, false},
    {"README.md", INIT_MARKDOWN, init_readme, INIT_ALWAYS, false},
    {"privacy/impact-assessment.md", INIT_MARKDOWN, init_impact, INIT_ALWAYS, false},
    {"privacy/record-of-processing.md", INIT_MARKDOWN, init_record, INIT_ALWAYS, false},
    {NULL, INIT_PLAIN, NULL, INIT_ALWAYS, false},
};
