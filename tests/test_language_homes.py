"""Knowledge about a language is only in its settings or its `LanguageSpec`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from source_trees import ROOT, tree_of

# Names that only mean the language; `go`, `c`, `json` and others are also words.
NAMES = frozenset(
    "clojure cpp csharp dart elixir erlang haskell java javascript julia jupyter kotlin lua objc "
    "ocaml perl php python ruby rust scala swift tsx typescript".split()
)
HOMES = ("extract/languages/", "resolve/languages/", "extract/language_settings.py")
EXEMPT = {
    # A notebook that names no language is written in Python, as its format says.
    "extract/source_text.py",
    # Suffixes of files: a hook has 60 ms, and the settings of languages are TOML.
    "focus/topic_code.py",
}


def named_languages(tree: ast.Module) -> set[str]:
    """Languages named in strings, alone or in a list of words (`"java kotlin".split()`)."""
    texts = [
        node.value.split()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return {
        word
        for words in texts
        if len(words) == 1 or all(part.islower() and part.isidentifier() for part in words)
        for word in words
        if word in NAMES
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('KEYS = frozenset({"java", "go"})', {"java"}),
        ('KEYS = "rust ruby".split()', {"rust", "ruby"}),
        ('NOTE = "Types as in java, see below."', set[str]()),
    ],
)
def test_names_are_seen(text: str, names: set[str]) -> None:
    assert named_languages(ast.parse(text)) == names


def test_no_language_is_named_outside_of_its_home() -> None:
    named: dict[str, set[str]] = {}
    for file in ROOT.rglob("*.py"):
        path = file.relative_to(ROOT).as_posix()
        if path.startswith(HOMES) or path in EXEMPT:
            continue
        names = named_languages(tree_of(Path(file)))
        if names:
            named[path] = names
    assert not named, (
        "make it a key of extract/languages/NAME.toml (syntax) or a field of LanguageSpec "
        f"(meaning), and ask that: {named}"
    )
