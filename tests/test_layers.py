"""The table of layers: who may import whom, and which package alone imports what."""

from __future__ import annotations

import ast
import graphlib
from functools import cache
from pathlib import Path

import pytest
from source_trees import ROOT, tree_of

# A row imports only from the rows that it names; rows follow the flow of data.
ALLOWED = {
    "types": set(),
    "errors": {"types"},  # a failure carries the receipt of its search
    # Whether the caller still waits: checked in all long work.
    "cancellation": set(),
    # Keys and passwords in texts: masked in prompts, never sent to a provider.
    "secret_masking": set(),
    "secret_settings": {"secret_masking"},
    "secret_files": {"secret_masking", "secret_settings"},
    # Small files of the home: read with a limit, written for one place, locked.
    "home_files": set(),
    # Counts with their nouns, and days, for messages and answers.
    "wording": set(),
    "paths": {"types", "errors"},
    "config": {"types", "errors", "paths"},
    # What clients over HTTP must send: the server checks it, install writes it.
    "bearer_token": {"errors", "home_files", "paths"},
    # Below all users of the session trail: hooks, which import next to nothing, and the engine.
    "trail": {"home_files"},
    "focus": {"types", "errors", "paths", "config", "home_files", "secret_masking", "trail"},
    "scope": {"types", "cancellation", "errors", "paths", "config", "home_files"},
    "scan": {"types", "cancellation", "errors", "paths", "config", "scope"},
    "extract": {"types", "errors"},
    "store": {"types", "cancellation", "errors", "home_files", "paths"},
    # The table of words with vectors by counts of terms; providers with vectors of texts.
    "meaning": {"types", "cancellation", "errors", "store"},
    "index": {
        "wording", "types", "cancellation", "errors", "paths", "config", "home_files",
        "scope", "scan", "extract", "meaning", "store",
    },
    # What compilers say, in the format of the field; knows neither the store nor the graph.
    "scip": {"errors"},
    "handles": {"types", "errors", "paths", "scope", "scan", "extract", "store"},
    # `extract` only for the tokenizer that documents and queries share.
    "resolve": {"types", "errors", "paths", "store"},
    "rank": {
        "wording", "types", "cancellation", "errors", "paths", "extract", "meaning",
        "store", "resolve",
    },
    # Takes definitions, lines and values; does not depend on views, the store or the graph.
    "capsule": set(),
    # `extract` for the tokenizer, as in `rank`.
    "memory": {
        "wording", "types", "errors", "paths", "trail", "scope", "extract", "store",
        "handles",
    },
    # `index` and `extract`, to read texts outside of any view and store their facts.
    "branches": {
        "types", "errors", "paths", "config", "scope", "scan", "extract", "store", "index",
        "handles", "resolve",
    },
    # Only values.
    "answers": {"types"},
    # `rank` for the names of reasons, `handles` for the grammar.
    "render": {"wording", "paths", "types", "answers", "handles", "rank"},
    # `render`, since a map and a search within a token limit measure their cost as text.
    "engine": {
        "wording", "types", "cancellation", "errors", "paths", "config", "home_files",
        "secret_masking", "secret_files", "trail", "scope", "scan", "extract", "meaning", "store",
        "index", "handles", "rank", "resolve", "memory", "branches", "capsule", "answers", "render",
        "scip",
    },
    "serve": {
        "wording", "types", "cancellation", "errors", "paths", "config", "bearer_token",
        "answers", "render", "engine",
    },
    # What agents call: the light way to `focus` and `trail`, and at a session's start the engine,
    # with the text of its answers.
    "hooks": {
        "wording", "types", "errors", "paths", "home_files", "secret_masking", "trail", "focus",
        "scope", "engine", "render",
    },
    "hosts": {"types", "errors", "bearer_token", "home_files", "paths"},
    # The page: the commands' answers, over HTTP on loopback.
    "ui": {
        "types", "cancellation", "errors", "config", "bearer_token", "answers", "render", "engine",
    },
    "cli": {
        "wording", "types", "errors", "bearer_token", "paths", "config", "capsule",
        "answers", "render", "engine", "serve", "ui", "hosts", "focus", "hooks",
    },
}  # fmt: skip

