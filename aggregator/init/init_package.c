// SPDX-License-Identifier: Apache-2.0
// package.json and .gitignore of a new installation.
#include "init_files.h"

const char *const init_package_json[] = {
    "{\n"
    "  \"name\": {{package_name}},\n"
    "  \"private\": true,\n"
    "  \"type\": \"module\",\n"
    "  \"scripts\": {\n"
    "    \"dev\": \"shoal-dev\",\n"
    "    \"edge\": \"shoal-edge --config edge.json\",\n"
    "    \"relay\": \"shoal-relay --config relay.json\",\n"
    "    \"serve\": \"shoal serve --config aggregator.json\",\n"
    "    \"check\": \"shoal recipe check site.json && shoal recipe check recipes/probe.json "
    "&& shoal-edge --check --config edge.json{{{relay_check}}}\",\n"
    "    \"hash\": \"shoal recipe hash recipes/{{{id}}}.json recipes/probe.json site.json\",\n"
    "    \"verify\": \"shoal-verify {{{site}}}/ --config .\"\n"
    "  },\n"
    "  \"dependencies\": {\n"
    "    \"shoal-aggregator\": {{package_aggregator}},\n"
    "    \"shoal-client\": {{package_client}},\n"
    "    \"shoal-edge\": {{package_edge}},\n"
    "    \"shoal-relay\": {{package_relay}}\n"
    "  },\n"
    "  \"devDependencies\": {\n"
    "    \"shoal-dev\": {{package_dev}},\n"
    "    \"shoal-verify\": {{package_verify}}\n"
    "  },\n"
    "  \"optionalDependencies\": {\n"
    "    \"shoal-linux-x64\": {{package_platform}}\n"
    "  }\n"
    "}\n",
    NULL};

const char *const init_gitignore[] = {"# Secrets and people's reports stay out of the repository.\n"
                                      "/secrets/\n"
                                      "/data/\n"
                                      "/.env\n"
                                      "/node_modules/\n",
                                      NULL};
