"""Which reranker orders the results of a repository, if one does."""

from __future__ import annotations

from typing import NamedTuple

from codelens.config import Settings
from codelens.engine.embedding import provider_consent
from codelens.errors import StoreError
from codelens.meaning.providers.capability_profiles import LOCAL_SLOW
from codelens.meaning.providers.provider_errors import ProviderError
from codelens.meaning.providers.provider_registry import provider_called
from codelens.paths import vectors_file
from codelens.store.vectors import provider_choice
from codelens.store.vectors.provider_choice import Consent
from codelens.store.vectors.vectors_file import open_vectors


class NoReranker(ProviderError):
    """A search was to be reranked, and nothing does that for the repository."""

    def __init__(self) -> None:
        super().__init__(
            "no reranker is set up for this repository",
            typed="set `cross_encoder` to a model on this machine, run `codelens meaning enable "
            "--provider voyage`, or leave out --rerank",
            called="leave out `rerank`",
        )


class ChosenReranker(NamedTuple):
    """What reads the first results."""

    consent: Consent | None
    """The provider that they are sent to; None: they stay on this machine."""
    place: str = ""
    """Of the cross-encoder then."""


def chosen_reranker(
    settings: Settings, repo_id: str, *, rerank: bool | None
) -> ChosenReranker | None:
    """What is to order the first results; None: nothing.

    A cross-encoder of the settings comes before a provider: nothing has to leave the machine.

    Args:
        settings: for the folder of vectors.
        repo_id: the repository.
        rerank: None: as the profile says.

    Raises:
        NoReranker: it is asked for, and there is none.
        SettingError: it is asked for, and the settings file cannot be understood.
        StoreError: it is asked for, and the file that has the consent cannot be used.
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
            return provider_choice.consent_of(db)
    except StoreError:
        # Who asks for nothing was told of the file where the question's vector was made.
        if is_asked:
            raise
    return None
