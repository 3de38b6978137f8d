"""Renders answers about indexes, usage, meaning and providers as text and JSON."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from codelens.answers.context_answers import UsageAnswer, UsageLine
from codelens.answers.upkeep_answers import (
    CheckedEdges,
    Dropped,
    Enabled,
    EnabledRepository,
    ExportedIndex,
    ImportedIndex,
    MeaningStatus,
    MeaningTest,
    ModelFiles,
    Pinned,
    ProviderStatus,
    PruneAnswer,
    Pruned,
    PrunedVectors,
    RepositoryLife,
    SendingPlan,
    Synced,
    ViewLife,
)
from codelens.render.reading_text import Json, receipt_json
from codelens.render.text_pieces import one_line, safe
from codelens.wording import count_of, day_of


def prune_lines(answer: PruneAnswer) -> list[str]:
    """Render what a prune did or would do; the last line is a summary."""
    lines: list[str] = []
    for result in answer.results:
        lines += _pruned(result, dry_run=answer.dry_run)
    if answer.disposed_bytes:
        size = megabytes(answer.disposed_bytes)
        lines.append(f"the disk is full: damaged files that were set aside were removed, {size}")
    views = sum(len(result.views) for result in answer.results)
    freed = sum(result.freed_bytes for result in answer.results) + answer.disposed_bytes
    every = f"{answer.indexes:,} {_indexes(answer.indexes)}"
    counts = f"{count_of(views, 'view')} of {every}"
    if answer.dry_run:
        due = f"{counts} would be removed" if views else f"no view in {every} is due for removal"
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
    """Render every index with its views."""
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
        lines += [
            f"  {pin.title}  pinned; the next question about it builds its view"
            for pin in repository_life.unbuilt_pins
        ]
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
    """Render what a drop removed."""
    lines = [f"dropped {life.index_id}  {life.title}" for life in done.views]
    if done.whole:
        lines.append(f"dropped the index of {done.repository or done.repo_id}")
    tail = f"{megabytes(done.freed_bytes)} freed"
    if done.waiting:
        tail += f", {count_of(done.waiting, 'text')} more when no reader uses them any longer"
    return [safe(line) for line in [*lines, tail]]


def pinned_line(done: Pinned) -> str:
    """Render what a pin did."""
    state = "pinned" if done.view.pinned else "not pinned"
    already = "" if done.changed else " already"
    return safe(f"{done.view.index_id}  {done.view.title} is {state}{already}")


def megabytes(count: float) -> str:
    """Render a number of bytes: `2.3 MB`."""
    return f"{count / 1e6:,.1f} MB"


def prune_json(answer: PruneAnswer) -> Json:
    """Return a prune as JSON values."""
    return {
        "dry_run": answer.dry_run,
        "indexes": answer.indexes,
        "results": [asdict(result) for result in answer.results],
        "disposed_bytes": answer.disposed_bytes,
        "advice": answer.advice,
    }


def overview_json(repositories: Sequence[RepositoryLife]) -> Json:
    """Return all indexes as JSON values."""
    return {"results": [asdict(repository) for repository in repositories]}


# Usage counts of codelens as text with charts and as JSON values.

_BAR = 24
_PARTS = " ▏▎▍▌▋▊▉█"
_BYTES_A_TOKEN = 4
_ASSUMED = (
    "  (whole files: an estimate of what reading the files of the answers whole would have cost; "
    "a search with ripgrep that reads only some lines may cost less than the answers)"
)


def usage_text(answer: UsageAnswer, by: Sequence[str]) -> list[str]:
    """Render totals, and a chart of calls for each of `by`: `day`, `tool`, `repository`."""
    total = answer.total
    rows = [
        f"{count_of(total.calls, 'call')} in {count_of(answer.days, 'day')}, "
        f"{total.failed:,} failed; "
        f"served {_size(total.served_bytes)}, about {_tokens(total.served_bytes)} tokens; "
        f"whole files {_size(total.saved_bytes)} more, {_tokens(total.saved_bytes)} tokens",
        _ASSUMED,
    ]
    sections = {
        "day": answer.by_day, "tool": answer.by_tool, "repository": answer.by_repository
    }  # fmt: skip
    for name in by:
        if sections[name]:
            rows += ["", f"by {name}", *_chart(sections[name])]
    return rows


def _chart(lines: Sequence[UsageLine]) -> list[str]:
    names = [one_line(line.name) for line in lines]
    width = max(len(name) for name in names)
    most = max(line.calls for line in lines)
    digits = len(f"{most:,}")
    return [
        f"  {name:<{width}}  {usage.calls:>{digits},}  {_bar(usage.calls, most):<{_BAR}}  "
        f"served {_size(usage.served_bytes):>8}  whole files {_size(usage.saved_bytes):>8} more"
        for name, usage in zip(names, lines, strict=True)
    ]


def _bar(calls: int, most: int) -> str:
    eighths = max(round(calls * _BAR * 8 / most), 1)
    return _PARTS[8] * (eighths // 8) + _PARTS[eighths % 8].strip()


def _size(size_bytes: int) -> str:
    if size_bytes < 1000:
        return f"{size_bytes} B"
    if size_bytes < 1_000_000:
        return f"{size_bytes / 1e3:.1f} kB"
    return f"{size_bytes / 1e6:,.1f} MB"


def _tokens(size_bytes: int) -> str:
    return f"{size_bytes // _BYTES_A_TOKEN:,}"


# The ranking by meaning as text and JSON values.

_SHORT_DIGEST = 12


def under(key: str, answer: MeaningStatus | SendingPlan | Synced) -> Json:
    """Return an answer under one key, next to its receipt."""
    fields = asdict(answer)
    del fields["receipt"]
    return {"receipt": receipt_json(answer.receipt), key: fields}


def meaning_lines(answer: MeaningStatus) -> list[str]:
    """Render the table, the view, then the provider."""
    lines = [f"ranking by meaning: {'on' if answer.on else 'off (the setting `meaning`)'}"]
    by_provider = provider_status_lines(answer.provider)
    if answer.damage:
        return [*lines, answer.damage, *by_provider]
    return [
        *lines,
        f"table: version {answer.version}, {answer.words:,} words of {answer.dimension} numbers, "
        f"SHA-256 {answer.digest[:_SHORT_DIGEST]}",
        f"vectors: {answer.with_vectors:,} of {count_of(answer.contents, 'text')}, "
        f"{count_of(answer.vector_bytes, 'byte')}",
        *by_provider,
    ]


def meaning_test_lines(answer: MeaningTest) -> list[str]:
    """Render each word with its neighbours, then those of the whole question."""
    lines = [
        f"{word.term}: {_near(word.near) if word.known else 'not in the table'}"
        for word in answer.words
    ]
    return [*lines, f"together: {_near(answer.near) or 'nothing'}"]


def _near(words: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{term} {cosine:.2f}" for term, cosine in words)


# Providers of vectors as text: data to send, data sent, and progress.


def provider_plan_lines(plan: SendingPlan) -> list[str]:
    """Render what a sync would send, and where to."""
    left_out = (
        f" ({count_of(plan.left_out, 'file')} that may hold secrets left out)"
        if plan.left_out
        else ""
    )
    to_do = "to be sent" if plan.endpoint else "to be embedded here, nothing is sent"
    return [
        f"provider: {plan.provider}, model {plan.model}, {_place(plan.endpoint)}",
        f"{to_do}: {count_of(plan.texts, 'text')} of {count_of(plan.files, 'file')}{left_out}, "
        f"{count_of(plan.bytes, 'byte')}, about {count_of(plan.tokens, 'token')}",
        *([f"that takes about {_duration(plan.seconds)} here"] if plan.seconds else []),
        f"later syncs {'send' if plan.endpoint else 'embed'} what changed, and each search by "
        "words its question"
        + (", with lines of its first results to be reranked" if plan.reranks else ""),
        *_store_lines(plan.store, hybrid=plan.hybrid),
    ]


def provider_enabled_lines(answer: Enabled) -> list[str]:
    """Render what may be sent from now on."""
    lines = [
        f"enabled: {answer.provider}, model {answer.model}, {answer.dimension} numbers a vector, "
        f"{_place(answer.endpoint)}"
    ]
    lines += _store_lines(answer.store, hybrid=answer.hybrid)
    if answer.state == "requires_reindex":
        done = "sent" if answer.endpoint else "embedded"
        lines.append(f"no text was {done} yet: `codelens meaning sync` does that")
    return lines


def model_files_line(files: ModelFiles) -> str:
    """Render what a download fetches."""
    return (
        f"{files.model}: {count_of(len(files.files), 'file')}, {files.size_bytes / 1e6:,.0f} MB "
        f"from {files.server} to {files.folder}"
    )


def _duration(seconds: float) -> str:
    return count_of(round(seconds / 60), "minute") if seconds >= 90 else f"{seconds:.0f} s"


def _place(endpoint: str) -> str:
    return f"at {endpoint}" if endpoint else "on this machine"


def _store_lines(store: str, *, hybrid: bool) -> list[str]:
    contents = "vectors, and the stemmed words of the texts" if hybrid else "vectors, no words"
    return [f"store: {store} gets {contents}"] if store else []


def vectors_synced_lines(answer: Synced) -> list[str]:
    """Render what was sent, and what is left."""
    again = f", {answer.failed:,} of them failed and were sent again" if answer.failed else ""
    done = "embedded by" if answer.provider == "local" else "sent to"
    lines = [
        f"{answer.state}: {count_of(answer.texts, 'text')} {done} {answer.provider} "
        f"({answer.model}) in {count_of(answer.requests, 'request')}{again}, "
        f"{count_of(answer.bytes, 'byte')}, {count_of(answer.tokens, 'token')}"
    ]
    lines.append(
        f"files since the last sync: {answer.added:,} added, {answer.removed:,} removed, "
        f"{answer.modified:,} modified"
    )
    if answer.stored:
        lines.append(f"the store got {count_of(answer.stored, 'vector')}")
    if answer.lacking:
        lines.append(f"{count_of(answer.lacking, 'text')} still without a vector: sync again")
    if answer.left_out:
        lines.append(f"left out: {count_of(answer.left_out, 'file')} that may hold secrets")
    return lines


def vectors_pruned_line(answer: PrunedVectors) -> str:
    """Render what was removed, and what is left."""
    return (
        f"removed {count_of(answer.removed, 'vector')} of texts that are gone, {answer.kept:,} "
        f"kept; {count_of(answer.freed_bytes, 'byte')} of disk freed"
    )


def provider_list_lines(repositories: Sequence[EnabledRepository]) -> list[str]:
    """Render a line per repository: its state, place, provider and store."""
    return [
        f"{row.state}: {row.root}"
        + (
            f" ({row.provider}, {row.model}{f', {row.store}' if row.store else ''})"
            if row.provider
            else ""
        )
        + (f": {row.failure}" if row.failure else "")
        for row in repositories
    ] or ["no repository has a provider enabled"]


def provider_list_json(repositories: Sequence[EnabledRepository]) -> Json:
    """Return all rows."""
    return {"repositories": [asdict(row) for row in repositories]}


def provider_status_lines(status: ProviderStatus) -> list[str]:
    """Render the provider and its vectors, then what was sent."""
    if not status.provider:
        lines = ["provider: none is enabled; nothing is sent"]
    else:
        lines = [
            f"provider: {status.provider}, model {status.model}, {status.dimension} numbers a "
            f"vector, {_place(status.endpoint)}",
            f"state: {status.state}{f': {status.failure}' if status.failure else ''}",
            f"provider's vectors: complete for {status.contents_ready:,} of "
            f"{count_of(status.contents, 'file')}, {count_of(status.vector_bytes, 'byte')}",
        ]
        if status.store:
            kind = ", by terms too" if status.hybrid else ""
            lines.append(f"store: {status.store}, collection {status.collection}{kind}")
        if status.store_failure:
            lines.append(f"the vectors on this machine are counted: {status.store_failure}")
        if status.contents_ready < status.contents:
            done = "sends" if status.endpoint else "embeds"
            lines.append(f"`codelens meaning sync` {done} what is missing")
        if status.left_out:
            lines.append(f"never sent: {count_of(status.left_out, 'file')} that may hold secrets")
    return lines + [
        f"{'sent' if total.endpoint else 'embedded'} since {total.since}: "
        f"{count_of(total.texts, 'text')} in {count_of(total.requests, 'request')} to "
        f"{total.provider} ({total.model}) {_place(total.endpoint)}, "
        f"{count_of(total.bytes, 'byte')}, {count_of(total.tokens, 'token')}"
        for total in status.sent
    ]


# Facts from compilers: SCIP.

_NONE = "-"


def receipt_and_fields(answer: ImportedIndex | CheckedEdges | ExportedIndex) -> Json:
    """Return all fields, the receipt as in other answers."""
    return {**asdict(answer), "receipt": receipt_json(answer.receipt)}


def scip_imported_lines(answer: ImportedIndex) -> list[str]:
    """Render what was imported and what was left out."""
    tool = f" by {answer.tool}" if answer.tool else ""
    root = f", paths from {answer.root}" if answer.root else ""
    documents = f"{answer.stored:,} of {count_of(answer.documents, 'document')}"
    uses = count_of(answer.uses, "occurrence")
    lines = [f"{documents}{tool} imported, of {answer.at}{root}: {uses}"]
    for left in answer.left_out:
        lines.append(f"left out: {left.count:,} {left.why}: {_some(left.paths, left.count)}")
    if answer.differing:
        paths = _some(answer.differing_paths, answer.differing)
        changed = count_of(answer.differing, "file")
        lines.append(f"{changed} edited since, answered by codelens: {paths}")
    return [safe(one_line(line)) for line in lines]


def _some(paths: Sequence[str], count: int) -> str:
    named = ", ".join(path or "(unnamed)" for path in paths)
    return named if len(paths) == count else f"{named}, ..."


def scip_checked_lines(answer: CheckedEdges) -> list[str]:
    """Render the differences, then the counts by language."""
    lines = [
        f"{row.verdict}: {row.site} {row.name}: compiler {_all(row.compiler)}, "
        f"codelens {_all(row.own)}"
        for row in answer.differences
    ]
    if answer.left:
        lines.append(f"{count_of(answer.left, 'more difference')}; --limit shows more")
    by_language: dict[str, list[str]] = {}
    for language, verdict, count in answer.counts:
        by_language.setdefault(language, []).append(f"{count:,} {verdict}")
    lines += [f"{language}: {', '.join(counts)}" for language, counts in by_language.items()]
    if not lines:
        precise = answer.receipt.precise
        files = f"none of {count_of(precise, 'file')}" if precise else "no file"
        state = "has a name that the compiler resolves here" if precise else "is answered precisely"
        lines.append(f"nothing to compare: {files} {state}")
    return [safe(one_line(line)) for line in lines]


def _all(handles: Sequence[str]) -> str:
    return ", ".join(handles) or _NONE


def scip_exported_line(answer: ExportedIndex) -> str:
    """Render what was exported, in one line."""
    counts = (
        count_of(answer.documents, "document"),
        count_of(answer.definitions, "definition"),
        count_of(answer.references, "reference"),
        count_of(answer.relations, "relation"),
    )
    return f"{answer.file}: {', '.join(counts)}, {answer.size_bytes:,} bytes"
