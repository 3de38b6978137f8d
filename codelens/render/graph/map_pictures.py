"""The map as a picture: Mermaid, Graphviz, and one HTML page that needs nothing but itself.

Names out of a repository are data: each form escapes all that its syntax could obey.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from codelens.answers.graph_answers import MapAnswer, MapFile
from codelens.plurals import count_of
from codelens.render.graph.graph_text import close, used_by
from codelens.render.graph.map_page import PAGE
from codelens.render.text_pieces import one_line, safe

_MERMAID_LINKS, _LINKS = 40, 200
_NAMED_SHARE = 0.06
"""Of all lines, that a language has before its stripe is wide enough for its name."""


def mermaid(answer: MapAnswer) -> str:
    """A flow chart: files in boxes by folder, arrows from user to used."""
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
    """What a picture leaves out, in sentences."""
    most = _MERMAID_LINKS if form == "mermaid" else _LINKS
    if len(answer.links) > most:
        yield f"drawn: the {most} heaviest of {len(answer.links):,} links; --json has all"
    drawn = sum(map(len, _by_folder(answer, answer.links[:most]).values()))
    if form != "html" and drawn < len(answer.files):
        every = count_of(len(answer.files), "file")
        yield f"drawn: {drawn:,} of {every}, those with such a link; --json has all"


def dot(answer: MapAnswer) -> str:
    """A digraph for Graphviz; the pen follows the weight."""
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
    """One HTML page with its style and script inside; it loads nothing."""
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
    # One pass: what a name of the repository holds is never looked at for a mark.
    return _filled(shown, parts)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    pieces = template.split("@@")
    return "".join(piece if at % 2 == 0 else parts[piece] for at, piece in enumerate(pieces))


def _by_folder(
    answer: MapAnswer, links: Sequence[tuple[str, str, int]]
) -> dict[str, list[MapFile]]:
    """The files that have a link; all of them where there is none."""
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
    """JSON that may stand inside a script element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _mermaid_text(text: str) -> str:
    # Mermaid has no escapes in quotes but its own entities.
    return "".join(
        char if char.isalnum() or char in "/._- " else f"#{ord(char)};" for char in one_line(text)
    )


def _dot_text(text: str) -> str:
    quoted = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


FORMS: Mapping[str, Callable[[MapAnswer], str]] = {"mermaid": mermaid, "dot": dot, "html": page}
