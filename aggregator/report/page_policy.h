// SPDX-License-Identifier: Apache-2.0
// The Content-Security-Policy of a page with inline style sheets: it names each by its hash, and
// lets in no other style, no image but an empty icon, and no frame around the page.
#ifndef PAGE_POLICY_H
#define PAGE_POLICY_H

#define AGG_PAGE_CSP_SIZE 512
#define AGG_PAGE_SHEETS_MAX 5 // style sheets of one page

// Writes a policy.
//   sheets: the contents of the page's style elements, at most AGG_PAGE_SHEETS_MAX and then NULL
//   scripts: directives that let scripts in, each after a semicolon; "" for none
//   forms: where forms may be sent: "self" or "none"
void agg_page_policy_of(char out[AGG_PAGE_CSP_SIZE], const char *const *sheets, const char *scripts,
                        const char *forms);

#endif
