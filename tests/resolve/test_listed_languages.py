"""The documentation lists each language whose callers and callees are resolved."""

from __future__ import annotations

import re
from pathlib import Path

from codelens.resolve.languages import registry

ROOT = Path(__file__).resolve().parent.parent.parent
SHOWN = {
    "c": ("C", "C++"),
    "csharp": ("C#",),
    "php": ("PHP",),
    "script": ("JavaScript", "TypeScript"),
}
NUMBERS = {12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen"}


def test_the_documentation_lists_every_language_with_a_resolver() -> None:
    homes = {home.rpartition(".")[2] for home in registry._HOMES} - {"imports_only"}
    languages = {name for home in homes for name in SHOWN.get(home, (home.capitalize(),))}
    page = (ROOT / "docs" / "limits.md").read_text("utf-8")
    sentence = re.search(r"callees are resolved for ([^;.]+)[;.]", page)
    assert sentence
    assert set(re.split(r",\s+|\s+and\s+", sentence[1])) == languages
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    assert f"resolves callers and callees for {NUMBERS[len(languages)]} languages" in readme


def test_each_home_describes_its_own_languages_alone() -> None:
    listed = [name for names in registry._HOMES.values() for name in names.split()]
    assert len(listed) == len(set(listed))
    for home, names in registry._HOMES.items():
        assert set(registry.loaded(f"{home}:SPECS")) == set(names.split()), home
