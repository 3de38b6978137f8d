"""Loads grammars and compiles queries, once per process and on first use.

Importing tree_sitter_language_pack loads three grammars that are rarely needed. A grammar's own
extension module is therefore loaded directly, with the package as a fallback.
"""

from __future__ import annotations

import importlib.util
import logging
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from typing import NamedTuple, cast

from tree_sitter import Language, Query

from codelens.errors import SettingError
from codelens.extract.language_settings import FOLDER, LanguageInfo, form_capture, language_info

logger = logging.getLogger(__name__)

_PACK = "tree_sitter_language_pack"
_SUFFIXES = (".abi3.so", ".pyd", *EXTENSION_SUFFIXES)


class Grammar(NamedTuple):
    """The grammar and query of one language."""

    info: LanguageInfo
    language: Language
    query: Query
    captures: tuple[str, ...]
    """The query's captures, and the captures that its forms map to."""


@cache
def grammar(name: str) -> Grammar:
    """Returns the grammar and compiled query of a language.

    Compiling takes less than 1 ms (HTML) to .3 s (C++); 40 ms for Python.

    Raises:
        SettingError: no such language, no such grammar, or the query does not fit it.
    """
    info = language_info(name)
    language = bundled(info.grammar)
    parts = [(FOLDER / f"{stem}.scm").read_text(encoding="utf-8") for stem in info.queries]
    try:
        query = Query(language, "\n".join(parts))
    except ValueError as error:
        raise SettingError(f"the query of {name} does not fit its grammar: {error}") from error
    names = tuple(query.capture_name(at) for at in range(query.capture_count))
    forms = [form_capture(role) for role, _ in (*info.forms, *info.parts)]
    return Grammar(info, language, query, tuple(dict.fromkeys((*names, *forms))))


def bundled(grammar_name: str) -> Language:
    """Returns a grammar by its name in tree-sitter-language-pack.

    Raises:
        SettingError: the pack has no such grammar.
    """
    language = _loaded_alone(grammar_name)
    if language is not None:
        return language
    from tree_sitter_language_pack import SupportedLanguage, get_language

    try:
        return get_language(cast("SupportedLanguage", grammar_name))
    except LookupError as error:
        raise SettingError(f"there is no grammar called {grammar_name!r}") from error


def _loaded_alone(grammar_name: str) -> Language | None:
    """Returns the grammar from its own extension module; None if that fails."""
    spec = importlib.util.find_spec(_PACK)
    for folder in (spec and spec.submodule_search_locations) or ():
        for suffix in _SUFFIXES:
            path = Path(folder, "bindings", grammar_name + suffix)
            if path.is_file():
                return _from_file(grammar_name, path)
    return None


def _from_file(grammar_name: str, path: Path) -> Language | None:
    name = f"{_PACK}.bindings.{grammar_name}"
    loader = ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return Language(cast("object", module.language()))
    except (ImportError, AttributeError, ValueError) as error:
        logger.info("%s cannot be loaded directly (%s); loading its package", path, error)
        return None
