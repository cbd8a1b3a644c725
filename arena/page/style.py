"""How the page of a tournament looks: one style sheet, light and dark, for a screen, a phone and paper."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #ffffff; --text: #16191d; --dim: #59616b; --line: #dde1e6; --grid: #b9c0c8;
  --accent: #1d4ed8; --gain-text: #1d4ed8; --loss-text: #b03a09; --alert: #a11212;
  --gain: 37 99 235; --loss: 234 106 18; --hatch: rgb(22 25 29 / .13);
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0f1216; --card: #171b21; --text: #e9ecf0; --dim: #a0a9b4; --line: #2b323b; --grid: #4a535e;
    --accent: #8ab4ff; --gain-text: #8ab4ff; --loss-text: #ffa066; --alert: #ff8f8f;
    --gain: 64 132 255; --loss: 226 92 10; --hatch: rgb(233 236 240 / .16);
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
}
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 0 0 .25rem; }
h3 { font-size: .95rem; margin: 0; font-weight: 600; }
p { margin: 0 0 .75rem; max-width: 46rem; }
p, li, dd { overflow-wrap: anywhere; }
.dim, .sub { color: var(--dim); }
.sub { display: block; font-size: .8rem; font-weight: 400; line-height: 1.35; }
.lead { font-size: 1.1rem; }
.facts { margin: 0 0 1.25rem; color: var(--dim); }
section, footer {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.1rem 1.2rem; margin: 0 0 1rem;
}
section > p:first-of-type { color: var(--dim); font-size: .92rem; }
.whole { display: inline-block; white-space: nowrap; }
.name { unicode-bidi: isolate; overflow-wrap: break-word; }
.wide { overflow-x: auto; margin: 0 -.3rem; padding: 0 .3rem; }
.wide:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; }
table.short { width: auto; min-width: min(100%, 26rem); }
caption, .unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
th, td { padding: .45rem .5rem; text-align: left; vertical-align: middle; border-top: 1px solid var(--line); }
thead th {
  border-top: 0; font-size: .8rem; font-weight: 600; color: var(--dim); vertical-align: bottom;
}
tbody th { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
thead th.number, .number .sub { white-space: normal; }
.place { color: var(--dim); font-weight: 400; text-align: right; width: 2rem; padding-right: .1rem; }
.gain { color: var(--gain-text); font-weight: 650; }
.loss { color: var(--loss-text); font-weight: 650; }
.flag { color: var(--alert); font-weight: 600; }
.drawn { width: 48%; min-width: 8rem; padding-top: 0; padding-bottom: 0; }
.drawn svg { display: block; overflow: visible; }
td.drawn {
  background: linear-gradient(var(--grid), var(--grid)) var(--zero) 0 / 1px 100% no-repeat content-box;
}
svg text { fill: var(--dim); font-size: 11px; }
.span { stroke: var(--accent); stroke-width: 3; stroke-linecap: round; }
.dot { fill: var(--accent); stroke: var(--card); stroke-width: 1.5; }
.span.second { stroke-width: 1.5; stroke-dasharray: 3 3; }
.dot.second { fill: var(--card); stroke: var(--accent); }
.tick { stroke: var(--grid); }
.heat { width: auto; border-collapse: separate; border-spacing: 2px; }
.heat th, .heat td { border: 0; }
.heat thead th + th { text-align: center; }
.heat tbody th { position: sticky; left: 0; background: var(--card); max-width: 15rem; z-index: 1; }
.cell {
  min-width: 4.6rem; text-align: center; white-space: nowrap; border-radius: .25rem; line-height: 1.25;
  padding: .4rem .3rem; --colour: var(--gain); background-color: rgb(var(--colour) / var(--depth));
}
.cell.minus { --colour: var(--loss); }
.cell .sub { color: inherit; opacity: .85; font-size: .75rem; }
.cell.open {
  background-image: repeating-linear-gradient(135deg, var(--hatch) 0 2px, transparent 2px 7px);
  outline: 1px dashed var(--dim); outline-offset: -2px;
}
.cell.none { background: none; color: var(--dim); }
.legend {
  display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: .8rem 0 0; padding: 0; list-style: none;
  font-size: .85rem; color: var(--dim); align-items: center;
}
.legend li { display: flex; align-items: center; gap: .4rem; }
.swatch { width: .9rem; height: .9rem; border-radius: .2rem; flex: none; }
.swatch.cell { min-width: 1.6rem; padding: 0; }
.scale { display: inline-flex; gap: 1px; }
.bars {
  display: grid; grid-template-columns: minmax(6rem, 13rem) 1fr; gap: .5rem .8rem; align-items: center;
}
.stack { display: flex; height: 1.9rem; border-radius: .3rem; overflow: hidden; gap: 1px; }
.part {
  flex: 0 1 auto; min-width: 0; overflow: hidden; font-size: .8rem; line-height: 1.9rem; text-align: center;
  white-space: nowrap; background: var(--ground); color: var(--ink);
}
.swatch.part { min-width: .9rem; }
.g0 { --ground: #1e40af; --ink: #fff; } .g1 { --ground: #2563eb; --ink: #fff; }
.g2 { --ground: #60a5fa; --ink: #101418; } .g3 { --ground: #93c5fd; --ink: #101418; }
.g4 { --ground: #c7dffe; --ink: #101418; } .n0 { --ground: #94a3b8; --ink: #101418; }
.l0 { --ground: #9a3412; --ink: #fff; } .l1 { --ground: #c2410c; --ink: #fff; }
.l2 { --ground: #f58634; --ink: #101418; } .l3 { --ground: #fdba74; --ink: #101418; }
.l4 { --ground: #fed7aa; --ink: #101418; } .bad { --ground: #831843; --ink: #fff; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); gap: 1rem; }
.panels figure { margin: 0; min-width: 0; }
.panels svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .9rem; }
.band { fill: var(--accent); opacity: .2; }
.path { fill: none; stroke: var(--accent); stroke-width: 1.8; stroke-linejoin: round; }
.final { stroke: var(--dim); stroke-dasharray: 2 3; }
details { border-top: 1px solid var(--line); padding: .5rem 0; }
details:first-of-type { margin-top: .8rem; }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere; }
pre {
  margin: .6rem 0 0; padding: .8rem; overflow-x: auto; border-radius: .4rem; background: var(--back);
  border: 1px solid var(--line);
  font: .85rem/1.5 ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace;
}
dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1rem; margin: 0 0 1rem; font-size: .92rem; }
dt { color: var(--dim); }
dd { margin: 0; min-width: 0; }
ul.plain { margin: .8rem 0 0; padding-left: 1.2rem; }
@media (max-width: 40rem) {
  main { padding: 1rem .6rem 2rem; }
  section, footer { padding: .9rem .8rem; }
  h1 { font-size: 1.4rem; }
  .bars { grid-template-columns: 1fr; gap: .15rem; }
  .bars h3:not(:first-child) { margin-top: .7rem; }
  th, td { padding: .4rem .3rem; }
  tbody th { font-size: .92rem; }
  .drawn { width: 36%; min-width: 6.5rem; }
  .whole.few { display: none; }
  .heat tbody th { max-width: 7rem; font-size: .85rem; }
  .cell { min-width: 4rem; font-size: .9rem; }
}
@media print {
  :root { color-scheme: light; }
  body { background: none; }
  section, footer { break-inside: avoid; }
  .cell, .part { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
