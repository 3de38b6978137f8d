"""What is said of the indexes themselves: lines alike for people and agents, and plain values."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from codelens.answers.upkeep_answers import (
    Dropped,
    Pinned,
    PruneAnswer,
    Pruned,
    RepositoryLife,
    ViewLife,
)
from codelens.dates import day_of
from codelens.plurals import count_of
from codelens.render.reading_json import Json
from codelens.render.text_pieces import safe


def prune_lines(answer: PruneAnswer) -> list[str]:
    """What a prune did or would do; a last line sums up."""
    lines: list[str] = []
    for result in answer.results:
        lines += _pruned(result, dry_run=answer.dry_run)
    if answer.disposed_bytes:
        size = megabytes(answer.disposed_bytes)
        lines.append(f"the disk is full: damaged indexes that were set aside were removed, {size}")
    views = sum(len(result.views) for result in answer.results)
    freed = sum(result.freed_bytes for result in answer.results) + answer.disposed_bytes
    every = f"{answer.indexes:,} {_indexes(answer.indexes)}"
    counts = f"{count_of(views, 'view')} of {every}"
    if answer.dry_run:
        due = f"{counts} would be removed" if views else f"no view in {every} is due"
        lines.append(f"dry run: {due}{'; --yes removes them' if views else ''}")
    else:
        lines.append(f"{counts} removed, {megabytes(freed)} freed")
    if answer.advice:
        lines.append(f"little disk space is left: {answer.advice}")
    return [safe(line) for line in lines]


def _indexes(count: int) -> str:
    return "index" if count == 1 else "indexes"


def _pruned(pruned: Pruned, *, dry_run: bool) -> Iterator[str]:
    yield pruned.repository or f"index {pruned.repo_id}"
    if pruned.error:
        yield f"  ERROR {pruned.error}"
    if pruned.skipped:
        yield f"  skipped: {pruned.skipped}"
    for life in pruned.views:
        yield f"  {_row(life)}"
    if pruned.removed:
        yield f"  the whole index {'would be removed' if dry_run else 'was removed'}: {pruned.why}"
    if pruned.contents:
        yield f"  deleted: {count_of(pruned.contents, 'text')} no longer needed by any view"
    if pruned.waiting:
        yield f"  to be deleted later: {count_of(pruned.waiting, 'text')} not needed by any view"


def overview_lines(repositories: Sequence[RepositoryLife]) -> list[str]:
    """Every index with its views."""
    lines: list[str] = []
    for repository_life in repositories:
        name = repository_life.repository or f"index {repository_life.repo_id}"
        state = "" if repository_life.state == "there" else f", repository {repository_life.state}"
        size = megabytes(repository_life.index_bytes)
        count = count_of(len(repository_life.views), "view")
        lines.append(f"{name}  ({repository_life.repo_id}, {size}, {count}{state})")
        if repository_life.error:
            lines.append(f"  ERROR {repository_life.error}")
        lines += [f"  {_row(life)}" for life in repository_life.views]
        if repository_life.goes:
            lines.append(f"  the whole index is to be removed: {repository_life.why}")
        if repository_life.waiting:
            lines.append(
                f"  to be deleted later: {count_of(repository_life.waiting, 'text')} not needed "
                "by any view"
            )
    total = sum(repository.index_bytes for repository in repositories)
    lines.append(f"{len(repositories):,} {_indexes(len(repositories))}, {megabytes(total)}")
    return [safe(line) for line in lines]


def _row(life: ViewLife) -> str:
    created = day_of(life.created_s)
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(life.accessed_s))
    size = f"{count_of(life.files, 'file')}, {megabytes(life.source_bytes)}"
    own = f" ({megabytes(life.own_bytes)} of its own)"
    verdict = f"prune: {life.why}" if life.goes else f"keep: {life.why}"
    partial = "" if life.complete else ", incomplete"
    ages = f"made {created}, used {used}"
    return f"{life.index_id}  {life.title}  {size}{own}{partial}, {ages}, {verdict}"


def dropped_lines(done: Dropped) -> list[str]:
    """What a drop removed."""
    lines = [f"dropped {life.index_id}  {life.title}" for life in done.views]
    if done.whole:
        lines.append(f"dropped the index of {done.repository or done.repo_id}")
    tail = f"{megabytes(done.freed_bytes)} freed"
    if done.waiting:
        tail += f", {count_of(done.waiting, 'text')} more when no reader uses them any longer"
    return [safe(line) for line in [*lines, tail]]


def pinned_line(done: Pinned) -> str:
    """What a pin did."""
    state = "pinned" if done.view.pinned else "not pinned"
    already = "" if done.changed else " already"
    return safe(f"{done.view.index_id}  {done.view.title} is {state}{already}")


def megabytes(count: float) -> str:
    """A number of bytes: `2.3 MB`."""
    return f"{count / 1e6:,.1f} MB"


def prune_json(answer: PruneAnswer) -> Json:
    """A prune as plain values."""
    return {
        "dry_run": answer.dry_run,
        "indexes": answer.indexes,
        "results": [asdict(result) for result in answer.results],
        "disposed_bytes": answer.disposed_bytes,
        "advice": answer.advice,
    }


def overview_json(repositories: Sequence[RepositoryLife]) -> Json:
    """All indexes as plain values."""
    return {"results": [asdict(repository) for repository in repositories]}


def dropped_json(done: Dropped) -> Json:
    """A drop as plain values."""
    return asdict(done)


def pinned_json(done: Pinned) -> Json:
    """A pin as plain values."""
    return asdict(done)
