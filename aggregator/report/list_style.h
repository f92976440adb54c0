// SPDX-License-Identifier: Apache-2.0
// The style of what surrounds a result on a page: links, forms and the table of collections.
// Private to page_frame.c.
#ifndef LIST_STYLE_H
#define LIST_STYLE_H

static const char list_style[] =
    "nav{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:.4rem 0}"
    ".tools{display:flex;flex-wrap:wrap;gap:.4rem 1.6rem;align-items:center;margin:0 0 .9rem}"
    "input{font:inherit;font-size:.9rem;color:var(--fg);background:var(--bg);border:1px solid "
    "var(--mute);border-radius:.4rem;padding:.2rem .5rem;max-width:11rem}"
    "input:focus-visible{outline:2px solid var(--bar);outline-offset:2px}"
    "input.day{width:7.5rem}h1,p,li{overflow-wrap:anywhere}.unseen{position:absolute;clip-path:"
    "inset(50%);width:1px;"
    "height:1px;overflow:hidden}"
    ".tools p{margin:0;display:flex;gap:.9rem}"
    ".list td,.list th{text-align:left;width:auto;padding:.25rem 1.4rem .25rem 0}"
    ".list .count{text-align:right}.list .interval{padding-left:0}"
    ".list .interval{white-space:normal}.list "
    "td.spark{padding-right:0;color:var(--soft);height:2.2rem}"
    ".spark svg{display:inline-block;width:6rem;height:1.5rem;vertical-align:middle;margin-right:"
    ".6rem}.spark span{display:inline-block;max-width:9rem;overflow:hidden;text-overflow:ellipsis;"
    "white-space:nowrap;vertical-align:middle}.spark b{font-weight:inherit;color:var(--fg)}"
    ".spark .band{fill:var(--bar);opacity:.27}.spark .line,.spark "
    ".last{fill:none;stroke:var(--bar);"
    "stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round;vector-effect:non-scaling-stroke}"
    ".spark .last{stroke-width:5}"
    "th a{text-decoration-style:dotted}th a:hover{text-decoration-style:solid}"
    "[aria-sort]{color:var(--fg)}[aria-sort=ascending] a::after{content:' \\2191' / ''}"
    "[aria-sort=descending] a::after{content:' \\2193' / ''}"
    "@media(max-width:56rem){.list .value{max-width:10.5rem}.spark svg,.spark span{width:4rem}}"
    "@media(max-width:40rem){.list .value{max-width:none}.spark svg{width:6rem}.spark "
    "span{width:auto}"
    ".list td:nth-child(n+4){grid-column:1/-1;text-align:left}"
    ".list td:nth-child(4)::before{content:'next: '}"
    ".sorted thead tr{padding:.3rem 0}.sorted thead th.value,.sorted thead th.count,.sorted thead "
    "th.interval{position:static;clip-path:none;width:auto;height:auto}"
    ".sorted thead .axis{grid-row:2}.list th.spark{grid-column:1/-1}.list td.spark{height:auto;"
    "min-height:2rem}}";

#endif
