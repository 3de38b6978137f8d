"""Small views as dicts, and the imports that the real extraction finds in their texts."""

from __future__ import annotations

from collections.abc import Mapping

from codelens.extract.facts import facts_of
from codelens.extract.language_detection import language_of
from codelens.resolve.imports import Importer, settings_paths


def imported(files: Mapping[str, str], path: str) -> list[str]:
    """The files that the one at `path` imports, in order, each once."""
    languages = {
        name.encode(): language_of(name.encode(), text.encode()) for name, text in files.items()
    }
    settings = {one: files[one.decode()].encode() for one in settings_paths(languages)}
    importer = Importer(languages, settings)
    language = languages[path.encode()]
    facts = facts_of(files[path].encode(), language)
    targets = [
        target.decode()
        for one in facts.structure.imports
        for target in importer.targets(path.encode(), language, one)
    ]
    return list(dict.fromkeys(targets))
