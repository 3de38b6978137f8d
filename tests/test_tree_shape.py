"""The shape of the product: names, sizes of packages, import cycles, inheritance."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from source_trees import FILES, ROOT, tree_of

FEWEST_MODULES, DEEPEST = 3, 3
"""A folder for one or two modules hides nothing; they belong to the folder above it."""
MOST_LINES, MOST_FUNCTION_LINES, MOST_POSITIONAL = 600, 60, 5
MANY_POSITIONAL = {
    "codelens.engine.map.map_query.__init__",
}
"""Known exceptions: shrink this list, never extend it."""
EMPTY_NAMES = frozenset(
    "one ones found said told held kept given made asked wanted things what which whose was became "
    "stands".split()
)
"""Names of variables that say nothing about their values."""


def _name(file: Path) -> str:
    parts = ("codelens", *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    """Not at import: each process that runs tests imports this file, and few run its tests."""
    return {_name(file): tree_of(file) for file in FILES}


@cache
def functions() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (module, node)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _imports(tree: ast.Module) -> set[str]:
    """Product modules that a module imports when it is loaded, or for its types."""
    found: set[str] = set()
    for node in (one for top in tree.body for one in _outside_functions(top)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{one.name}" for one in node.names} & modules().keys()
            found |= inner or ({node.module} & modules().keys())
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names} & modules().keys()
    return found


def _outside_functions(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.If | ast.Try):
        return [one for inner in node.body + node.orelse for one in _outside_functions(inner)]
    return [node]


def test_no_two_classes_of_a_package_have_one_name() -> None:
    names = Counter(
        (file.parent.relative_to(ROOT).as_posix(), node.name)
        for file in FILES
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_variable_and_parameter_names_are_meaningful() -> None:
    empty = {
        f"{module}:{line}: {name}"
        for module, tree in modules().items()
        for name, line in _variables(tree)
        if name in EMPTY_NAMES
    }
    assert empty == set()


def _variables(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Variables bound in a module, with their lines; without fields of classes."""
    fields = {
        id(statement.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in fields:
                yield name, node.lineno
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield name, node.lineno
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case _:
                pass


def test_folders_are_few_and_at_most_three_deep() -> None:
    modules = [file for file in FILES if not file.name.startswith("__")]
    counts = Counter(file.parent for file in modules)
    counts.update(folder.parent for folder in list(counts) if folder != ROOT)
    assert {folder for folder in counts if len(folder.relative_to(ROOT).parts) > DEEPEST} == set()
    assert {folder for folder, count in counts.items() if count < FEWEST_MODULES} == set()


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = graph[pending.pop()] - seen
        seen |= new
        pending += new
    return seen


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: _imports(tree) - {name} for name, tree in modules().items()}
    assert {name for name in graph if name in _reached(graph, name)} == set()


def test_inheritance_is_at_most_three_classes_deep() -> None:
    classes = {
        f"{module}.{node.name}": _bases(module, tree, node)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in classes[name] if base in classes), default=0)

    assert {name for name in classes if depth(name) > DEEPEST} == set()


@cache
def _origins(tree: ast.Module) -> dict[str, str]:
    """The qualified name of each imported name of a module."""
    return {
        alias.asname or alias.name: f"{statement.module}.{alias.name}"
        for statement in ast.walk(tree)
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }


def _bases(module: str, tree: ast.Module, node: ast.ClassDef) -> list[str]:
    """The qualified names of a class's bases inside the product."""
    origins = _origins(tree)
    names = [ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
             for base in node.bases]  # fmt: skip
    qualified: list[str] = []
    for name in names:
        first, dot, rest = name.partition(".")
        qualified.append(f"{origins.get(first, f'{module}.{first}')}{dot}{rest}")
    return qualified


def test_files_fit_in_six_hundred_lines() -> None:
    sizes = {file.relative_to(ROOT).as_posix(): len(file.read_text("utf-8").splitlines())
             for file in FILES}  # fmt: skip
    assert not {name for name, size in sizes.items() if size > MOST_LINES}


def test_functions_fit_on_a_screen() -> None:
    long = {
        f"{module}.{node.name}": node.end_lineno - node.lineno + 1
        for module, node in functions()
        if node.end_lineno is not None and node.end_lineno - node.lineno >= MOST_FUNCTION_LINES
    }
    assert long == {}


def test_functions_take_at_most_five_arguments_by_position() -> None:
    many: set[str] = set()
    for module, node in functions():
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        if len(names) - (names[:1] in (["self"], ["cls"])) > MOST_POSITIONAL:
            many.add(f"{module}.{node.name}")
    assert many == MANY_POSITIONAL
