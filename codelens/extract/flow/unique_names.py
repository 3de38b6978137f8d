"""Names that count once in one place: members through an instance, variables of a shell."""

from __future__ import annotations

from codelens.extract.symbols.definition_frames import TYPES, Frame
from codelens.extract.symbols.definition_names import Names


class Taken:
    """Knows which names are taken, in one text."""

    def __init__(self, frames: list[Frame], names: Names) -> None:
        self._frames = frames
        self._names = names
        self._declared: dict[int, set[str]] | None = None
        """Names taken in the types, known when the first member through an instance is met."""
        self._seen: set[tuple[int, str]] = set()

    def in_type(self, holder: Frame, name: str) -> bool:
        """A type has a member of that name already, or declares one anywhere; then it is taken."""
        if self._declared is None:
            self._declared = self._declarations()
        own = self._declared.setdefault(id(holder), set())
        taken = name in own
        own.add(name)
        return taken

    def in_place(self, index: int, name: str) -> bool:
        """A name was met before in the symbol of an index; from now on it was."""
        second = (index, name) in self._seen
        self._seen.add((index, name))
        return second

    def _declarations(self) -> dict[int, set[str]]:
        """Names that types declare by themselves, not through an instance, by their frames."""
        names_by_scope: dict[int, set[str]] = {}
        for frame in self._frames:
            outer = frame.above
            if outer is not None and outer.kind in TYPES and frame.through is None:
                names = names_by_scope.setdefault(id(outer), set())
                for span in self._names.spans(frame):
                    names.add(self._names.name(frame.kind, span)[0])
        return names_by_scope
