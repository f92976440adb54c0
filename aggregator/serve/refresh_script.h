// SPDX-License-Identifier: Apache-2.0
// The page's only script. It fetches the page again every two seconds while the page is visible,
// and replaces its main element; result_page.c has rendered and escaped the new one. The page is
// complete without the script. Once the session is over it loads the page anew, which leads to the
// page for signing in.
#ifndef REFRESH_SCRIPT_H
#define REFRESH_SCRIPT_H

static const char refresh_script[] =
    "const period = 2000;\n"
    "async function refresh() {\n"
    "  const isTyping = document.activeElement?.localName === 'input';\n"
    "  if (document.visibilityState === 'visible' && !isTyping) {\n"
    "    try {\n"
    "      const response = await fetch(location.href, { cache: 'no-store' });\n"
    "      if (response.status === 401) return location.reload();\n"
    "      const type = response.headers.get('Content-Type') ?? '';\n"
    "      if (response.ok && type.startsWith('text/html')) {\n"
    "        const next = new DOMParser().parseFromString(await response.text(), "
    "'text/html').querySelector('main');\n"
    "        const main = document.querySelector('main');\n"
    "        if (next && main && next.innerHTML !== main.innerHTML) "
    "main.replaceWith(document.adoptNode(next));\n"
    "      }\n"
    "    } catch {\n"
    "      // The server is away: what is shown stays, and the next turn tries again.\n"
    "    }\n"
    "  }\n"
    "  setTimeout(refresh, period);\n"
    "}\n"
    "setTimeout(refresh, period);\n";

#endif
