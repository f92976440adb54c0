// SPDX-License-Identifier: Apache-2.0
// The style of pictures of change and of wide tables, for pages that have them besides the style of
// result pages. Private to static_report.c and static_analysis.c.
#ifndef TREND_STYLE_H
#define TREND_STYLE_H

static const char trend_style[] =
    ".trends{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(18rem,100%),1fr));"
    "gap:1.1rem 1.6rem;margin:.9rem 0 1.1rem}"
    "@media(scripting:enabled){.trends.live{min-height:22rem;align-content:start}}"
    "figure{margin:0;min-width:0}"
    "figcaption,.ends{display:flex;justify-content:space-between;gap:1rem}"
    "figcaption{margin-bottom:.4rem}figcaption span,.ends{color:var(--soft);font-size:.85rem}"
    "figcaption b{min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    "figcaption span{white-space:nowrap}"
    ".trend{position:relative;height:5rem}.trend svg{position:absolute;inset:0;height:100%}"
    ".band{fill:var(--bar);opacity:.2}.line,.between{stroke:var(--bar);stroke-width:2;fill:none;"
    "vector-effect:non-scaling-stroke}.trend .zero{vector-effect:non-scaling-stroke}"
    ".dot{fill:var(--bar)}.ring{fill:var(--card);stroke:var(--bar);stroke-width:2}"
    ".mute .dot{fill:var(--mute-whisker)}.mute .ring,.mute .between{stroke:var(--mute-whisker)}"
    ".mute th{color:var(--soft)}tbody th{font-size:1rem;color:var(--fg);font-weight:400}"
    ".ends{margin:.3rem 0 0}.ends span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}"
    ".wide{overflow-x:auto}.wide:focus-visible{outline:2px solid var(--bar)}"
    ".plain th,.plain td{white-space:nowrap;text-align:right;padding:.15rem 1rem .15rem 0;"
    "max-width:14rem;overflow:hidden;text-overflow:ellipsis}"
    ".plain th:first-child{text-align:left}"
    "caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.3rem}"
    ".limits{margin:.4rem 0;padding-left:1.2rem;color:var(--soft)}"
    "@media(max-width:40rem){.plain thead tr,.plain tbody tr{display:table-row}"
    ".changes tbody tr{grid-template-columns:minmax(0,1fr) auto}"
    ".changes .verdict{grid-column:2;grid-row:1}.changes .count{text-align:left}"
    "th.verdict{position:absolute;clip-path:inset(50%)}}"
    ".joint{width:auto;margin:.5rem 0}.joint th,.joint td{padding:.35rem .6rem;border:1px solid "
    "var(--line);text-align:right;font-size:.9rem;max-width:10rem;overflow-wrap:anywhere}"
    ".joint th:first-child{text-align:left;min-width:8rem}.joint thead th{min-width:5rem}.joint "
    "small{display:block;white-space:nowrap}"
    ".joint .s1{background:color-mix(in srgb,var(--bar) 7%,var(--card))}"
    ".joint .s2{background:color-mix(in srgb,var(--bar) 14%,var(--card))}"
    ".joint .s3{background:color-mix(in srgb,var(--bar) 21%,var(--card))}"
    ".joint .s4{background:color-mix(in srgb,var(--bar) 28%,var(--card))}"
    ".joint .s5{background:color-mix(in srgb,var(--bar) 35%,var(--card))}"
    ".joint .s6{background:color-mix(in srgb,var(--bar) 42%,var(--card))}"
    ".joint .s7{background:color-mix(in srgb,var(--bar) 50%,var(--card))}"
    ".joint .unsure{background-image:repeating-linear-gradient(45deg,transparent 0 "
    "7px,var(--mute) 7px 8px)}.joint td{print-color-adjust:exact}"
    "@media(max-width:40rem){.joint thead tr,.joint tbody tr{display:table-row}}"
    "@media print{.wide{overflow:visible}.plain{table-layout:fixed}.plain th,.plain "
    "td{white-space:normal;overflow-wrap:anywhere;font-size:.8rem;padding-right:.5rem}}";

#endif
