"""The questions of the page: reads their arguments from the URL and answers them with `Engine`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple, TypedDict
from urllib.parse import parse_qsl, quote

from codelens.config import DEFAULT_BUDGET_MS
from codelens.engine.engine import Engine
from codelens.errors import CodelensError, SettingError
from codelens.render import branch_text, context_text, graph_text, reading_text, upkeep_text

_LONGEST = 8_000
"""Maximum number of characters of a value; a pasted stack trace is also a query."""
_MOST = 20
EVERYWHERE = frozenset({"worktree", "ref"})


class BadRequest(CodelensError):
    """The request does not come from our page, or from an outdated one."""


class PageArguments:
    """The arguments of a request, each given once.

    Args:
        query: the part of the URL after `?`.
        known: the names of the question's arguments, in addition to the common ones.

    Raises:
        BadRequest: a name is unknown or repeated, or a value is too long.
    """

    def __init__(self, query: str, known: Iterable[str]) -> None:
        try:
            pairs = parse_qsl(
                query, keep_blank_values=True, strict_parsing=bool(query), errors="strict",
                max_num_fields=_MOST,
            )  # fmt: skip
        except ValueError as error:
            raise BadRequest("the URL of a request cannot be parsed; reload the page") from error
        allowed = EVERYWHERE.union(known)
        self._values: dict[str, str] = {}
        for name, value in pairs:
            if name not in allowed or name in self._values:
                raise BadRequest(f"unexpected argument {name[:50]!r}; reload the page")
            if len(value) > _LONGEST:
                raise BadRequest(f"{name} is longer than {_LONGEST:,} characters; shorten it")
            self._values[name] = value

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        return self._values.get(name, default)

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 to `most`.

        Raises:
            BadRequest: the value is not such a number.
        """
        text = self._values.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise BadRequest(f"{name} must be a whole number from 1 to {most:,}, not {text[:50]!r}")
        return int(text)

    def words(self, name: str) -> list[str]:
        """A list of values, one per line."""
        return [line for line in self._values.get(name, "").splitlines() if line]


# URLs that open a file in an editor: `vscode://file/src/app.py:10`.

_EDITORS = {
    "vscode": "vscode://file{path}:{line}",
    "vscodium": "vscodium://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "windsurf": "windsurf://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "none": "",
}
DEFAULT_EDITOR = "vscode"
_TEMPLATE = re.compile(r"([a-z][a-z0-9+.-]*)://[^\s\"'<>`]*\{path\}[^\s\"'<>`]*\Z")
_REFUSED = re.compile(r"(?:java|vb)script|data|blob|file|https?|wss?|about|view-source")
"""Schemes that a browser opens itself instead of passing them to a program."""


def editor_template(editor: str) -> str:
    """The URL template of a file in an editor, with `{path}` (absolute, with a `/`) and `{line}`.

    Args:
        editor: the name of a known editor, a template, or empty for VS Code.

    Returns:
        The template; empty for no links.

    Raises:
        SettingError: the editor is unknown and not a template.
    """
    name = editor or DEFAULT_EDITOR
    if name in _EDITORS:
        return _EDITORS[name]
    match = _TEMPLATE.match(name)
    if match is None or _REFUSED.fullmatch(match[1]):
        raise SettingError(
            f"unknown editor {name[:80]!r}; use one of {', '.join(_EDITORS)}, or a URL with "
            "{path} and {line} such as myeditor://open?file={path}&line={line}"
        )
    return name


# The questions: each calls a method of `Engine` and returns the JSON of the command.

Json = Mapping[str, object]
_RESULTS, _MOST_RESULTS = 20, 200
_RELATIVES = 60
_SNIPPET_LINES = 40
_LINES, _MOST_LINES = 500, 5_000
_NOTES = 100
_CHANGES = 50
_MAP_TOKENS, _MOST_MAP_TOKENS = 6_000, 40_000


