"""Every file, folder and module that the documentation names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PARTS = ("codelens", "migrations", "install", "docs", "tests", "benchmarks", "training")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(
    r"(?<![\w./-])((?:[\w.-]+/)*[\w.-]+\.(?:py|md|toml|sql|scm|sh)"
    rf"|(?:{'|'.join(PARTS)})/[\w./-]*\w)(?![\w/-])"
)
FOLDER = re.compile(r"(?:\w+/)+")
MODULE = re.compile(r"^(?:python -m )?(codelens(?:\.\w+)+)")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
STANDS_FOR_A_NAME = re.compile(r"NAME|LANGUAGE|CODELENS_HOME|\.codelens|~|^/|#|\*|:\d")

THEIRS = {
    "config.toml", ".codex/config.toml", "AGENTS.md", "Cargo.toml", "src/auth.py", "lib.py",
    "forms/text.py", "test_text.py", "test_utils_text.py", "test_webob.py",
    "tests/utils_tests/test_text.py", "utils/text.py", "utils_text/tests.py",
    "codelens/extract/languages/solidity.scm", "codelens/extract/languages/solidity.toml",
    "tests/fixtures/solidity/", "indexes/", "secrets/",
}  # fmt: skip
"""Files of a user, of an example, and of a language not added yet."""


def _files() -> set[str]:
    """All files of the repository with a slash before them, and all folders with one after."""
    files = [
        one for name in PARTS for one in (ROOT / name).rglob("*") if "__pycache__" not in str(one)
    ]
    names = {
        "/" + one.relative_to(ROOT).as_posix() + ("/" if one.is_dir() else "") for one in files
    }
    roots = {f"/{name}/" for name in PARTS}
    return names | roots | {f"/{one.name}" for one in ROOT.iterdir() if one.is_file()}


FILES = _files()


def named_in(text: str) -> set[str]:
    """Paths in code spans that start with a project folder, name a file by type, or end in `/`."""
    spans = [span for span in CODE.findall(text) if not STANDS_FOR_A_NAME.search(span)]
    files = {path for span in spans for path in PATH.findall(span)}
    return files | {span for span in spans if FOLDER.fullmatch(span)}


def exists(path: str) -> bool:
    tail = "/" + path.strip("/")
    return any(file.endswith((tail, f"{tail}/")) for file in FILES)


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page: the headings, as hosts of Markdown write them."""
    headings = HEADING.findall(page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    named = named_in(page.read_text("utf-8")) - THEIRS
    assert {name for name in named if not exists(name)} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    lost: list[tuple[str, str]] = []
    for name, anchor in LINK.findall(page.read_text("utf-8")):
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            lost.append((name, anchor))
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    named = {
        match[1] for span in CODE.findall(page.read_text("utf-8")) if (match := MODULE.match(span))
    }
    modules = {
        file.removesuffix(".py").removesuffix("/").strip("/").replace("/", ".") for file in FILES
    }
    assert {
        name for name in named if name not in modules and name.rpartition(".")[0] not in modules
    } == set()


def test_the_page_on_the_architecture_names_the_code() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert len(named_in(text)) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_markers_of_a_merge(page: Path) -> None:
    lines = page.read_text("utf-8").splitlines()
    assert not [line for line in lines if line.startswith(("<<<<<<< ", ">>>>>>> "))]
