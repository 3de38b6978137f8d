"""Facts in a readable, comparable form: one line of text per fact.

`python tests/extract/rendering.py FIXTURE...` writes the facts next to each fixture; review the
difference before you commit it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from codelens.extract.facts import structure
from codelens.extract.file_kinds import decode
from codelens.types import Structure

FIXTURES = Path(__file__).parent.parent / "fixtures"


def expected_file(source: Path) -> Path:
    return source.with_name(source.name + ".json")


def fixture_sources() -> list[Path]:
    return sorted(
        path for path in FIXTURES.glob("*/*") if path.is_file() and path.suffix != ".json"
    )


def rendered(source: Path) -> dict[str, list[str]]:
    return render(structure(decode(source.read_bytes()), source.parent.name))


def render(found: Structure) -> dict[str, list[str]]:
    names = [*(symbol.qualified for symbol in found.symbols), ""]
    symbols = [
        f"{one.start_line}-{one.end_line}@{one.name_line} {'+' if one.exported else '-'}{one.kind} "
        f"{one.qualified} <{names[one.parent]}> | {one.signature} | "
        f"{one.doc!r}"
        for one in found.symbols
    ]
    references = sorted(
        f"{one.line:3}:{one.column} {one.kind} {one.name} <{names[one.symbol]}>"
        + (f" of {one.receiver}" if one.receiver else "")
        + (f" in {one.scope}" if one.scope else "")
        + (f" ({one.arguments})" if one.arguments >= 0 else "")
        for one in found.references
    )
    imports = [f"{one.line} {one.module!r} {one.name!r} {one.alias!r}" for one in found.imports]
    chunks = [f"{one.start_line}-{one.end_line} <{names[one.symbol]}>" for one in found.chunks]
    scopes = [
        f"{at} in {one.parent} {one.kind} <{names[one.symbol]}>"
        for at, one in enumerate(found.scopes)
    ]
    bindings = [
        f"{one.line} in {one.scope} {one.name} {one.how} {one.text}".rstrip()
        for one in found.bindings
    ]
    return {
        "symbols": symbols,
        "references": references,
        "imports": imports,
        "chunks": chunks,
        "scopes": scopes,
        "bindings": bindings,
    }


def main() -> None:
    for source in map(Path, sys.argv[1:]):
        text = json.dumps(rendered(source), indent=1, ensure_ascii=False)
        expected_file(source).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
