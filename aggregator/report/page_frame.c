// SPDX-License-Identifier: Apache-2.0
// The frame of result pages: head, title, links and foot; see result_page.h.
#include <string.h>

#include "distribution_style.h"
#include "found_style.h"
#include "list_style.h"
#include "page_text.h"
#include "result_page.h"
#include "result_style.h"

static void put_account(FILE *out, const char *account)
{
    fputs("<form class=\"account\" method=\"post\" action=\"/sign-out\"><span>", out);
    agg_page_string(out, account);
    fputs("</span><button>Sign out</button></form>\n", out);
}

#define SCRIPTS ";script-src 'self';connect-src 'self'"

// Writes a page's style sheets.
static void list_sheets(const char *sheets[AGG_PAGE_SHEETS_MAX + 1], const agg_page *page)
{
    sheets[0] = result_style;
    sheets[1] = list_style;
    sheets[2] = distribution_style;
    sheets[3] = found_style;
    sheets[4] = page->more_style;
    sheets[5] = NULL;
}

void agg_page_csp_of(char out[AGG_PAGE_CSP_SIZE], const agg_page *page)
{
    const char *sheets[AGG_PAGE_SHEETS_MAX + 1];
    list_sheets(sheets, page);
    agg_page_policy_of(out, sheets, page->script != NULL ? SCRIPTS : "",
                       page->home != NULL ? "self" : "none");
}

void agg_page_csp(char out[AGG_PAGE_CSP_SIZE], bool script)
{
    const agg_page page = {.script = script ? "" : NULL, .home = script ? "" : NULL};
    agg_page_csp_of(out, &page);
}

void agg_page_links_write(FILE *out, const agg_page_link *links)
{
    fputs("<nav aria-label=\"Pages\">", out);
    for (; links->href != NULL; links++)
        fprintf(out, "<a href=\"%s\">%s</a>", links->href, links->text);
    fputs("</nav>\n", out);
}

static void put_title(FILE *out, const agg_page *page)
{
    fputs("<h1>", out);
    if (page->home != NULL) {
        fputs("<a href=\"", out);
        agg_page_string(out, page->home);
        fputs("\">", out);
    }
    agg_page_string(out, page->title);
    fputs(page->home != NULL ? "</a></h1>\n" : "</h1>\n", out);
    if (page->links != NULL) agg_page_links_write(out, page->links);
}

void agg_page_open(FILE *out, const agg_page *page)
{
    const char *sheets[AGG_PAGE_SHEETS_MAX + 1];
    char csp[AGG_PAGE_CSP_SIZE];
    agg_page_csp_of(csp, page);
    char *ancestors = strstr(csp, ";frame-ancestors"); // means nothing in a meta element
    if (ancestors != NULL) *ancestors = '\0';
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
          "http-equiv=\"Content-Security-Policy\" content=\"",
          out);
    agg_page_string(out, csp);
    fputs(
        "\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<meta "
        "name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
        out);
    agg_page_string(out, page->title);
    fputs("</title>\n", out);
    list_sheets(sheets, page);
    for (int i = 0; sheets[i] != NULL; i++) fprintf(out, "<style>%s</style>\n", sheets[i]);
    if (page->script != NULL) {
        fputs("<script type=\"module\" src=\"", out);
        agg_page_string(out, page->script);
        fputs("\"></script>\n", out);
    }
    fputs("</head><body>\n<header>", out);
    if (page->account != NULL) put_account(out, page->account);
    put_title(out, page);
    fputs("<p>Every report was randomized on its device. The counts are estimates of how many "
          "reports held a value.</p></header>\n<main>\n",
          out);
}

agg_err agg_page_close(FILE *stream, agg_error *error)
{
    fputs("</main>\n<footer><p>Each whisker is the interval of its value alone. What cannot be "
          "told from zero is shown in grey.</p></footer>\n"
          "</body></html>\n",
          stream);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the page could not be written");
}

agg_err agg_page_write(FILE *stream, agg_error *error, const agg_page *page)
{
    agg_page_open(stream, page);
    for (size_t i = 0; i < page->n_sections; i++)
        agg_page_section_write(stream, &page->sections[i]);
    return agg_page_close(stream, error);
}
