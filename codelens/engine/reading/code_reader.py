"""Answers the reading methods of `Engine`: search, expand, outline, refs, status and export."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codelens.answers.reading_answers import (
    CommitLine,
    ExpandAnswer,
    RecentAnswer,
    RefsAnswer,
    SearchAnswer,
    StatusAnswer,
    WorktreeLine,
)
from codelens.answers.upkeep_answers import MeaningStatus, MeaningTest, QuestionTerm
from codelens.engine.contexts.notes_here import ShownPlace, notes_on
from codelens.engine.contexts.session_trail import sent_before
from codelens.engine.current_view import (
    CurrentView,
    OpenRepository,
    ViewRequest,
    current_view,
)
from codelens.engine.embedding.provider_consent import provider_status
from codelens.engine.index_pool import IndexPool, check_limit, seconds_to_read
from codelens.errors import (
    CodelensError,
    InvalidArgument,
    QueryError,
    ReadError,
    ScopeError,
)
from codelens.extract.tokenizer import WORD, count_terms
from codelens.handles.handle_grammar import parse_handle
from codelens.index.membership_cache import INVALID
from codelens.meaning import word_table
from codelens.meaning.text_vectors import near_words
from codelens.meaning.word_table import Head, WordTableDamaged
from codelens.paths import VECTORS_FOLDER
from codelens.rank.search_request import Outcome, Request
from codelens.scope.repository import Repository, branch_at, ref_names
from codelens.store.facts import ranking_reads
from codelens.store.views import views
from codelens.store.views.views import OVERSIZED, PENDING, UNREADABLE
from codelens.types import CommitId

if TYPE_CHECKING:
    from codelens.engine.embedding.question_vectors import AskedProvider
    from codelens.engine.embedding.reranking import ChosenReranker, Reranked
    from codelens.engine.reading.search_hits import SearchFigures


def refs(opened: OpenRepository, limit: int) -> RefsAnswer:
    """The worktrees of a repository, the current one first, and its branches and tags."""
    repository = opened.repository
    if not repository.is_git:
        return RefsAnswer((WorktreeLine(opened.scope.worktree, ""),), ())
    roots = [] if repository.place.kind == "bare" else [repository.place.root]
    roots += repository.worktrees()
    names = ref_names(repository.common_dir)
    return RefsAnswer(
        worktrees=tuple(WorktreeLine(root, branch_at(root)) for root in roots),
        refs=tuple(names[:limit]),
        more=max(len(names) - limit, 0),
    )


def recent(opened: OpenRepository, ref: str | None, limit: int) -> RecentAnswer:
    """The latest commits of a worktree or ref, and the latest one of each other worktree."""
    from codelens.scope.commit_walk import CommitWalk

    repository = opened.repository
    if not repository.is_git:
        return RecentAnswer((), ())
    walk = CommitWalk(repository)

    def lines(head: str, most: int) -> Iterator[CommitLine]:
        commit = walk.commit(CommitId(head)) if head else None
        while commit is not None and most > 0:
            text = walk.text(commit.id)
            yield CommitLine(commit.id, text.author, text.time_s, text.subject)
            # A shallow clone ends at a commit whose parents are not in it.
            ends = walk.is_cut(commit) or not commit.parents
            commit, most = None if ends else walk.commit(commit.parents[0]), most - 1

    others: list[tuple[str, CommitLine]] = []
    for root in repository.worktrees():
        try:
            head = Repository.at(root).scope().head
        except CodelensError:
            continue  # It is being created or deleted.
        others += [(root, line) for line in lines(head, 1)]
    others.sort(key=lambda other: -other[1].time_s)
    here = repository.scope(ref) if ref else opened.scope
    return RecentAnswer(tuple(lines(here.head, limit)), tuple(others))


# Status: scope, freshness, and what the view has and left out.


def view_status(view: CurrentView) -> StatusAnswer:
    """The status of a view and of its index."""
    from codelens.scope.uncommitted_changes import is_dirty

    repository, index = view.repository, view.index
    scope, row = view.scope, view.snapshot.row
    notes = json.loads(row.notes)
    outcomes: dict[str, int] = {}
    for outcome, generated, count in views.outcomes_of(index.db, row.id):
        outcomes[outcome] = outcomes.get(outcome, 0) + count
        if generated:
            outcomes["generated"] = outcomes.get("generated", 0) + count
    states = views.states_of(index.db, row.id)
    skipped = {
        "folders of other tools": len(notes.get("tools", ())),
        "oversized": states.get(OVERSIZED, 0),
        "unreadable": states.get(UNREADABLE, 0) + len(notes.get("unreadable", ())),
        "links": len(notes.get("links", ())),
        "pending": states.get(PENDING, 0),
    }
    return StatusAnswer(
        receipt=view.receipt(),
        kind=scope.kind,
        root=scope.worktree,
        repository=scope.common_dir if repository.is_git else "",
        repo_id=scope.repo_id,
        branch=scope.ref or scope.branch,
        head=scope.head,
        detached=scope.kind == "worktree" and bool(scope.head) and not scope.branch,
        state=scope.state,
        dirty=is_dirty(repository) if scope.kind == "worktree" else None,
        files=len(view.snapshot.files),
        languages=tuple(views.languages_of(index.db, row.id)),
        outcomes=outcomes,
        skipped={name: count for name, count in skipped.items() if count},
        invalid_patterns=tuple(notes.get(INVALID, ())),
        submodules=tuple(notes.get("submodules", ())),
        nested=tuple(notes.get("nested", ())),
        worktrees=tuple(repository.worktrees()),
        others=_others(view),
        views=len(index.views()),
        index_path=str(index.path),
        index_bytes=index.db.size_bytes(),
        watch=index.watch_of(scope),
    )


def _others(view: CurrentView) -> tuple[str, ...]:
    """Worktrees that change definitions which are also changed here; empty if unknown."""
    from codelens.engine.versions.diff_query import facts_of
    from codelens.engine.versions.history_query import also_changed_here

    try:
        return also_changed_here(view, facts_of(view.index.db, view.settings))
    except (ReadError, ScopeError):
        return ()


# Status and test of the ranking by meaning.

_NEAR_A_WORD, _NEAR_ALL = 6, 12


def meaning_status(view: CurrentView) -> MeaningStatus:
    """See `Engine.meaning_status`."""
    head, damage = Head(0, 0, 0, ""), ""
    try:
        head = word_table.shipped().head
    except WordTableDamaged as error:
        damage = str(error)
    snapshot = view.snapshot
    vectors = ranking_reads.vectors_of(snapshot.db, sorted(snapshot.by_content), head.version)
    return MeaningStatus(
        view.receipt(), view.settings.meaning, damage, head.version, head.digest, head.terms,
        head.dimension, len(snapshot.by_content), len(vectors), sum(map(len, vectors.values())),
        provider_status(view),
    )  # fmt: skip


def test(query: str) -> MeaningTest:
    """See `Engine.meaning_test`."""
    if not query.strip():
        raise QueryError("the query is empty; give words or a sentence")
    table = word_table.shipped()
    counts = count_terms(WORD.findall(query))
    words = tuple(
        QuestionTerm(
            term, term in table.number, tuple(near_words(table, {term: 1}, _NEAR_A_WORD, {term}))
        )
        for term in counts
    )
    return MeaningTest(query, words, tuple(near_words(table, counts, _NEAR_ALL, counts)))


# Search, expand, outline, status, and all definitions.

logger = logging.getLogger(__name__)

_FIRST, _LATER_SHARE = 3, 0.5
"""Notes on this many first results count in full; notes on later ones count at this share."""


def search(
    pool: IndexPool,
    view_request: ViewRequest,
    request: Request,
    max_tokens: int | None,
    *,
    any_limit: bool,
    rerank: bool | None,
    figures: SearchFigures | None,
    now_s: float,
) -> SearchAnswer:
    """See `Engine.search`."""
    from codelens.engine.reading import search_hits
    from codelens.render import search_text

    check_limit(request.limit)
    if not request.query.strip():
        raise QueryError("the query is empty; give words, an identifier or a path")
    request = request._replace(seconds=seconds_to_read(view_request.budget_ms))
    if request.languages:
        from codelens.engine.reading.language_list import called

        request = request._replace(languages=called(request.languages))
    # Raises before anything is sent; `_asked_provider` reports a damaged consent file.
    reranker = _reranker(pool, view_request, request, rerank) if rerank else None
    provider = _asked_provider(pool, view_request, request)
    reranker = reranker or _reranker(pool, view_request, request, rerank)
    if provider is not None and request.mode == "meaning":
        profile = provider.profile
        limit = min(request.limit, profile.largest_limit)
        request = request._replace(limit=profile.default_limit if any_limit else limit)
    if figures is not None:
        figures.limit = request.limit
        if provider is not None:
            figures.provider = provider.provider
            figures.profile = provider.profile.name if provider.vector else ""
    reranked = _reranked(pool, view_request, request, provider, reranker)
    with pool.view(view_request) as view:
        with view.reading():
            outcome = _outcome(view, request, provider, reranked)
            hits = search_hits.hits(view, outcome, view.scope, explain=request.explain)
            if figures is not None:
                figures.count_files(view.snapshot, request)
                figures.mode, figures.results = outcome.mode, len(hits)
                figures.reranked = len(reranked.scores) if reranked else 0
        receipt = view.receipt()
        if outcome.cut_short:
            receipt = replace(receipt, status="partial", note=outcome.cut_short)
        places = [
            ShownPlace(hit.path, hit.start_line, hit.end_line, 1.0 if at < _FIRST else _LATER_SHARE)
            for at, hit in enumerate(hits)
        ]
        here = notes_on(view, places, request.query, now_s)
        answer = SearchAnswer(
            receipt, hits, request.query, outcome.mode, (*outcome.notes, *here.warnings),
            contexts=here.notes, context_count=here.every, left=outcome.left,
        )  # fmt: skip
    return answer if max_tokens is None else search_text.kept_within(answer, max_tokens)


def _asked_provider(
    pool: IndexPool, view_request: ViewRequest, request: Request
) -> AskedProvider | None:
    """The provider's ranking for a query by words; requested before the index is locked."""
    vectors = pool.settings.home / VECTORS_FOLDER
    if not request.meaning or request.mode not in {"auto", "meaning"} or not vectors.is_dir():
        return None
    from codelens.engine.embedding.question_vectors import ask, ask_store
    from codelens.rank.query.query_analysis import analyse

    if request.mode == "auto" and analyse(request.query).single:
        return None
    scope = pool.open(view_request.path, view_request.ref).scope
    provider = ask(pool.settings, scope.repo_id, request.query)
    if provider is None:
        return None
    alone = request.mode == "meaning"
    return ask_store(pool, view_request, provider, request.query, alone=alone)


