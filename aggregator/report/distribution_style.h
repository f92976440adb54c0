// SPDX-License-Identifier: Apache-2.0
// The style of histograms with bands and of their tables, for every page. Private to page_frame.c.
#ifndef DISTRIBUTION_STYLE_H
#define DISTRIBUTION_STYLE_H

static const char distribution_style[] =
    ".spread{margin:1rem 0}.spread h3{font-size:1rem;margin:0 0 .5rem}.spread figure{margin:0}"
    ".spread .shape{height:9rem;border-bottom:1px solid var(--soft)}.spread .shape "
    "svg{height:100%}"
    ".spread .bin{fill:var(--bar);opacity:.45}.spread .range{fill:var(--bar);opacity:.35}"
    ".spread .at{stroke:var(--whisker);stroke-width:2;vector-effect:non-scaling-stroke}"
    ".spread .unsure .bin,.spread .unsure .range{fill:var(--mute-whisker)}"
    ".spread .middle{stroke:var(--warn);stroke-width:2;stroke-dasharray:5 4;"
    "vector-effect:non-scaling-stroke}"
    ".spread .within{fill:var(--bar);opacity:.25}.spread .rise{fill:none;stroke:var(--bar);"
    "stroke-width:2;vector-effect:non-scaling-stroke}"
    ".spread .edges{display:flex;justify-content:space-between;color:var(--soft);"
    "font-size:.85rem;margin:.25rem 0 0;font-variant-numeric:tabular-nums}"
    ".spread .scroll{overflow-x:auto}.spread .scroll:focus-visible{outline:2px solid var(--bar)}"
    ".figures{width:auto;margin:.6rem 0}"
    ".figures caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.2rem}"
    ".figures th,.figures td{white-space:nowrap;text-align:right;padding:.12rem 1.4rem .12rem 0}"
    ".figures tbody th{font-size:1rem;font-weight:400;color:var(--fg)}"
    ".figures th:first-child{text-align:left}.figures .mute th{color:var(--soft)}"
    "@media(max-width:40rem){.figures thead tr,.figures tbody tr{display:table-row}"
    ".figures th,.figures td{padding-right:.6rem}.figures thead th,.figures "
    "caption{white-space:normal}}"
    "@media(forced-colors:active){.spread .bin,.spread .range,.spread .within{fill:CanvasText}"
    ".spread .rise{stroke:CanvasText}}"
    "@media print{.spread .scroll{overflow:visible}}";

#endif
