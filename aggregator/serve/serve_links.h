// SPDX-License-Identifier: Apache-2.0
// The links that lead from each of a server's pages to the others.
#ifndef SERVE_LINKS_H
#define SERVE_LINKS_H

#include "result_page.h"

// Returns: the links for a person, static.
//   rights: of the person, as serve_request_role gives them
const agg_page_link *serve_links(unsigned rights);

#endif
