"""Who names a template: code that renders it, templates that include or extend it.

Views that are chosen by the name of a method (`views/users/show` for `UsersController.show`) name
nothing: their path says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from codelens.engine.current_view import CurrentView
from codelens.engine.graph.text_uses.template_names import (
    Template,
    TemplateNames,
    has_ending,
    is_whole_name,
    template_at,
)
from codelens.engine.graph.text_uses.word_search import Match, TextSearch, words_in
from codelens.resolve.walk.edge_table import Node
from codelens.store.facts.symbol_keys import key_of

_MOST_TEMPLATES = 60
"""Asked about, with those that include them."""
_DEEPEST = 3
_RENDERING = re.compile(
    rb"(?i)render|template|view|partial|layout|includ|extend|component|display|fetch|mail|page|"
    rb"\bblock\b|@(?:each|includeif|extends)|\breturn\s*$"
)
_NEAR = 120
"""Bytes before a name in which something must say that it is rendered."""
_NAME = rb"[@\w./:\\~-]"


class TemplateUse(NamedTuple):
    """One place that may use a template."""

    path: bytes
    line: int
    symbol: int | None
    """Of a method that has a template by its name; None where a text names it."""
    name: str
    """As it is written; empty for a method's own."""
    template: Template
    choices: int
    """How many templates it may mean."""


class TemplateUses:
    """Looks for uses in one view, for one question."""

    def __init__(self, view: CurrentView, search: TextSearch) -> None:
        self._view = view
        self._search = search

    def of(self, paths: Iterable[bytes], depth: int) -> Iterator[TemplateUse]:
        """Uses of the templates among some files, and of templates that include them, by steps."""
        templates = [template for path in paths if (template := template_at(path)) is not None]
        if not templates:
            return
        seen = {template.path for template in templates}
        # What is gone is still named.
        names = TemplateNames(sorted(seen.union(self._view.snapshot.by_path)))
        for _ in range(min(depth, _DEEPEST)):
            including: list[Template] = []
            for use in self._direct(templates[:_MOST_TEMPLATES], names):
                if use.path in seen:
                    continue
                yield use
                outer = template_at(use.path)
                if outer is not None and all(other.path != outer.path for other in including):
                    including.append(outer)
            seen.update(template.path for template in including)
            templates = including
            if not templates:
                return

    def _direct(self, templates: Sequence[Template], names: TemplateNames) -> Iterator[TemplateUse]:
        by_path = {template.path: template for template in templates}
        for template in templates:
            yield from self._by_method(template)
        stems = sorted({template.stem for template in templates})
        paths = set[bytes]().union(*(self._search.files_with(words_in(stem)) for stem in stems))
        others = [path for path in paths if template_at(path) is not None]
        for match in self._search.matches(paths, _naming(stems), also=others):
            name = match.text[match.start : match.end].decode("utf-8", "replace")
            meant = names.meant(name, match.path)
            for template in meant:
                if template.path in by_path and _is_rendered(match, name, template):
                    yield TemplateUse(match.path, match.line, None, name, template, len(meant))

    def _by_method(self, template: Template) -> Iterator[TemplateUse]:
        """Methods of a controller that render a template without naming it."""
        below = template.folders[template.root :]
        if template.root < 0 or not below:
            return
        owners = {key_of(f"{below[-1]}controller")}
        if below[-1].endswith("mailer"):
            owners.add(key_of(below[-1]))
        for name in (template.stem, f"action{template.stem}"):
            for file, at, symbol in self._view.snapshot.symbols_with_key(key_of(name)):
                owner = symbol.qualified.rpartition(".")[0].rpartition(".")[2]
                if symbol.parent >= 0 and key_of(owner) in owners:
                    yield TemplateUse(file.path, symbol.name_line, at, "", template, 1)


def node_of(use: TemplateUse) -> Node | None:
    """The method that a use is, if it is one."""
    return Node(use.path, use.symbol) if use.symbol is not None else None


def _naming(stems: Sequence[str]) -> re.Pattern[bytes]:
    """Matches what may name a template with one of these stems."""
    any_stem = b"|".join(re.escape(stem.encode("utf-8", "replace")) for stem in stems)
    name = rb"(?:%s{0,200}[./:\\~@])?_?(?:%s)(?:\.[a-z][a-z0-9]{0,9}){0,3}" % (_NAME, any_stem)
    quoted = rb"([\"'`])(?P<quoted>%s)(?=\1|\s*::\s*\w)" % name
    symbol = rb"(?<=[\s(,=>]:)(?P<symbol>%s)(?![\w:?!=])" % any_stem
    partial = rb"\{\{[#~]?>\s*(?P<partial>%s)(?=[\s}~])" % name
    bare = rb"\b(?:include|extends)\s+(?P<bare>%s)(?=\s|$)" % name
    return re.compile(rb"(?m)%s|%s|%s|%s" % (quoted, symbol, partial, bare))


def _is_rendered(match: Match, name: str, template: Template) -> bool:
    """Whether a text that is the name of a template is meant as one."""
    if has_ending(name) or is_whole_name(template, name) or match.group in {"partial", "bare"}:
        return True
    line = match.text.rfind(b"\n", 0, match.start) + 1
    if match.text[max(line - _NEAR, 0) : line].rstrip().endswith((b"(", b",")):
        # A call that is broken before its arguments.
        line = match.text.rfind(b"\n", 0, max(line - 1, 0)) + 1
    start = max(match.start - _NEAR, line)
    verb = _RENDERING.search(match.text[start : match.start].rstrip(b"\"'`( :"))
    if verb is None:
        return False
    return verb[0] != b"return" or b"controller" in match.path.lower()
