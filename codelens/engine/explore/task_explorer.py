"""Answers to a whole task: explore."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codelens.answers.explore_answers import ExploreAnswer
from codelens.capsule import task_intent
from codelens.engine.contexts.notes_here import NotesHere
from codelens.engine.explore.explore_query import ExploreRequest, explore
from codelens.engine.graph.graph_walk import walked_view
from codelens.engine.index_pool import IndexPool
from codelens.engine.question_limits import seconds_to_read
from codelens.engine.sessions.sent_answers import sent_before
from codelens.engine.view_request import ViewRequest
from codelens.errors import InvalidArgument, QueryError
from codelens.rank.search_request import Request

LEAST_TOKENS, MOST_TOKENS = 200, 100_000
_CERTAIN = 8
"""Places that a task can name by itself."""


class TaskExplorer:
    """Answers `Engine.explore`; see there for what it takes and raises.

    Args:
        pool: opens repositories.
        now_s: seconds since 1970; for the age of saved notes.
    """

    def __init__(self, pool: IndexPool, now_s: Callable[[], float]) -> None:
        self._pool = pool
        self._now_s = now_s

    def explore(
        self,
        view_request: ViewRequest,
        max_tokens: int,
        intent: str | None,
        *,
        languages: Sequence[str],
        globs: Sequence[str],
        kinds: Sequence[str],
        again: bool,
    ) -> ExploreAnswer:
        """See `Engine.explore`; the task stands in the words of the request."""
        task = view_request.words
        if not any(letter.isprintable() and not letter.isspace() for letter in task):
            raise QueryError("the task is empty; say what to do or what to understand")
        if not LEAST_TOKENS <= max_tokens <= MOST_TOKENS:
            allowed = f"{LEAST_TOKENS} and {MOST_TOKENS:,}"
            raise InvalidArgument("max_tokens", f"must be between {allowed}, not {max_tokens:,}")
        intent_of_task = task_intent.intent_of(task)
        if intent is not None:
            chosen = task_intent.INTENTS.get(intent)
            if chosen is None:
                known = ", ".join(task_intent.INTENTS)
                raise InvalidArgument("intent", f"must be one of {known}, not {intent[:50]!r}")
            intent_of_task = task_intent.ChosenIntent(chosen, ())
        if languages:
            from codelens.engine.reading.language_list import called

            languages = called(languages)
        with walked_view(self._pool, view_request) as (view, seconds):
            # By meaning, capsules of real commits lose .014 of what was edited: docs/meaning.md.
            request = Request(
                task, "auto", tuple(languages), tuple(globs), (), "all", _CERTAIN,
                seconds=seconds_to_read(view_request.budget_ms), meaning=False,
            )  # fmt: skip
            saved = NotesHere(view, task, self._now_s())
            sent = sent_before(view.settings, view.scope, again=again)
            explore_request = ExploreRequest(
                request, intent_of_task, max_tokens, saved, sent, frozenset(kinds)
            )
            return explore(view, explore_request, seconds)
