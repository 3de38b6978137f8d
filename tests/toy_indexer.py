"""A SCIP indexer of small Python texts that decides otherwise than our resolver.

It knows functions at the top of a file and calls of bare names, and takes a name for the last file,
by path, that defines it, whatever is imported. So each answer shows who gave it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from codelens.scip import scip_pb2

_DEFINITION = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
_USE = re.compile(r"\b(\w+)\(")


def symbol_of(path: str, name: str) -> str:
    return f"toy . shop . `{path}`/{name}()."


def indexed(
    texts: Mapping[str, str], *, with_text: bool = True, unit: int = 1, tool: str = "toy"
) -> scip_pb2.Index:
    """The index of texts by path; `unit` is a `PositionEncoding`."""
    owners = {
        match[1]: path for path in sorted(texts) for match in _DEFINITION.finditer(texts[path])
    }
    index = scip_pb2.Index()
    index.metadata.tool_info.name = tool
    index.metadata.tool_info.version = "1"
    index.metadata.project_root = "file:///nowhere"
    for path, text in sorted(texts.items()):
        document = index.documents.add(relative_path=path, language="Python")
        document.position_encoding = unit  # type: ignore[assignment]
        if with_text:
            document.text = text
        for number, line in enumerate(text.split("\n")):
            definition = _DEFINITION.match(line)
            if definition:
                span = _span(line, *definition.span(1), unit)
                document.occurrences.add(
                    range=[number, *span], symbol=symbol_of(path, definition[1]), symbol_roles=1
                )
            for use in _USE.finditer(line):
                if use[1] in owners and not (definition and use.span(1) == definition.span(1)):
                    document.occurrences.add(
                        range=[number, *_span(line, *use.span(1), unit)],
                        symbol=symbol_of(owners[use[1]], use[1]),
                    )
    return index


def _span(line: str, start: int, end: int, unit: int) -> tuple[int, int]:
    encoding = {1: "utf-8", 2: "utf-16-le", 3: "utf-32-le"}[unit]
    size = {1: 1, 2: 2, 3: 4}[unit]
    first, last = (len(line[:at].encode(encoding)) // size for at in (start, end))
    return first, last


def write_index(file: Path, texts: Mapping[str, str], **how: object) -> Path:
    file.write_bytes(indexed(texts, **how).SerializeToString())  # type: ignore[arg-type]
    return file
