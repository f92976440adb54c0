// SPDX-License-Identifier: Apache-2.0
// The page for signing in; see sign_in_page.h. Its colours are those of the result page.
#include "sign_in_page.h"

#include "page_policy.h"

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fcfcfb;--fg:#1c2326;--soft:#5c686d;--line:#d9dedc;"
    "--bar:#2a737a;--card:#ffffff;--warn:#8a5a00;--on-bar:#ffffff;--field:#7d8988}"
    "@media(prefers-color-scheme:dark){:root{--bg:#11181a;--fg:#e4eae9;--soft:#9aa8a9;"
    "--line:#2b3639;--bar:#4fa6ad;--card:#172022;--warn:#e0b25c;--on-bar:#0c1416}}"
    "*{box-sizing:border-box}"
    "body{margin:0;min-height:100vh;display:grid;place-content:center;"
    "grid-template-columns:minmax(0,26rem);padding:1rem;background:var(--bg);color:var(--fg);"
    "font:16px/1.45 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"DejaVu Sans\","
    "sans-serif}"
    "main{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
    "padding:1.6rem 1.5rem 1.4rem}"
    "h1{font-size:1.5rem;margin:0;letter-spacing:-.01em}"
    "p{color:var(--soft);margin:.35rem 0 1.2rem}"
    "label{display:block;font-weight:600;margin-bottom:.35rem}"
    "input,button{font:inherit;width:100%;border-radius:.4rem;padding:.6rem .7rem}"
    "input{color:var(--fg);background:var(--bg);border:1px solid var(--field)}"
    "button{margin-top:1rem;border:1px solid var(--bar);background:var(--bar);"
    "color:var(--on-bar);font-weight:600;cursor:pointer}"
    "button:hover{filter:brightness(1.08)}"
    "input:focus-visible,button:focus-visible{outline:2px solid var(--bar);outline-offset:2px}"
    ".warn{color:var(--warn);margin:0 0 1rem}";

void sign_in_page_write(FILE *stream, const char *note)
{
    fprintf(stream,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
            "<title>Sign in \xc2\xb7 shoal</title>\n<style>%s</style>\n</head><body>\n<main>\n"
            "<h1>shoal</h1>\n<p>Sign in with your token to see results.</p>\n",
            style);
    if (note != NULL)
        fprintf(stream, "<p class=\"warn\" id=\"note\" role=\"alert\">%s</p>\n", note);
    fprintf(stream,
            "<form method=\"post\" action=\"/sign-in\">\n<label for=\"token\">Token</label>\n"
            "<input id=\"token\" name=\"token\" type=\"password\" required autofocus "
            "autocomplete=\"current-password\" autocapitalize=\"off\" spellcheck=\"false\"%s>\n"
            "<button>Sign in</button>\n</form>\n</main>\n</body></html>\n",
            note != NULL ? " aria-invalid=\"true\" aria-describedby=\"note\"" : "");
}

void sign_in_page_policy(char policy[AGG_HTTP_POLICY_MAX])
{
    static const char *const sheets[] = {style, NULL};
    agg_page_policy_of(policy, sheets, "", "self");
}
