"""The shape of the product: names of files, sizes of packages, import cycles, inheritance."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from source_trees import FILES, ROOT, tree_of

MOST_MODULES, DEEPEST = 15, 3
LISTS = {"cli/commands"}
"""Packages that are a plain list of like things."""


def _name(file: Path) -> str:
    parts = ("codelens", *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(file): tree_of(file) for file in FILES}


def _imports(tree: ast.Module) -> set[str]:
    """Modules of the product that a module imports when it is loaded, or for its types."""
    found: set[str] = set()
    for node in (one for top in tree.body for one in _outside_functions(top)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{one.name}" for one in node.names} & MODULES.keys()
            found |= inner or ({node.module} & MODULES.keys())
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names} & MODULES.keys()
    return found


def _outside_functions(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.If | ast.Try):
        return [one for inner in node.body + node.orelse for one in _outside_functions(inner)]
    return [node]


def test_no_two_files_have_one_name() -> None:
    names = Counter(file.name for file in FILES if not file.name.startswith("__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_packages_have_at_most_fifteen_modules() -> None:
    counts = Counter(file.parent for file in FILES if not file.name.startswith("__"))
    large = {one.relative_to(ROOT).as_posix() for one in counts if counts[one] > MOST_MODULES}
    assert large == LISTS


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = graph[pending.pop()] - seen
        seen |= new
        pending += new
    return seen


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: _imports(tree) - {name} for name, tree in MODULES.items()}
    assert {name for name in graph if name in _reached(graph, name)} == set()


def test_inheritance_is_at_most_three_classes_deep() -> None:
    classes = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for tree in MODULES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def depth(name: str, seen: frozenset[str] = frozenset()) -> int:
        if name not in classes or name in seen:
            return 0
        return 1 + max((depth(base, seen | {name}) for base in classes[name]), default=0)

    assert {name for name in classes if depth(name) > DEEPEST} == set()