class Engines(NamedTuple):
    """Two engines that use the same indexes."""

    quick: Engine
    """Must finish work in the background when a budget is exceeded."""
    long: Engine


class PageQuestions:
    """Answers the questions of the page about one repository.

    An engine answers one question at a time about a repository. Questions that may take seconds
    use a second engine, so that a search never waits for them.

    Args:
        engines: answer the questions.
        root: the worktree that the page was started for.
        editor: a result of `editor_template`.
    """

    def __init__(self, engines: Engines, root: str, editor: str) -> None:
        self._engines = engines
        self._root = root
        self._editor = editor
        self._known_roots = {root}
        budget_ms = engines.quick.settings.budget_ms
        self._budget_ms = DEFAULT_BUDGET_MS if budget_ms is None else budget_ms

    def answer(self, name: str, query: str) -> Json:
        """The answer to a question, from its name and the query of its URL.

        Raises:
            BadRequest: the question or its arguments are invalid.
            CodelensError: raised by the methods of `Engine`.
        """
        question = _QUESTIONS.get(name)
        if question is None:
            raise BadRequest("unknown question; reload the page")
        arguments = PageArguments(query, question.takes)
        engine = self._engines.long if question.is_long else self._engines.quick
        root, ref = self._root_of(arguments), arguments.text("ref") or None
        place = _Place(engine, {"path": root, "ref": ref, "budget_ms": self._budget_ms})
        return question.ask(self, place, arguments)

    def _root_of(self, arguments: PageArguments) -> str:
        """The worktree of a question; it must belong to the page's repository."""
        root = arguments.text("worktree") or self._root
        if root not in self._known_roots:
            worktrees = self._engines.quick.refs(path=self._root).worktrees
            self._known_roots = {self._root, *(worktree.root for worktree in worktrees)}
        if root not in self._known_roots:
            raise BadRequest(
                f"{root[:200]!r} is not a worktree of this repository; choose one in the list"
            )
        return root

    def standing(self, place: _Place, _: PageArguments) -> Json:
        """The page's worktree, and the other worktrees and refs to choose from."""
        status = place.engine.status(**place.view)
        top = Path(status.root).as_posix()
        return {
            **reading_text.status_json(status),
            **asdict(place.engine.refs(path=self._root)),
            "editor": "" if place.view["ref"] else self._editor,
            # A path in a URL starts with a slash, also on Windows.
            "editor_root": quote(f"/{top.removeprefix('/')}"),
        }

    def search(self, place: _Place, arguments: PageArguments) -> Json:
        """Ranked places."""
        answer = place.engine.search(
            arguments.text("query"),
            mode=arguments.text("mode", "auto"),
            kinds=arguments.words("kinds"),
            languages=arguments.words("languages"),
            globs=arguments.words("globs"),
            limit=arguments.number("limit", _RESULTS, _MOST_RESULTS),
            **place.view,
        )
        return reading_text.search_json(answer)

    def source(self, place: _Place, arguments: PageArguments) -> Json:
        """A file with marks and links."""
        answer = place.engine.source(arguments.text("target"), **place.view)
        return reading_text.source_json(answer)

    def snippets(self, place: _Place, arguments: PageArguments) -> Json:
        """The first lines of places, in colours."""
        handles = arguments.words("handles")[:_MOST_RESULTS]
        answer = place.engine.snippets(handles, max_lines=_SNIPPET_LINES, **place.view)
        return reading_text.snippets_json(answer)

    def recent(self, place: _Place, _: PageArguments) -> Json:
        """The latest commits here, and of the other worktrees."""
        return asdict(place.engine.recent(path=place.view["path"], ref=place.view["ref"]))

    def outline(self, place: _Place, arguments: PageArguments) -> Json:
        """The definitions of a file or folder."""
        detail = arguments.text("detail", "signatures")
        answer = place.engine.outline(arguments.text("target", "."), detail=detail, **place.view)
        return reading_text.outline_json(answer)

    def related(self, place: _Place, arguments: PageArguments) -> Json:
        """What uses a definition, and what it uses."""
        limit = arguments.number("limit", _RELATIVES, _MOST_RESULTS)
        answer = place.engine.related(arguments.text("target"), limit=limit, **place.view)
        return graph_text.related_json(answer)

    def references(self, place: _Place, arguments: PageArguments) -> Json:
        """Every line that uses a definition."""
        limit = arguments.number("limit", _LINES, _MOST_LINES)
        answer = place.engine.references(arguments.text("target"), limit=limit, **place.view)
        return graph_text.references_json(answer)

    def map(self, place: _Place, arguments: PageArguments) -> Json:
        """The most used files, and their uses of each other."""
        most = arguments.number("tokens", _MAP_TOKENS, _MOST_MAP_TOKENS)
        answer = place.engine.map(arguments.words("focus"), max_tokens=most, **place.view)
        return graph_text.map_json(answer)

    def diff(self, place: _Place, arguments: PageArguments) -> Json:
        """The definitions that differ between two sides."""
        answer = place.engine.diff(
            arguments.text("spec"),
            other=arguments.text("other"),
            path=place.view["path"],
            budget_ms=place.view["budget_ms"],
        )
        return branch_text.diff_json(answer)

    def history(self, place: _Place, arguments: PageArguments) -> Json:
        """The commits that changed a definition, or the last change of each one in a file."""
        limit = arguments.number("limit", _CHANGES, _MOST_RESULTS)
        target = arguments.text("target")
        answer = place.engine.history(target, limit=limit, patch=True, **place.view)
        return branch_text.history_json(answer)

    def conflicts(self, place: _Place, _: PageArguments) -> Json:
        """Conflicts with other worktrees and branches."""
        path, budget_ms = place.view["path"], place.view["budget_ms"]
        return branch_text.conflicts_json(place.engine.conflicts(path=path, budget_ms=budget_ms))

    def notes(self, place: _Place, arguments: PageArguments) -> Json:
        """Saved notes, with the state of their handles."""
        answer = place.engine.load(
            arguments.text("query"),
            handle=arguments.text("handle"),
            limit=arguments.number("limit", _NOTES, _MOST_RESULTS),
            **place.view,
        )
        return context_text.load_json(answer)

    def views(self, place: _Place, _: PageArguments) -> Json:
        """The views of the repository, and what a prune would remove."""
        return upkeep_text.overview_json(place.engine.overview(only=place.view["path"]))


