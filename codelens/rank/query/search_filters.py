"""Filters of a request: languages, path globs, code or prose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from codelens.errors import QueryError
from codelens.rank.search_request import Request
from codelens.store.facts import ranking_reads as reads
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow
from codelens.types import SymbolKind

PROSE_LANGUAGES = frozenset("markdown mdx rst restructuredtext asciidoc org tex latex".split())
"""Prose whatever the file is called; `text` says only that the language is unknown."""
KINDS = frozenset(SymbolKind.__args__)  # type: ignore[attr-defined]
_MAX_GLOB = 1000

Keep = Callable[[list[FileRow]], list[FileRow]]


class Globs(NamedTuple):
    """Path globs, compiled; a path passes when one of `any_of` matches and none of `none_of`."""

    any_of: tuple[re.Pattern[str], ...]
    none_of: tuple[re.Pattern[str], ...]

    def match(self, path: bytes) -> bool:
        """Whether a path passes."""
        text = path.decode("utf-8", "surrogateescape")
        if self.any_of and not any(pattern.match(text) for pattern in self.any_of):
            return False
        return not any(pattern.match(text) for pattern in self.none_of)


class Filters:
    """What a request leaves in, asked a few files at a time."""

    def __init__(self, view: Snapshot, request: Request) -> None:
        unknown = sorted(set(request.kinds) - KINDS)
        if unknown:
            raise QueryError(
                f"there is no kind {unknown[0][:100]!r}; there are {', '.join(sorted(KINDS))}"
            )
        self._view = view
        self.languages = frozenset(language.strip().lower() for language in request.languages)
        self.globs = globs(request.globs)
        self.content = request.content
        self.kinds = request.kinds
        self.active = bool(self.languages or request.globs or request.content != "all")

    def keep(self, files: list[FileRow]) -> list[FileRow]:
        """Those of `files` that pass, in their order."""
        if self.globs.any_of or self.globs.none_of:
            files = [file for file in files if self.globs.match(file.path)]
        if self.languages:
            known = self._languages(files)
            files = [file for file in files if known.get(file.content or 0, "") in self.languages]
        if self.content != "all":
            prose = self._prose(files)
            files = [file for file in files if (file.path in prose) == (self.content == "prose")]
        return files

    def _languages(self, files: list[FileRow]) -> dict[int, str]:
        ids = {file.content for file in files if file.content is not None}
        return {key: language[0] for key, language in reads.languages(self._view.db, ids).items()}

    def _prose(self, files: list[FileRow]) -> set[bytes]:
        known = self._languages(files)
        facts = self._view.path_facts(file.path_id for file in files)
        return {
            file.path
            for file in files
            if known.get(file.content or 0, "") in PROSE_LANGUAGES
            or facts[file.path_id].role == "prose"
        }

    def explain_nothing(self) -> list[str]:
        """Sentences on which filters match no file of the view at all."""
        notes: list[str] = []
        files = self._view.files
        if self.languages:
            here = set(self._languages(files).values())
            missing = sorted(self.languages - here)
            if missing:
                known = ", ".join(sorted(here - {""})[:12])
                notes.append(f"no file here is in {', '.join(missing)}; there is {known or 'none'}")
        if (self.globs.any_of or self.globs.none_of) and not any(
            self.globs.match(file.path) for file in files
        ):
            matched = "no path here matches the globs"
            notes.append(matched if self.globs.any_of else "the globs exclude every path here")
        if self.content == "prose" and not self._prose(files):
            notes.append("there is no prose here")
        if self.active and not notes:
            left = len(self.keep(list(files)))
            if left:
                verb = "file passes" if left == 1 else "files pass"
                notes.append(f"{left:,} {verb} the filters; none matches the query")
            else:
                notes.append("each filter matches files here, but none passes all of them")
        if self.kinds and not notes:
            notes.append(f"no definition of kind {' or '.join(self.kinds)} matches the query")
        return notes


def globs(patterns: Sequence[str]) -> Globs:
    """Compile globs: `*` and `?` stay within a folder, `**` crosses folders, `!` leaves out.

    A glob without `/` matches names in any folder; one that names a folder takes all in it.

    Raises:
        QueryError: an empty or overlong glob, or one with an impossible range.
    """
    any_of: list[re.Pattern[str]] = []
    none_of: list[re.Pattern[str]] = []
    for pattern in patterns:
        negated = pattern.startswith("!")
        body = pattern[1:] if negated else pattern
        (none_of if negated else any_of).append(_compiled(body))
    return Globs(tuple(any_of), tuple(none_of))


@lru_cache(maxsize=256)
def _compiled(glob: str) -> re.Pattern[str]:
    body = glob.removeprefix("./").strip("/")
    refusal = f"bad glob {glob[:100]!r}: give a path pattern like src/**/*.py or !tests/**"
    if not body or len(body) > _MAX_GLOB:
        raise QueryError(refusal)
    anywhere = "/" not in glob.removeprefix("./").rstrip("/")
    text = "(?:.*/)?" if anywhere else ""
    at = 0
    while at < len(body):
        piece, at = _piece(body, at)
        text += piece
    try:
        return re.compile(text + r"(?:/.*)?\Z", re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        # `[3-1]`, which no character is between.
        raise QueryError(refusal) from error


def _piece(glob: str, at: int) -> tuple[str, int]:
    """The regex of one piece of a glob, and where the next begins."""
    if glob.startswith("**/", at):
        return "(?:.*/)?", at + 3
    if glob.startswith("**", at):
        return ".*", at + 2
    char = glob[at]
    if char == "*":
        return "[^/]*", at + 1
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        end = glob.find("]", at + 2)
        if end > 0:
            inner = glob[at + 1 : end]
            negated = inner[0] in "!^"
            members = _set_members(inner[negated:])
            return f"(?!/)[{'^' * negated}{members}]", end + 1
    if char == "{":
        end = glob.find("}", at)
        if end > 0:
            options = glob[at + 1 : end].split(",")
            return "(?:" + "|".join(_alternative(option) for option in options) + ")", end + 1
    return re.escape(char), at + 1


def _set_members(inner: str) -> str:
    """What stands between brackets, as in a regex: ranges kept, all else by itself.

    Unescaped, `--`, `&&`, `||` and `~~` make Python warn that they may become operators.
    """
    members = ""
    at = 0
    while at < len(inner):
        members += re.escape(inner[at])
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            members += f"-{re.escape(inner[at + 2])}"
            at += 2
        at += 1
    return members


def _alternative(glob: str) -> str:
    text = ""
    at = 0
    while at < len(glob):
        piece, at = _piece(glob, at)
        text += piece
    return text