OWNERS = {
    "pygit2": "scope",
    "google.protobuf": "scip",
    "pymilvus": "meaning",
    "onnxruntime": "meaning",
    "huggingface_hub": "meaning",
    "tokenizers": "meaning",
    "tree_sitter": "extract",
    "tree_sitter_language_pack": "extract",
    "Stemmer": "extract",
    "apsw": "store",
    "mcp": "serve",
    "pydantic": "serve",
    "starlette": "serve",
    "uvicorn": "serve",
    "h11": "serve",
    "rich": "cli",
    "shtab": "cli",
    "tomlkit": "hosts",
    "ruamel": "hosts",
    "xxhash": "scan",
}
"""The clients of providers are added by the calls that load them (`clients_of_providers`)."""


def package_of(file: Path) -> str:
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def module_of(file: Path) -> str:
    return ".".join(("codelens", *file.relative_to(ROOT).with_suffix("").parts))


def for_typing_alone(tree: ast.Module) -> set[ast.AST]:
    return {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        for node in ast.walk(statement)
    }


@cache
def imports_of(file: Path, *, typing: bool = True) -> set[str]:
    tree = tree_of(file)
    left_out = set() if typing else for_typing_alone(tree)
    found = set()
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


FILES = sorted(
    file for file in ROOT.rglob("*.py") if package_of(file) not in {"__init__", "__main__"}
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_package_imports_only_allowed_packages(file: Path) -> None:
    package = package_of(file)
    assert package in ALLOWED, f"{package} has no row in the table of layers"
    imported = {name.split(".")[1] for name in imports_of(file) if name.startswith("codelens.")} - {
        package,
        "__version__",
    }
    assert imported <= ALLOWED[package]


def clients_of_providers() -> set[str]:
    """The packages that providers load by `library(EXTRA, PACKAGE)`."""
    calls = [
        node
        for file in sorted((ROOT / "meaning" / "providers").glob("*.py"))
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "library"
    ]
    return {ast.literal_eval(call.args[1]) for call in calls}


OWNERS |= dict.fromkeys(clients_of_providers(), "meaning")


def test_the_clients_of_providers_are_known() -> None:
    assert {"openai", "voyageai", "google.genai", "ollama"} <= OWNERS.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_one_package_alone_imports_each_foundation(file: Path) -> None:
    parts = [name.split(".") for name in imports_of(file)]
    used = {".".join(part[:size]) for part in parts for size in (1, 2)} & OWNERS.keys()
    assert all(OWNERS[name] == package_of(file) for name in used)


@pytest.mark.parametrize("package", ["rank", "memory"])
def test_questions_take_only_the_tokenizer_from_extract(package: str) -> None:
    used = set().union(*(imports_of(file) for file in FILES if package_of(file) == package))
    modules = {".".join(name.split(".")[:3]) for name in used if "codelens.extract" in name}
    assert modules <= {
        "codelens.extract",
        "codelens.extract.tokenizer",
    }


def test_packages_import_one_another_one_way() -> None:
    list(graphlib.TopologicalSorter(ALLOWED).static_order())


def test_files_import_one_another_one_way() -> None:
    """Late imports count, too; imports for the type checker alone do not."""
    modules = {module_of(file): file for file in FILES}
    graph = {
        module: {name for name in imports_of(file, typing=False) if name in modules} - {module}
        for module, file in modules.items()
    }
    list(graphlib.TopologicalSorter(graph).static_order())


def test_no_file_is_named_for_nothing() -> None:
    vague = ("util", "helper", "misc", "manager")
    assert not [file for file in FILES if any(word in file.stem for word in vague)]
