// SPDX-License-Identifier: Apache-2.0
// Origins (scheme, host and port) that are written into configurations as they are, so they hold
// letters, digits, '.', '-', ':' and the brackets of [::1] only.
#ifndef INIT_ORIGIN_H
#define INIT_ORIGIN_H

#include "agg_error.h"
#include "url.h"

// Reads an origin such as https://www.example.org, or http to this machine. A '/' at its end is
// left out.
//   option: its name, for the error
agg_err init_origin_read(char out[SHOAL_URL_MAX + 1], agg_error *error, const char *option,
                         const char *text) SHOAL_MUST_CHECK;

// Makes the origin of a service beside a site: https://edge.example.org for
// https://www.example.org. On this machine it is the service's usual port.
//   name: "edge"
agg_err init_origin_beside(char out[SHOAL_URL_MAX + 1], agg_error *error, const char *site,
                           const char *name) SHOAL_MUST_CHECK;

// Returns: the host and port of an origin.
const char *init_origin_host(const char *origin);

#endif
