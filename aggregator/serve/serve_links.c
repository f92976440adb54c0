// SPDX-License-Identifier: Apache-2.0
// Links between the pages of a server; see serve_links.h.
#include "serve_links.h"

#include <stdbool.h>

#include "serve_access.h"

static const agg_page_link all[] = {{"/", "Results"},
                                    {"/books", "Books"},
                                    {"/books/log", "Audit log"},
                                    {"/operations", "Operations"},
                                    {0}};
static const agg_page_link of_readers[] = {
    {"/", "Results"}, {"/books", "Books"}, {"/books/log", "Audit log"}, {0}};

const agg_page_link *serve_links(unsigned rights)
{
    bool reads = (rights & SERVE_READS) != 0, administers = (rights & SERVE_ADMINISTERS) != 0;
    if (!administers) return reads ? of_readers : NULL;
    return reads ? all : all + 1; // who only administers has no results to see
}
