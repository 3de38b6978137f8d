"""Renders the map as Mermaid, Graphviz and an HTML page."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from codelens.answers.graph_answers import MapAnswer, MapFile
from codelens.render.graph_text import close, used_by
from codelens.render.text_pieces import one_line, safe
from codelens.wording import count_of

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


# Pictures of the map: Mermaid, Graphviz, and one self-contained HTML page.
#
# Names from a repository are data: each format escapes everything special in its syntax.

_MERMAID_LINKS, _LINKS = 40, 200
_NAMED_SHARE = 0.06
"""Minimum share of lines of a language for its name to fit into its stripe."""


def mermaid(answer: MapAnswer) -> str:
    """Render a flow chart: files in boxes by folder, arrows from user to used."""
    number = {file.path: f"f{at}" for at, file in enumerate(answer.files)}
    rows = ["flowchart LR"]
    links = answer.links[:_MERMAID_LINKS]
    for at, (folder, files) in enumerate(_by_folder(answer, links).items()):
        rows.append(f'  subgraph d{at}["{_mermaid_text(folder)}"]')
        for file in files:
            name = file.path.rpartition("/")[2]
            rows.append(f'    {number[file.path]}["{_mermaid_text(name)}"]')
        rows.append("  end")
    for source, target, _ in links:
        rows.append(f"  {number[source]} --> {number[target]}")
    return "\n".join(rows)


def undrawn(answer: MapAnswer, form: str) -> Iterator[str]:
    """Yield sentences on what a picture leaves out."""
    most = _MERMAID_LINKS if form == "mermaid" else _LINKS
    if len(answer.links) > most:
        yield f"drawn: the {most} heaviest of {len(answer.links):,} links; --json has all"
    drawn = sum(map(len, _by_folder(answer, answer.links[:most]).values()))
    if form != "html" and drawn < len(answer.files):
        every = count_of(len(answer.files), "file")
        yield f"drawn: {drawn:,} of {every}, those with such a link; --json has all"


def dot(answer: MapAnswer) -> str:
    """Render a Graphviz digraph; the pen width follows the weight."""
    number = {file.path: f"f{at}" for at, file in enumerate(answer.files)}
    links = answer.links[:_LINKS]
    rows = ["digraph map {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for at, (folder, files) in enumerate(_by_folder(answer, links).items()):
        rows.append(f"  subgraph cluster_{at} {{")
        rows.append(f"    label={_dot_text(folder)};")
        for file in files:
            name = _dot_text(file.path.rpartition("/")[2])
            rows.append(f"    {number[file.path]} [label={name}, tooltip={_dot_text(file.path)}];")
        rows.append("  }")
    heaviest = max((weight for _, _, weight in links), default=1)
    for source, target, weight in links:
        pen = 0.5 + 3 * weight / heaviest
        rows.append(f"  {number[source]} -> {number[target]} [penwidth={pen:.1f}];")
    rows.append("}")
    return "\n".join(rows)


def page(answer: MapAnswer) -> str:
    """Render one HTML page with inline style and script; it loads nothing."""
    files = [
        {
            "path": file.path,
            "language": file.language,
            "lines": file.lines,
            "score": file.score,
            "used": file.imported_by,
            "symbols": [
                [
                    row.node.start_line,
                    row.depth,
                    close(row.node.signature) or row.node.symbol,
                    row.users,
                ]
                for row in file.symbols
            ],
        }
        for file in answer.files
    ]
    number = {file.path: at for at, file in enumerate(answer.files)}
    drawn = answer.links[:_LINKS]
    links = [[number[source], number[target], weight] for source, target, weight in drawn]
    data = {"files": files, "links": links}
    head = answer.receipt.head[:7]
    branch = f"{answer.receipt.branch}@{head}" if head else answer.receipt.branch
    parts: Mapping[str, str] = {
        "TITLE": _text(answer.name),
        "WHERE": _text(
            f"{branch}, {count_of(answer.ranked, 'file')} ranked, {answer.receipt.status}"
        ),
        "NEAR": _text(f"near {', '.join(answer.focus)}" if answer.focus else ""),
        "LANGUAGES": _languages(answer),
        "FOLDERS": "".join(
            _row(f"{folder.path}/", f"{folder.score:g} %", count_of(folder.files, "file"))
            for folder in answer.folders
        ),
        "ENTRIES": "".join(
            _row(entry.name, "", f"{entry.handle} ({entry.why})") for entry in answer.entries
        )
        or _row("none found", "", ""),
        "HOT": "".join(_row(symbol.node.handle, "", used_by(symbol)) for symbol in answer.hot),
        "FILES": "".join(_file(file, at) for at, file in enumerate(answer.files)),
        "DATA": _script_data(data),
    }
    shown = PAGE
    # One pass, so that marks in names of the repository are not replaced.
    return _filled(shown, parts)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    pieces = template.split("@@")
    return "".join(piece if at % 2 == 0 else parts[piece] for at, piece in enumerate(pieces))


def _by_folder(
    answer: MapAnswer, links: Sequence[tuple[str, str, int]]
) -> dict[str, list[MapFile]]:
    """Group the files with links by folder; all files if there are no links."""
    linked = {path for source, target, _ in links for path in (source, target)}
    files_by_folder: dict[str, list[MapFile]] = {}
    for file in answer.files:
        if file.path in linked or not linked:
            files_by_folder.setdefault(file.path.rpartition("/")[0] or ".", []).append(file)
    return files_by_folder


def _language_line(name: str, files: int, lines: int) -> str:
    return f"{name}: {count_of(files, 'file')}, {count_of(lines, 'line')}"


def _languages(answer: MapAnswer) -> str:
    whole = sum(lines for _, _, lines in answer.languages) or 1
    rows = [
        f'<li style="flex-grow:{max(lines / whole * 100, 0.5):.2f}" '
        f'title="{_text(_language_line(name, files, lines))}">'
        f"{_text(name) if lines >= whole * _NAMED_SHARE else ''}</li>"
        for name, files, lines in answer.languages[:10]
    ]
    return "".join(rows)


def _row(name: str, number: str, about: str) -> str:
    return f"<tr><td>{_text(name)}</td><td class=n>{_text(number)}</td><td>{_text(about)}</td></tr>"


def _file(map_file: MapFile, at: int) -> str:
    rows = "".join(
        f"<li class=d{min(row.depth, 3)}><span class=l>{row.node.start_line}</span> "
        f"<code>{_text(close(row.node.signature) or row.node.symbol)}</code>"
        f"{f' <span class=u>{row.users}</span>' if row.users else ''}</li>"
        for row in map_file.symbols
    )
    lines, users = count_of(map_file.lines, "line"), count_of(map_file.imported_by, "file")
    about = f"{map_file.language}, {lines}, named in {users}"
    left = f"<li class=m>{map_file.left:,} more</li>" if map_file.left else ""
    return (
        "<details "
        f'id="file{at}"{" open" if at < _OPEN else ""}><summary><b>{_text(map_file.path)}</b> '
        f"<span class=m>{_text(about)}</span></summary><ul>{rows}{left}</ul></details>"
    )


_OPEN = 3


def _text(text: str) -> str:
    return html.escape(safe(text))


def _script_data(value: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _mermaid_text(text: str) -> str:
    # In quotes, Mermaid only supports its own entities as escapes.
    return "".join(
        char if char.isalnum() or char in "/._- " else f"#{ord(char)};" for char in one_line(text)
    )


def _dot_text(text: str) -> str:
    quoted = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


FORMS: Mapping[str, Callable[[MapAnswer], str]] = {"mermaid": mermaid, "dot": dot, "html": page}
