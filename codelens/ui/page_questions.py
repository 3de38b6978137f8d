"""The questions of the page: each is one of `Engine`, answered in the JSON of the commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from codelens.config import DEFAULT_BUDGET_MS
from codelens.engine.engine import Engine
from codelens.render import contexts_json, reading_json, upkeep_text
from codelens.render.branches import branch_json
from codelens.render.graph import graph_json
from codelens.ui.page_arguments import BadRequest, PageArguments

Json = Mapping[str, object]
_RESULTS, _MOST_RESULTS = 20, 200
_RELATIVES = 60
_LINES, _MOST_LINES = 500, 5_000
_NOTES = 100
_CHANGES = 50
_MAP_TOKENS, _MOST_MAP_TOKENS = 6_000, 40_000


class Engines(NamedTuple):
    """Two engines on the same indexes."""

    quick: Engine
    """It must finish in the background what a budget cuts off."""
    long: Engine


class PageQuestions:
    """Answers the page of one repository.

    Questions on one repository take turns within an engine: those that may take seconds have an
    engine of their own, so that a search never waits for them.

    Args:
        engines: answer.
        root: the worktree that the page was started for.
        editor: as `codelens.ui.editor_links.editor_template` gives it.
    """

    def __init__(self, engines: Engines, root: str, editor: str) -> None:
        self._engines = engines
        self._root = root
        self._editor = editor
        self._known_roots = {root}
        budget_ms = engines.quick.settings.budget_ms
        self._budget_ms = DEFAULT_BUDGET_MS if budget_ms is None else budget_ms

    def answer(self, name: str, query: str) -> Json:
        """The answer to a question, by its name and the query of its address.

        Raises:
            BadRequest: there is no such question, or it is not asked so.
            CodelensError: as the methods of `Engine`.
        """
        question = _QUESTIONS.get(name)
        if question is None:
            raise BadRequest("there is no such question; reload the page")
        arguments = PageArguments(query, question.takes)
        engine = self._engines.long if question.is_long else self._engines.quick
        place = _Place(engine, self._root_of(arguments), arguments.text("ref") or None)
        return question.ask(self, place, arguments)

    def _root_of(self, arguments: PageArguments) -> str:
        """Where a question is asked: only in worktrees of the repository of the page."""
        root = arguments.text("worktree") or self._root
        if root not in self._known_roots:
            known = self._engines.quick.refs(path=self._root).worktrees
            self._known_roots = {self._root, *(worktree.root for worktree in known)}
        if root not in self._known_roots:
            raise BadRequest(
                f"{root[:200]!r} is no worktree of this repository; choose one in the list"
            )
        return root

    def standing(self, place: _Place, _: PageArguments) -> Json:
        """Where the page stands, and what else it can look at."""
        status = place.engine.status(path=place.root, ref=place.ref, budget_ms=self._budget_ms)
        top = Path(status.root).as_posix()
        return {
            **reading_json.status(status),
            **reading_json.refs(place.engine.refs(path=self._root)),
            "editor": "" if place.ref else self._editor,
            # An address begins with a slash, on Windows as well.
            "editor_root": quote(f"/{top.removeprefix('/')}"),
        }

    def search(self, place: _Place, arguments: PageArguments) -> Json:
        """Ranked places."""
        answer = place.engine.search(
            arguments.text("query"),
            path=place.root,
            ref=place.ref,
            mode=arguments.text("mode", "auto"),
            kinds=arguments.words("kinds"),
            languages=arguments.words("languages"),
            globs=arguments.words("globs"),
            limit=arguments.number("limit", _RESULTS, _MOST_RESULTS),
            budget_ms=self._budget_ms,
        )
        return reading_json.search(answer)

    def source(self, place: _Place, arguments: PageArguments) -> Json:
        """A file with marks and links."""
        target = arguments.text("target")
        return reading_json.source(
            place.engine.source(target, path=place.root, ref=place.ref, budget_ms=self._budget_ms)
        )

    def outline(self, place: _Place, arguments: PageArguments) -> Json:
        """A file or folder, folded."""
        return reading_json.outline(
            place.engine.outline(
                arguments.text("target", "."),
                detail=arguments.text("detail", "signatures"),
                path=place.root,
                ref=place.ref,
                budget_ms=self._budget_ms,
            )
        )

    def related(self, place: _Place, arguments: PageArguments) -> Json:
        """Who uses a definition, and what it uses."""
        return graph_json.related(
            place.engine.related(
                arguments.text("target"),
                path=place.root,
                ref=place.ref,
                limit=arguments.number("limit", _RELATIVES, _MOST_RESULTS),
                budget_ms=self._budget_ms,
            )
        )

    def references(self, place: _Place, arguments: PageArguments) -> Json:
        """Every line that uses a definition."""
        return graph_json.references(
            place.engine.references(
                arguments.text("target"),
                path=place.root,
                ref=place.ref,
                limit=arguments.number("limit", _LINES, _MOST_LINES),
                budget_ms=self._budget_ms,
            )
        )

    def map(self, place: _Place, arguments: PageArguments) -> Json:
        """The files that others use most, and what uses what."""
        return graph_json.map_(
            place.engine.map(
                arguments.words("focus"),
                path=place.root,
                ref=place.ref,
                max_tokens=arguments.number("tokens", _MAP_TOKENS, _MOST_MAP_TOKENS),
                budget_ms=self._budget_ms,
            )
        )

    def diff(self, place: _Place, arguments: PageArguments) -> Json:
        """What differs between two sides, as definitions."""
        return branch_json.diff(
            place.engine.diff(
                arguments.text("spec"),
                other=arguments.text("other"),
                path=place.root,
                budget_ms=self._budget_ms,
            )
        )

    def history(self, place: _Place, arguments: PageArguments) -> Json:
        """The commits that changed a definition, or the last change of each in a file."""
        return branch_json.history(
            place.engine.history(
                arguments.text("target"),
                path=place.root,
                ref=place.ref,
                limit=arguments.number("limit", _CHANGES, _MOST_RESULTS),
                patch=True,
                budget_ms=self._budget_ms,
            )
        )

    def conflicts(self, place: _Place, _: PageArguments) -> Json:
        """What collides with other worktrees and branches."""
        return branch_json.conflicts(
            place.engine.conflicts(path=place.root, budget_ms=self._budget_ms)
        )

    def notes(self, place: _Place, arguments: PageArguments) -> Json:
        """Saved notes, with the state of their handles."""
        return contexts_json.load(
            place.engine.load(
                arguments.text("query"),
                handle=arguments.text("handle"),
                limit=arguments.number("limit", _NOTES, _MOST_RESULTS),
                path=place.root,
                ref=place.ref,
                budget_ms=self._budget_ms,
            )
        )

    def views(self, place: _Place, _: PageArguments) -> Json:
        """The views of the repository, and what a prune would remove."""
        return upkeep_text.overview_json(place.engine.overview(only=place.root))


class _Place(NamedTuple):
    """Who is asked, and about what."""

    engine: Engine
    root: str
    ref: str | None


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
