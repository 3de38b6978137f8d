"""Which definitions are visible outside their file, by each language's own rule."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codelens.extract.language_settings import LanguageInfo
from codelens.extract.source_text import Source
from codelens.extract.symbols.definition_frames import FUNCTIONS, Definitions, Frame


class Visibility:
    """Answers for one text, in order of its definitions."""

    def __init__(self, info: LanguageInfo, source: Source, defined: Definitions) -> None:
        self._info = info
        self._source = source
        self._open = defined.open
        self._has_list = defined.listed
        self._exporting = re.compile(info.exporting.encode()) if info.exporting else None
        self._private = re.compile(info.private_names) if info.private_names else None
        self._closed = set(self._texts(defined.closed))
        """Types that are visible without what is in them."""
        self._listed = set(
            self._texts(
                (start, end)
                for start, end, scope in defined.exports
                if scope is None or self.is_exporting(scope)
            )
        )
        """Names at top level that are visible."""
        self._listed |= self._closed

    @property
    def by_expression(self) -> bool:
        """What a definition's text begins with may export it."""
        return self._exporting is not None

    def is_exporting(self, frame: Frame) -> bool:
        """A definition or scope begins as what is visible does."""
        if self._exporting is None:
            return False
        return self._exporting.match(self._source.text, frame.tree_start) is not None

    def is_exported(
        self, frame: Frame, parent: Frame | None, around: Frame | None, owner: str, name: str
    ) -> bool:
        """A definition is visible outside its file.

        Args:
            frame: the definition.
            parent: the definition or scope right around it.
            around: the definition right around it.
            owner: the type it belongs to outside of which it stands.
            name: its name.
        """
        if around is not None and (_hides(around) or not around.exported):
            return False
        if _in_nameless_function(frame) or (self._private and self._private.fullmatch(name)):
            return False
        return self._by_rule(frame, parent, around, owner, name)

    def _by_rule(
        self, frame: Frame, parent: Frame | None, around: Frame | None, owner: str, name: str
    ) -> bool:
        rule = self._info.exported
        if rule == "marked":
            return self._by_marks(frame, parent, around, owner, name)
        if rule == "unmarked":
            if parent is not None and parent.is_scope and parent.private:
                return False
            return not frame.private and (frame.exported or frame.outside or not frame.secluded)
        if rule == "uppercase":
            return name[:1].isupper() and (not owner or owner[:1].isupper())
        if rule == "no-underscore":
            if self._listed and around is None:
                return name in self._listed
            if frame.private:
                return False
            return name[:1] != "_" or (name[:2] == "__" and name[-2:] == "__")
        return rule == "always"

    def _by_marks(
        self, frame: Frame, parent: Frame | None, around: Frame | None, owner: str, name: str
    ) -> bool:
        if around is None and self._open:
            return not frame.private
        if self._info.members == "marked":
            return self._is_marked_itself(frame, parent)
        if parent is not None and not parent.is_scope:
            if self._has_list and parent.kind == "module":
                return frame.exported or name in self._listed
            return self._is_open_member(frame, parent, name)
        return self._is_marked(frame, parent, owner, name)

    def _is_open_member(self, frame: Frame, parent: Frame, name: str) -> bool:
        if self._closed and parent.qualified.rpartition(".")[2] in self._closed:
            return name in self._listed
        return not frame.private and name[:1] != "#"

    def _is_marked_itself(self, frame: Frame, parent: Frame | None) -> bool:
        """The rule where each member says for itself whether it is visible."""
        if frame.private:
            return False
        if frame.exported or (frame.kind == "module" and not self._info.modules_marked):
            return True
        if parent is not None and (
            parent.exported if parent.is_scope else parent.kind in self._info.open_kinds
        ):
            return True
        return _in_marked_extent(frame)

    def _is_marked(self, frame: Frame, parent: Frame | None, owner: str, name: str) -> bool:
        marked = (frame.exported and not frame.private) or name in self._listed
        marked = marked or owner in self._listed or owner.partition(".")[0] in self._listed
        if parent is not None:
            listed = parent.owns and parent.qualified in self._listed
            marked = marked or parent.exported or listed
        marked = marked or _in_marked_extent(frame)
        if marked:
            self._listed.add(name)
        return marked

    def _texts(self, spans: Iterable[tuple[int, int]]) -> list[str]:
        return [self._source.slice(start, end) for start, end in spans]


def _hides(around: Frame) -> bool:
    """What is inside it is local; a property without a body is a type's shape."""
    return around.kind in FUNCTIONS and (
        around.kind != "property" or around.body_start < around.tree_end
    )


def _in_nameless_function(frame: Frame) -> bool:
    outer = frame.parent
    while outer is not None and outer.dropped:
        if outer.kind in FUNCTIONS:
            return True
        outer = outer.parent
    return False


def _in_marked_extent(frame: Frame) -> bool:
    outer = frame.parent
    while outer is not None and outer.dropped and not outer.exported:
        outer = outer.parent
    return outer is not None and outer.dropped