def _reranker(
    pool: IndexPool, view_request: ViewRequest, request: Request, rerank: bool | None
) -> ChosenReranker | None:
    """The reranker for the first results, if any."""
    vectors = pool.settings.home / VECTORS_FOLDER
    may_be = request.meaning and vectors.is_dir() and _by_words(request)
    if rerank is False or (rerank is None and not may_be):
        return None
    from codelens.engine.embedding.reranking import chosen_reranker

    scope = pool.open(view_request.path, view_request.ref).scope
    return chosen_reranker(pool.settings, scope.repo_id, rerank=rerank)


def _reranked(
    pool: IndexPool,
    view_request: ViewRequest,
    request: Request,
    provider: AskedProvider | None,
    reranker: ChosenReranker | None,
) -> Reranked | None:
    """The reranker's order of the first results; None without a reranker."""
    if reranker is None:
        return None
    from codelens.engine.embedding import reranking

    if not _by_words(request):
        note = "not reranked: only searches by several words are"
        return reranking.Reranked({}, note)
    wider = request._replace(limit=max(request.limit, reranking.MOST_PLACES))
    return reranking.ask(
        pool, view_request, request.query, reranker,
        lambda view: _outcome(view, wider, provider, None).results,
    )  # fmt: skip


def expand(
    pool: IndexPool,
    view_request: ViewRequest,
    handles: Sequence[str],
    context: int,
    max_lines: int,
    *,
    again: bool,
    signatures: bool,
    now_s: float,
) -> ExpandAnswer:
    """See `Engine.expand`."""
    from codelens.engine.reading.excerpts import Reading, excerpts

    if context < 0 or max_lines < 1:
        name, least = ("context", 0) if context < 0 else ("max_lines", 1)
        raise InvalidArgument(name, f"must be at least {least}")
    with pool.view(view_request) as view:
        others: dict[str, CurrentView] = {}

        def view_at(ref: str) -> CurrentView:
            if ref not in others:
                others[ref] = current_view(view.opened.at(ref), view_request)
            return others[ref]

        sent = sent_before(view.settings, view.scope, again=again)
        reading = Reading(context, max_lines, sent, signatures)
        items = [item for handle in handles for item in excerpts(handle, view, view_at, reading)]
        receipt = view.receipt()
        if others:
            read = ", ".join(f"{ref}@{at.scope.head[:7]}" for ref, at in others.items())
            receipt = replace(receipt, note=f"handles with a ref were read from {read}")
        places = [
            ShownPlace(item.path, item.start_line, item.end_line)
            for item in items
            if not item.error and parse_handle(item.handle).ref in {"", view.scope.ref}
        ]
        here = notes_on(view, places, "", now_s)
        return ExpandAnswer(receipt, tuple(items), here.notes, here.warnings)


