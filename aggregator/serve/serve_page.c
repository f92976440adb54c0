// SPDX-License-Identifier: Apache-2.0
// The frame of the server's own pages; see serve_page.h.
#include "serve_page.h"

#include <string.h>
#include <time.h>

#include "serve_links.h"
#include "svg.h"

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fcfcfb;--fg:#1c2326;--soft:#5c686d;--line:#d9dedc;"
    "--card:#fff;--warn:#8a5a00}"
    "@media(prefers-color-scheme:dark){:root{--bg:#11181a;--fg:#e4eae9;--soft:#9aa8a9;"
    "--line:#2b3639;--card:#172022;--warn:#e0b25c}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
    "font:16px/1.45 system-ui,sans-serif}"
    "header,main{max-width:56rem;margin:0 auto;padding:0 1rem}header{padding-top:1.5rem}"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:0;overflow-wrap:anywhere}"
    "p,td:last-child,.account{color:var(--soft)}a{color:inherit}"
    ".account{float:right;display:flex;gap:.7rem;align-items:baseline}"
    "button{font:inherit;font-size:.9rem;color:var(--fg);background:var(--card);"
    "border:1px solid var(--soft);border-radius:.4rem;padding:.2rem .7rem}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
    "padding:1rem;margin:1.1rem 0}"
    "table{width:100%;border-collapse:collapse;margin-top:.6rem}"
    "caption,.unseen{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}"
    "th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;"
    "border-top:1px solid var(--line);font-weight:400}"
    "thead th{color:var(--soft);font-size:.85rem;border:0}"
    "td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;"
    "font-weight:600;color:var(--fg)}th:first-child{width:9rem}th:nth-child(2){width:12rem;text-"
    "align:right}"
    "tr.look th,tr.look .n{color:var(--warn);font-weight:600}"
    "@media(max-width:40rem){thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;"
    "overflow:hidden}"
    "tr{display:grid;grid-template-columns:1fr auto;border-top:1px solid var(--line);"
    "padding:.4rem 0}th,td{border:0;padding:.1rem 0}td:last-child{grid-column:1/-1}}"
    "nav{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin:.4rem 0}"
    "form[role=search]{display:flex;gap:.6rem;align-items:end;margin-top:.6rem}"
    "th a{text-decoration-style:dotted}[aria-sort]{color:var(--fg)}"
    "[aria-sort=ascending] a::after{content:' \\2191' / ''}"
    "[aria-sort=descending] a::after{content:' \\2193' / ''}"
    "figure{margin:.6rem 0 0}svg{width:100%;height:auto;font:14px system-ui,sans-serif}"
    "svg text{fill:var(--fg)}svg .s{fill:var(--soft);font-size:12px}"
    "svg .b{font-weight:600;font-size:18px}svg rect{fill:var(--bg);stroke:var(--line)}"
    "svg .look{stroke:var(--warn);stroke-width:2}svg path{stroke:var(--soft);fill:none}"
    "form.find{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end}"
    "input{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--soft);"
    "border-radius:.4rem;padding:.2rem .4rem;max-width:100%;width:11rem}"
    "label{display:grid;color:var(--soft);font-size:.9rem}"
    ".long,td:last-child{overflow-wrap:anywhere}svg.narrow{display:none;max-width:20rem}"
    "table.log th,table.log td{width:auto;text-align:left;"
    "padding-right:.7rem}table.log td:last-child{color:inherit}"
    "@media(max-width:40rem){table.log "
    "tr{display:block}svg.wide{display:none}svg.narrow{display:block}table.log "
    "td:empty{display:none}table.log td::before{content:attr("
    "data-label) \": \";color:var(--soft)}table.log th,table.log td{display:block}"
    "table.sorted thead{display:block;position:static;clip-path:none;width:auto;height:auto}"
    "table.sorted thead tr{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;border:0}}";

void serve_page_text(FILE *stream, const char *text)
{
    agg_svg_escape(stream, text, strlen(text));
}

void serve_page_minute(char out[SERVE_PAGE_TIME_MAX], int64_t seconds)
{
    time_t at = (time_t)seconds;
    struct tm utc;
    if (gmtime_r(&at, &utc) == NULL ||
        strftime(out, SERVE_PAGE_TIME_MAX, "%Y-%m-%d %H:%M UTC", &utc) == 0)
        out[0] = '\0';
}

void serve_page_begin(FILE *stream, const serve_request *r, const char *title)
{
    bool is_live = r->route == ROUTE_DELIVERY; // other pages would leave a line every two seconds
    fprintf(stream,
            "<!doctype html>\n<html lang=\"en\"%s><head><meta charset=\"utf-8\">\n<meta "
            "name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<meta "
            "name=\"referrer\" content=\"same-origin\">\n<title>shoal: %s</title>\n"
            "<style>%s</style>\n<script type=\"module\" src=\"/refresh.js\"></script>\n"
            "</head><body>\n<header>",
            is_live ? "" : " data-still", title, style);
    if (strcmp(r->via, "session") == 0)
        fprintf(stream,
                "<form class=\"account\" method=\"post\" action=\"/sign-out\"><span>%s</span>"
                "<button>Sign out</button></form>",
                r->person->name);
    fprintf(stream, "<h1>%s</h1>\n", title);
    const agg_page_link *links = serve_links(serve_request_role(r));
    if (links != NULL) agg_page_links_write(stream, links);
}

void serve_page_protect(agg_http_answer *answer)
{
    static const char *const sheets[] = {style, NULL};
    agg_page_policy_of(answer->policy, sheets, ";script-src 'self';connect-src 'self'", "self");
    answer->is_form = true;
}