class _View(TypedDict):
    """Arguments of the engine's methods."""

    path: str
    ref: str | None
    budget_ms: float


class _Place(NamedTuple):
    """The engine and the worktree of a question."""

    engine: Engine
    view: _View


class _Question(NamedTuple):
    ask: Callable[[PageQuestions, _Place, PageArguments], Json]
    takes: tuple[str, ...] = ()
    is_long: bool = False


_QUESTIONS: Mapping[str, _Question] = {
    "standing": _Question(PageQuestions.standing, is_long=True),
    "search": _Question(
        PageQuestions.search, ("query", "mode", "kinds", "languages", "globs", "limit")
    ),
    "source": _Question(PageQuestions.source, ("target",)),
    "snippets": _Question(PageQuestions.snippets, ("handles",)),
    "recent": _Question(PageQuestions.recent),
    "outline": _Question(PageQuestions.outline, ("target", "detail")),
    "related": _Question(PageQuestions.related, ("target", "limit")),
    "references": _Question(PageQuestions.references, ("target", "limit")),
    "map": _Question(PageQuestions.map, ("focus", "tokens"), is_long=True),
    "diff": _Question(PageQuestions.diff, ("spec", "other"), is_long=True),
    "history": _Question(PageQuestions.history, ("target", "limit"), is_long=True),
    "conflicts": _Question(PageQuestions.conflicts, is_long=True),
    "notes": _Question(PageQuestions.notes, ("query", "handle", "limit")),
    "views": _Question(PageQuestions.views),
}
