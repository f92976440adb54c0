// SPDX-License-Identifier: Apache-2.0
// The style of what discovery found, and of the rounds that led to it. Private to page_frame.c.
#ifndef FOUND_STYLE_H
#define FOUND_STYLE_H

static const char found_style[] =
    ".found h3{font-size:1rem;margin:1.1rem 0 .2rem}.found .said{margin:.2rem 0 .7rem;"
    "max-width:46rem}"
    ".found .how{width:1%;color:var(--soft);padding-left:1rem;font-size:.9rem;min-width:15rem}"
    ".starts{display:flex;flex-wrap:wrap;gap:.4rem;list-style:none;padding:0;margin:.4rem 0}"
    ".starts li{border:1px solid var(--line);border-radius:.4rem;padding:.05rem .5rem;"
    "max-width:100%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".starts span{color:var(--soft);font-size:.85rem;font-variant-numeric:tabular-nums}"
    ".found .how span{display:block}"
    ".found details p{margin:.2rem 0;overflow-wrap:anywhere}"
    ".rounds{margin:.6rem 0;padding-left:0;list-style:none}.rounds li li{margin:0}"
    ".rounds>li{border-left:2px solid var(--line);padding:0 0 .5rem 1rem}"
    ".rounds h3{margin:.2rem 0}.rounds p{margin:.2rem 0}"
    ".grown{overflow-x:auto;margin:.8rem 0}.grown:focus-visible{outline:2px solid var(--bar)}"
    ".tree{width:auto;border-collapse:separate;border-spacing:2px}"
    ".tree caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.3rem}"
    ".tree td{padding:.2rem .5rem;border-left:3px solid var(--bar);white-space:nowrap;"
    "max-width:12rem;overflow:hidden;text-overflow:ellipsis;vertical-align:middle;"
    "print-color-adjust:exact}"
    ".tree small{margin-left:.5rem;font-variant-numeric:tabular-nums}"
    ".tree .rest{border:0;padding:0}.tree .end{border-right:3px solid var(--bar)}"
    ".tree .s1{background:color-mix(in srgb,var(--bar) 6%,var(--card))}"
    ".tree .s2{background:color-mix(in srgb,var(--bar) 11%,var(--card))}"
    ".tree .s3{background:color-mix(in srgb,var(--bar) 16%,var(--card))}"
    ".tree .s4{background:color-mix(in srgb,var(--bar) 21%,var(--card))}"
    ".tree .s5{background:color-mix(in srgb,var(--bar) 26%,var(--card))}"
    "@media(max-width:40rem){.tree thead tr,.tree tbody tr{display:table-row}}"
    "@media print{.grown{overflow:visible}}"
    "@media(max-width:40rem){.found .how{width:auto;grid-column:1/-1;padding:0;min-width:0}"
    ".found th.how{position:absolute;clip-path:inset(50%)}}";

#endif
