"""The page of `codelens map --format html`: marks between @@ are filled in by `map_pictures`."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@@TITLE@@ - codelens map</title>
<style>
:root{--bg:#fbfbfa;--fg:#1d2126;--dim:#68707a;--line:#dfe2e6;--box:#fff;--mark:#2f6f9f;--warm:#c2571a}
@media (prefers-color-scheme:dark){:root{--bg:#16191d;--fg:#e4e7ea;--dim:#97a0aa;--line:#2d333a;\
--box:#1d2126;--mark:#7fb7de;--warm:#f0a06a}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,sans-serif}
header{padding:18px 24px 10px}h1{margin:0;font-size:22px}h2{font-size:14px;margin:0 0 8px}
.m,header p{color:var(--dim);margin:2px 0}
main{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:16px;padding:0 24px 32px}
section{background:var(--box);border:1px solid var(--line);border-radius:8px;padding:14px;\
min-width:0}
.left,.right{display:flex;flex-direction:column;gap:16px;min-width:0}
#languages{display:flex;list-style:none;margin:8px 0 0;padding:0;height:22px;border-radius:5px;\
overflow:hidden}
#languages li{flex-basis:0;min-width:3px;overflow:hidden;white-space:nowrap;padding:2px 6px;\
font-size:12px;color:#fff}
#languages li:nth-child(5n+1){background:#2f6f9f}#languages li:nth-child(5n+2){background:#8a5a9c}
#languages li:nth-child(5n+3){background:#3f7d58}#languages li:nth-child(5n+4){background:#a0622d}
#languages li:nth-child(5n){background:#6b7280}
table{border-collapse:collapse;width:100%;font-size:13px}
td{padding:3px 8px 3px 0;vertical-align:top;overflow-wrap:anywhere;border-top:1px solid var(--line)}
tr:first-child td{border:0}.n{text-align:right;white-space:nowrap;color:var(--warm)}
#entries td:first-child{overflow-wrap:break-word;font-weight:600}
input{font:inherit;width:100%;padding:5px 9px;margin:0 0 8px;color:var(--fg);background:var(--bg);\
border:1px solid var(--line);border-radius:6px}
#legend{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:12px;color:var(--dim)}
#legend i{display:inline-block;width:10px;height:10px;border-radius:5px;margin-right:5px}
details{border-top:1px solid var(--line);padding:5px 0}details:first-of-type{border:0}
details:target,details.on{outline:2px solid var(--mark);outline-offset:2px;border-radius:4px}
summary{cursor:pointer;overflow-wrap:anywhere}ul{margin:4px 0 6px;padding-left:8px;list-style:none}
li code{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
.d1{padding-left:18px}.l{display:inline-block;width:44px;text-align:right;color:var(--dim);\
font-size:12px}.u{color:var(--warm);font-size:12px}
svg{width:100%;height:auto;display:block}
svg text{font:11px system-ui,sans-serif;fill:var(--fg);paint-order:stroke;stroke:var(--box);\
stroke-width:3px;cursor:pointer}
svg circle{stroke:var(--box);stroke-width:1.5px;cursor:pointer}
svg path{fill:none;stroke:var(--dim);opacity:.35}
svg .faint{opacity:.06}
svg text.faint,svg circle.faint{opacity:.25}svg path.hot{stroke:var(--warm);opacity:.9}
svg circle.hot{stroke:var(--warm);stroke-width:3px}svg text.hot{font-weight:600}
@media (max-width:900px){main{grid-template-columns:minmax(0,1fr)}}
</style></head><body>
<header><h1>@@TITLE@@</h1><p>@@WHERE@@</p><p>@@NEAR@@</p>
<ul id="languages">@@LANGUAGES@@</ul></header>
<main><div class="left">
<section><h2>Who uses whom</h2><p class="m">An arrow bends clockwise from the user to what it uses;
size is weight, colour is folder. Point at a file to see its own arrows, click to read it.</p>
<div id="legend"></div>
<svg id="graph" viewBox="0 0 900 800" role="img" aria-label="files and what they use"></svg>
</section>
<section><h2>Files by weight</h2>
<input id="filter" type="search" placeholder="Filter by path or definition" aria-label="Filter">
@@FILES@@</section>
</div><div class="right">
<section><h2>Entry points</h2><table id="entries">@@ENTRIES@@</table></section>
<section><h2>Used by most files</h2><table>@@HOT@@</table></section>
<section><h2>Folders by weight</h2><table>@@FOLDERS@@</table></section>
</div></main>
<script type="application/json" id="data">@@DATA@@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const svg = document.getElementById("graph"), files = data.files, MOST = 80;
const make = (name, set, text) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in set) one.setAttribute(key, set[key]);
  if (text !== undefined) one.textContent = text;
  return one;
};
const linked = new Set(data.links.flatMap(([from, to]) => [from, to]));
// Files stand by weight: of many the first are drawn, those of a folder side by side.
const order = files.map((_, at) => at).filter(at => linked.has(at)).slice(0, MOST);
order.sort((a, b) => files[a].path < files[b].path ? -1 : 1);
const drawn = new Set(order), n = order.length;
const links = data.links.filter(([from, to]) => drawn.has(from) && drawn.has(to));
const folder = at => files[at].path.split("/").slice(0, -1).join("/") || ".";
const weight = {};
order.forEach(at => weight[folder(at)] = (weight[folder(at)] || 0) + files[at].score);
const folders = Object.keys(weight).sort((a, b) => weight[b] - weight[a]);
const COLOURS = ["#2f6f9f", "#c2571a", "#3f7d58", "#8a5a9c", "#b08900", "#b0416a", "#3a9a9a"];
const colour = at => COLOURS[folders.indexOf(folder(at))] || "#8b939c";
const legend = document.getElementById("legend");
folders.slice(0, COLOURS.length).forEach((name, at) => {
  const one = document.createElement("span"), dot = document.createElement("i");
  dot.style.background = COLOURS[at];
  one.append(dot, name);
  legend.append(one);
});
const grey = folders.length - COLOURS.length;
if (grey > 0) legend.append(`${grey} more in grey`);
const spot = [];
order.forEach((file, at) => {
  const turn = 2 * Math.PI * at / Math.max(n, 1) - Math.PI / 2;
  spot[file] = [450 + 235 * Math.cos(turn), 400 + 235 * Math.sin(turn), turn];
});
const top1 = Math.max(...files.map(one => one.score), 1e-9);
const heavy = Math.max(...links.map(one => one[2]), 1);
const lines = links.map(([from, to, weight]) => {
  const [x, y] = spot[from], [u, v] = spot[to];
  const cx = (x + u) / 2 - (v - y) * .18, cy = (y + v) / 2 + (u - x) * .18;
  const line = make("path", {d: `M${x} ${y}Q${cx} ${cy} ${u} ${v}`,
    "stroke-width": .6 + 3 * weight / heavy});
  line.append(make("title", {}, `${files[from].path} uses ${files[to].path}`));
  svg.append(line);
  return line;
});
const parts = [];
const short = path => {
  const end = path.split("/").slice(-2).join("/");
  return end.length > 26 ? `\u2026${end.slice(-25)}` : end;
};
order.forEach(at => {
  const one = files[at], [x, y, turn] = spot[at], right = Math.cos(turn) >= 0;
  const size = 4 + 11 * Math.sqrt(one.score / top1);
  const dot = make("circle", {cx: x, cy: y, r: size, fill: colour(at)});
  const away = size + 5;
  // Names stand like the spokes of a wheel, so that no two are written over each other.
  const [u, v] = [x + away * Math.cos(turn), y + away * Math.sin(turn)];
  const slope = turn * 180 / Math.PI + (right ? 0 : 180);
  const name = make("text", {x: u, y: v, dy: "0.35em", "text-anchor": right ? "start" : "end",
    transform: `rotate(${slope} ${u} ${v})`}, short(one.path));
  const users = `${one.used} ${one.used === 1 ? "file" : "files"}`;
  dot.append(make("title", {}, `${one.path}\\n${one.lines} lines, named in ${users}`));
  parts.push([at, dot, name]);
  const show = on => {
    const near = new Set([at]);
    lines.forEach((line, number) => {
      const [from, to] = links[number], mine = from === at || to === at;
      if (mine) near.add(from).add(to);
      line.classList.toggle("hot", on && mine);
      line.classList.toggle("faint", on && !mine);
    });
    for (const [other, ...shown] of parts) for (const part of shown) {
      part.classList.toggle("hot", on && other === at);
      part.classList.toggle("faint", on && !near.has(other));
    }
  };
  const open = () => {
    const part = document.getElementById("file" + at);
    document.querySelectorAll("details.on").forEach(other => other.classList.remove("on"));
    part.open = true;
    part.classList.add("on");
    part.scrollIntoView({behavior: "smooth", block: "center"});
  };
  for (const part of [dot, name]) {
    part.addEventListener("mouseenter", () => show(true));
    part.addEventListener("mouseleave", () => show(false));
    part.addEventListener("click", open);
    svg.append(part);
  }
});
const filter = document.getElementById("filter");
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
  files.forEach((one, at) => {
    const text = `${one.path} ${one.symbols.map(row => row[2]).join(" ")}`.toLowerCase();
    document.getElementById("file" + at).hidden = !words.every(word => text.includes(word));
  });
});
if (!n) svg.remove();
</script></body></html>
"""
