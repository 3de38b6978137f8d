"""Resolves all edges of views with mangled files; each leads to a definition.

The texts are the fixtures with lines dropped, doubled, swapped or indented differently, names
replaced by others, and calls with more arguments.
"""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest
from harness_sizes import size_of

from codelens.extract.facts import facts_of
from codelens.resolve.edges import Edges
from codelens.resolve.file_model import NO_FACTS, FileModel
from codelens.resolve.imports import Importer
from codelens.resolve.view_files import View

FIXTURES = Path(__file__).parents[1] / "fixtures"
LANGUAGES = (
    "bash", "c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "lua", "php", "python",
    "ruby", "rust", "scala", "swift", "tsx", "typescript",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_ARGUMENTS = 12


@cache
def sources(language: str) -> list[tuple[str, str]]:
    folder = FIXTURES / language
    files = sorted(file for file in folder.iterdir() if file.suffix != ".json")
    return [(file.name, file.read_text(encoding="utf-8", errors="replace")) for file in files]


def mangled(text: str, pick: random.Random, names: list[str]) -> str:
    lines = text.split("\n")
    for _ in range(pick.randrange(1, 12)):
        at, other = pick.randrange(len(lines)), pick.randrange(len(lines))
        match pick.randrange(8):
            case 0:
                del lines[at : at + pick.randrange(1, 4)]
            case 1:
                lines[at:at] = lines[other : other + pick.randrange(1, 8)]
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = _NAME.sub(lambda _: pick.choice(names), lines[at], count=2)
            case 4:
                arguments = "1, " * pick.randrange(1, _MOST_ARGUMENTS)
                lines[at] = lines[at].replace("(", f"({arguments}", 1)
            case 5:
                lines[at] = lines[at].replace("()", f"({pick.choice(names)})")
            case 6:
                lines[at] = lines[at].lstrip()
            case _:
                lines[at] = "    " + lines[at]
        lines = lines or [""]
    return "\n".join(lines)


def resolve_all(language: str, files: dict[bytes, str]) -> int:
    """Resolves each file; returns the number of edges."""

    def load(path: bytes) -> FileModel:
        found = facts_of(files[path].encode(), language).structure
        return FileModel(
            language, found.symbols, found.references, found.imports,
            scopes=found.scopes, bindings=found.bindings,
        )  # fmt: skip

    languages = dict.fromkeys(files, language)
    view = View(languages, load, Importer(languages, {}))
    edges = Edges(view)
    count = 0
    for path in files:
        for edge in edges.of_file(path):
            target = view.model(edge.target)
            assert target is not NO_FACTS
            assert -1 <= edge.target_symbol < len(target.symbols)
            count += 1
    return count


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_edge_of_a_mangled_view_is_resolved(language: str) -> None:
    texts = sources(language)
    names = sorted({name for _, text in texts for name in _NAME.findall(text)})
    edges = 0
    for seed in range(size_of("CODELENS_MANGLED_VIEWS")):
        pick = random.Random(f"{language} {seed}")
        files = {
            b"%d/%s" % (copy, name.encode()): mangled(text, pick, names)
            for copy in range(2)
            for name, text in texts
        }
        try:
            edges += resolve_all(language, files)
        except Exception as error:
            raise AssertionError(f"{language}, seed {seed}") from error
    assert edges
