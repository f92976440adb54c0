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
    "@media(max-width:40rem){.found .how{width:auto;grid-column:1/-1;padding:0;min-width:0}"
    ".found th.how{position:absolute;clip-path:inset(50%)}}";

#endif
