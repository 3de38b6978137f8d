"""Whether the facts of a pack are those that this codelens extracts: some of them, done again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from codelens.errors import ReadError
from codelens.extract.language_detection import language_of
from codelens.index.workers.worker_process import Task, extract
from codelens.scan.content_hash import hash_of
from codelens.scope.commits.commit_tree import read_tree
from codelens.scope.repository import Repository
from codelens.store.facts.contents import ContentKey
from codelens.types import CommitId

SAMPLE_FILES = 48
_SAMPLE_BYTES = 100_000
"""Of a file at most: a sample must not cost what indexing does."""


def sampled_texts(
    repository: Repository, commit: CommitId, languages: Mapping[str, str]
) -> dict[ContentKey, bytes]:
    """Texts of files of a commit, drawn at random, each under the key that its facts would have.

    Raises:
        ReadError: the commit's trees are not in this clone.
    """
    files = read_tree(repository, commit).files
    # Not to be foreseen by whoever made the pack.
    drawn = random.SystemRandom().sample(files, min(len(files), SAMPLE_FILES))
    texts: dict[ContentKey, bytes] = {}
    for file in drawn:
        try:
            data = repository.read_blob(file.oid)
        except ReadError:
            continue  # a partial clone lacks it
        if len(data) <= _SAMPLE_BYTES:
            texts[hash_of(data), language_of(file.path, data, languages)] = data
    return texts


def facts_again(texts: Mapping[ContentKey, bytes]) -> Iterator[tuple[ContentKey, object]]:
    """The facts of texts as a pack has them, extracted now."""
    for key, data in texts.items():
        (facts,) = extract([Task(data, key[1], "full")])
        yield key, facts._replace(vectors=None, symbol_rows=list(facts.symbol_rows))
