"""Selects the reranker of a repository and reorders the first results of a search with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.current_view import CurrentView, ViewRequest
from codelens.engine.embedding import provider_consent, sendable_texts
from codelens.engine.index_pool import IndexPool
from codelens.errors import StoreError
from codelens.meaning.cross_encoder import Relevance, cross_encoder
from codelens.meaning.providers.embedder import FOR_A_QUESTION, Sent, patiently
from codelens.meaning.providers.embedding_client import (
    AnswerInvalid,
    ProviderError,
    ProviderFailed,
    ProviderKeyMissing,
    ProviderNotInstalled,
)
from codelens.meaning.providers.provider_registry import (
    LOCAL_SLOW,
    ProviderSpec,
    connect_reranker,
    provider_called,
)
from codelens.paths import vectors_file
from codelens.rank.search_request import SCORED, Ranked
from codelens.store import vector_tables
from codelens.store.facts.contents import hashes
from codelens.store.vector_tables import Consent, open_vectors


class NoReranker(ProviderError):
    """Reranking was requested, and the repository has no reranker."""

    def __init__(self) -> None:
        super().__init__(
            "no reranker is set up for this repository",
            typed="set `cross_encoder` to a model on this machine, run `codelens meaning enable "
            "--provider voyage`, or leave out --rerank",
            called="leave out `rerank`",
        )


class ChosenReranker(NamedTuple):
    """The reranker for the first results."""

    consent: Consent | None
    """The provider that receives the results; None: they stay on this machine."""
    place: str = ""
    """Folder of the cross-encoder on this machine."""


def chosen_reranker(
    settings: Settings, repo_id: str, *, rerank: bool | None
) -> ChosenReranker | None:
    """The reranker for the first results; None: no reranking.

    A cross-encoder in the settings takes precedence over a provider: no text leaves the machine.

    Args:
        settings: for the folder of vectors.
        repo_id: the repository.
        rerank: None: as the profile says.

    Raises:
        NoReranker: it is requested, and there is no reranker.
        SettingError: it is requested, and the settings file is invalid.
        StoreError: it is requested, and the file with the consent cannot be used.
    """
    if settings.cross_encoder:
        is_used = LOCAL_SLOW.reranks if rerank is None else rerank
        return ChosenReranker(None, settings.cross_encoder) if is_used else None
    consent = _consent(settings, repo_id, is_asked=bool(rerank))
    spec = provider_called(consent.provider) if consent else None
    if spec is None or spec.reranker is None:
        if rerank:
            raise NoReranker
        return None
    if not (rerank or (rerank is None and spec.profile.reranks)):
        return None
    if rerank:
        provider_consent.refuse_damaged(settings)
    return None if settings.damage else ChosenReranker(consent)


def _consent(settings: Settings, repo_id: str, *, is_asked: bool) -> Consent | None:
    path = vectors_file(settings.home, repo_id)
    if not path.exists():
        return None
    try:
        with open_vectors(path) as db:
            return vector_tables.consent_of(db)
    except StoreError:
        # If nobody asked for reranking, embedding the query has reported the error already.
        if is_asked:
            raise
    return None


# Reorders the first results with a reranker on this machine or at a provider.

MOST_PLACES = 30
"""Maximum number of results to rerank."""
_MOST_TEXT_BYTES = 6_000
"""Maximum bytes of each result."""

Place = tuple[bytes, int | None, int, int]
"""Path, content, first and last line: scores hold only for the same content."""


class Reranked(NamedTuple):
    """The scores of the first results by a reranker."""

    scores: Mapping[Place, float]
    note: str = ""
    """What failed; empty if nothing did."""


def ask(
    pool: IndexPool,
    view_request: ViewRequest,
    question: str,
    reranker: ChosenReranker,
    search: Callable[[CurrentView], Sequence[Ranked]],
) -> Reranked:
    """How well the first results of a search match the query, by the reranker's scores.

    The index is not locked meanwhile; so the caller searches again, and uses the scores of the
    places that are unchanged.

    Raises:
        QueryError: the query or a filter cannot be parsed.
        CallCancelled: the call was cancelled.
    """
    consent = reranker.consent
    with pool.view(view_request) as view, view.reading():
        results = [ranked for ranked in search(view)[:MOST_PLACES] if ranked.standing == SCORED]
        texts = _texts(view, results, leaving=consent is not None)
        repo_id = view.scope.repo_id
    if len(texts) < 2:
        return Reranked({})
    if consent is None:
        return _read_here(reranker.place, question, texts)
    return _sent(pool.settings, repo_id, consent, question, texts)


def _read_here(place: str, question: str, texts: Mapping[Place, str]) -> Reranked:
    try:
        relevance = cross_encoder(place).relevance(question, list(texts.values()))
    except ProviderError as error:
        return Reranked({}, f"not reranked: {error}")
    return Reranked({place: relevance.scores[at] for at, place in enumerate(texts)})


def _sent(
    settings: Settings, repo_id: str, consent: Consent, question: str, texts: Mapping[Place, str]
) -> Reranked:
    spec = provider_called(consent.provider)
    size = sum(len(text.encode("utf-8", "replace")) for text in (question, *texts.values()))
    sent, note = Sent(1, 1, len(texts) + 1, size), ""
    scores: Mapping[int, float] = {}
    try:
        relevance = _relevance(spec, consent, question, list(texts.values()))
        sent, scores = sent._replace(failed=0, tokens=relevance.tokens), relevance.scores
    except ProviderError as error:
        if isinstance(error, ProviderNotInstalled | ProviderKeyMissing):
            sent = Sent()
        note = f"not reranked: {error}"
    finally:
        where = consent._replace(model=spec.rerank_model)
        uncounted = _count(vectors_file(settings.home, repo_id), where, sent)
    scores_by_place = {place: scores[at] for at, place in enumerate(texts) if scores}
    return Reranked(scores_by_place, note or uncounted)


def _count(path: Path, where: Consent, sent: Sent) -> str:
    """Count what was sent; returns the error, which must not fail an answer."""
    try:
        with open_vectors(path) as db, db.write(None):
            provider_consent.count(db, where, sent)
    except StoreError as error:
        return f"what was sent to {where.provider} is not counted: {error}"
    return ""


def _relevance(
    spec: ProviderSpec, consent: Consent, question: str, texts: Sequence[str]
) -> Relevance:
    patience = FOR_A_QUESTION

    def timed_out() -> ProviderFailed:
        why = f"no answer within {patience.timeout_s:g} s"
        return ProviderFailed(spec.name, consent.endpoint, why)

    client = connect_reranker(spec, consent.endpoint, timeout_s=patience.timeout_s)
    try:
        relevance = patiently(lambda: client.request(question, texts), patience, timed_out)
    finally:
        client.close()
    if fault := relevance.fault(len(texts)):
        raise AnswerInvalid(spec.name, spec.rerank_model, fault)
    return relevance


def _texts(view: CurrentView, results: Sequence[Ranked], *, leaving: bool) -> dict[Place, str]:
    """The lines of results; if they leave this machine, only those that may be sent."""
    texts: dict[Place, str] = {}
    read = _to_send(view) if leaving else _to_read(view, results)
    for ranked in results:
        text = read(ranked.file.content) if ranked.file.content is not None else b""
        lines = text.split(b"\n", ranked.end_line)[ranked.start_line - 1 : ranked.end_line]
        shown = b"\n".join(lines)[:_MOST_TEXT_BYTES].decode("utf-8", "ignore").strip()
        if shown:
            texts[_place(ranked)] = shown
    return texts


def _to_send(view: CurrentView) -> Callable[[int], bytes]:
    contents = sendable_texts.sendable(view).contents

    def text(content: int) -> bytes:
        key = contents.get(content)
        return b"" if key is None else sendable_texts.text_of(view, content, key) or b""

    return text


def _to_read(view: CurrentView, results: Sequence[Ranked]) -> Callable[[int], bytes]:
    contents = {ranked.file.content for ranked in results if ranked.file.content is not None}
    hashes_by_content = hashes(view.snapshot.db, sorted(contents))

    def text(content: int) -> bytes:
        return (
            sendable_texts.unchanged_text(view, content, bytes(hashes_by_content[content])) or b""
        )

    return text


def in_order(results: Sequence[Ranked], reranked: Reranked, *, explain: bool) -> list[Ranked]:
    """Sort the results that have a score among their positions; the others keep theirs."""
    at = [number for number, ranked in enumerate(results) if _place(ranked) in reranked.scores]
    best = sorted(at, key=lambda number: (-reranked.scores[_place(results[number])], number))
    ordered = list(results)
    for slot, number in zip(at, best, strict=True):
        ranked = results[number]
        if explain:
            share = {"rerank": reranked.scores[_place(ranked)]}
            ranked = ranked._replace(explain={**ranked.explain, **share})
        ordered[slot] = ranked
    return ordered


def _place(ranked: Ranked) -> Place:
    return ranked.file.path, ranked.file.content, ranked.start_line, ranked.end_line
