"""Providers of vectors as text: what would be sent, what was, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from codelens.answers.meaning_answers import (
    Enabled,
    EnabledRepository,
    ProviderStatus,
    PrunedVectors,
    SendingPlan,
    Synced,
)
from codelens.plurals import count_of
from codelens.render.reading_json import Json, receipt


def plan_lines(plan: SendingPlan) -> list[str]:
    """What a sync would send, and where to."""
    left_out = (
        f" ({count_of(plan.left_out, 'file')} that may hold secrets left out)"
        if plan.left_out
        else ""
    )
    return [
        f"provider: {plan.provider}, model {plan.model}, at {plan.endpoint}",
        f"to be sent: {count_of(plan.texts, 'text')} of {count_of(plan.files, 'file')}{left_out}, "
        f"{count_of(plan.bytes, 'byte')}, about {count_of(plan.tokens, 'token')}",
        "later syncs send what changed, and each search by words its question"
        + (", with lines of its first results to be reranked" if plan.reranks else ""),
        *_store_lines(plan.store, hybrid=plan.hybrid),
    ]


def plan_json(plan: SendingPlan) -> Json:
    """The same as plain values."""
    fields = asdict(plan)
    del fields["receipt"]
    return {"receipt": receipt(plan.receipt), "plan": fields}


def enabled_lines(answer: Enabled) -> list[str]:
    """What may be sent from now on."""
    lines = [
        f"enabled: {answer.provider}, model {answer.model}, {answer.dimension} numbers a vector, "
        f"at {answer.endpoint}"
    ]
    lines += _store_lines(answer.store, hybrid=answer.hybrid)
    if answer.state == "requires_reindex":
        lines.append("no text was sent yet: `codelens meaning sync` does that")
    return lines


def _store_lines(store: str, *, hybrid: bool) -> list[str]:
    contents = "vectors, and the stemmed words of the texts" if hybrid else "vectors, no words"
    return [f"store: {store} gets {contents}"] if store else []


def synced_lines(answer: Synced) -> list[str]:
    """What was sent, and what is left."""
    again = f", {answer.failed:,} of them failed and were sent again" if answer.failed else ""
    lines = [
        f"{answer.state}: {count_of(answer.texts, 'text')} sent to {answer.provider} "
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


def synced_json(answer: Synced) -> Json:
    """The same as plain values."""
    fields = asdict(answer)
    del fields["receipt"]
    return {"receipt": receipt(answer.receipt), "sync": fields}


def pruned_line(answer: PrunedVectors) -> str:
    """What was removed, and what is left."""
    return (
        f"removed {count_of(answer.removed, 'vector')} of texts that are gone, {answer.kept:,} "
        f"kept; {count_of(answer.freed_bytes, 'byte')} of disk freed"
    )


def pruned_json(answer: PrunedVectors) -> Json:
    """The same as plain values."""
    return asdict(answer)


def list_lines(repositories: Sequence[EnabledRepository]) -> list[str]:
    """A line a repository: its state, where it is, what makes its vectors and searches them."""
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


def list_json(repositories: Sequence[EnabledRepository]) -> Json:
    """The same as plain values."""
    return {"repositories": [asdict(row) for row in repositories]}


def status_lines(status: ProviderStatus) -> list[str]:
    """The provider and its vectors, then what was sent."""
    if not status.provider:
        lines = ["provider: none is enabled; nothing is sent"]
    else:
        lines = [
            f"provider: {status.provider}, model {status.model}, {status.dimension} numbers a "
            f"vector, at {status.endpoint}",
            f"state: {status.state}{f': {status.failure}' if status.failure else ''}",
            f"provider's vectors: {status.contents_ready:,} of "
            f"{count_of(status.contents, 'text')}, {count_of(status.vector_bytes, 'byte')}",
        ]
        if status.store:
            kind = ", by terms too" if status.hybrid else ""
            lines.append(f"store: {status.store}, collection {status.collection}{kind}")
        if status.store_failure:
            lines.append(f"the vectors on this machine are counted: {status.store_failure}")
        if status.contents_ready < status.contents:
            lines.append("`codelens meaning sync` sends what is missing")
        if status.left_out:
            lines.append(f"never sent: {count_of(status.left_out, 'file')} that may hold secrets")
    return lines + [
        f"sent since {total.since}: {count_of(total.texts, 'text')} in "
        f"{count_of(total.requests, 'request')} to {total.provider} ({total.model}) at "
        f"{total.endpoint}, {count_of(total.bytes, 'byte')}, {count_of(total.tokens, 'token')}"
        for total in status.sent
    ]
