// SPDX-License-Identifier: Apache-2.0
// The page's only script. It fetches the page again every two seconds while the page is visible,
// and replaces its main element; result_page.c has rendered and escaped the new one. It leaves the
// page alone while the focus is in there or something is unfolded, and where it says data-still.
// A page that says data-working is fetched until what it waits for is there.
// The page is complete without it. Once the session is over it loads the page anew, which leads to
// the page for signing in. So does going back to a page that the browser kept whole (WebKit keeps
// those of http, no-store or not).
#ifndef REFRESH_SCRIPT_H
#define REFRESH_SCRIPT_H

static const char refresh_script[] =
    "const period = 2000;\n"
    "// Whoever reads or types in here is not interrupted.\n"
    "const isBusy = (main) =>\n"
    "  main.contains(document.activeElement) || main.querySelector('details[open]') !== null;\n"
    "const isWorking = (main) => main.querySelector('[data-working]') !== null;\n"
    "async function refresh() {\n"
    "  const main = document.querySelector('main');\n"
    "  if (document.visibilityState === 'visible' && main && !isBusy(main)) {\n"
    "    try {\n"
    "      const response = await fetch(location.href, { cache: 'no-store' });\n"
    "      if (response.status === 401) return location.reload();\n"
    "      const type = response.headers.get('Content-Type') ?? '';\n"
    "      if (response.ok && type.startsWith('text/html')) {\n"
    "        const next = new DOMParser().parseFromString(await response.text(), "
    "'text/html').querySelector('main');\n"
    "        if (next && !isBusy(main) && next.innerHTML !== main.innerHTML) {\n"
    "          main.replaceWith(document.adoptNode(next));\n"
    "          const isMade = isWorking(main) && !isWorking(next);\n"
    "          if (isMade) return;\n"
    "        }\n"
    "      }\n"
    "    } catch {\n"
    "      // The server is away: what is shown stays, and the next turn tries again.\n"
    "    }\n"
    "  }\n"
    "  setTimeout(refresh, period);\n"
    "}\n"
    "if (!('still' in document.documentElement.dataset)) setTimeout(refresh, period);\n"
    "addEventListener('pageshow', (event) => event.persisted && location.reload());\n";

#endif