def _by_words(request: Request) -> bool:
    """Whether a query has more than one name and is ranked by words or their meaning."""
    from codelens.rank.query.query_analysis import analyse

    is_auto = request.mode == "auto" and not analyse(request.query).single
    return is_auto or request.mode == "meaning"


def _outcome(
    view: CurrentView,
    request: Request,
    provider: AskedProvider | None,
    reranked: Reranked | None,
) -> Outcome:
    """The results of a view, combined with the rankings of a provider and a reranker."""
    from codelens.rank.search_pipeline import search

    missing = ""
    if provider is not None:
        from codelens.engine.embedding.question_vectors import likeness

        question_likeness, missing = likeness(view, provider)
        request = request._replace(likeness=question_likeness)
    if reranked is None or not reranked.scores:
        outcome = search(view.snapshot, request, view.read)
    else:
        from codelens.engine.embedding.reranking import MOST_PLACES, in_order

        wider = request._replace(limit=max(request.limit, MOST_PLACES))
        outcome = search(view.snapshot, wider, view.read)
        ordered = in_order(outcome.results, reranked, explain=request.explain)
        shown = ordered[: request.limit]
        outcome = outcome._replace(results=shown, left=outcome.left + len(ordered) - len(shown))
    first = [missing, reranked.note if reranked else ""]
    return outcome._replace(notes=[*filter(None, first), *outcome.notes])
