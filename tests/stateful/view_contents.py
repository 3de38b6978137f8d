"""A view's contents and answers, in a form that two views can be compared by; git's own list."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from dataclasses import asdict
from pathlib import Path

from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.meaning.word_table import shipped_version
from codelens.render import explore_text
from codelens.store.facts import contents
from codelens.store.facts.ranking_reads import vectors_of

ENV = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a", "GIT_COMMITTER_NAME": "c",
    "GIT_COMMITTER_EMAIL": "c@c", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}  # fmt: skip


def git(cwd: Path, *args: str, check: bool = True) -> bytes:
    done = subprocess.run(["git", *args], cwd=cwd, env=ENV, capture_output=True)
    if check and done.returncode:
        raise AssertionError(f"git {args} failed: {done.stderr.decode()}")
    return done.stdout if not done.returncode else b""


def listed(tree: Path, ref: str | None) -> set[bytes]:
    """Regular files that git lists."""
    if ref is not None:
        entries = git(tree, "ls-tree", "-rz", ref).split(b"\0")
        # A nested worktree that was added is a gitlink.
        return {entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"100")}
    named = git(tree, "ls-files", "-coz", "--exclude-standard").split(b"\0")
    root = os.fsencode(tree)
    found = set()
    for name in named:
        try:
            if name and stat.S_ISREG(os.lstat(os.path.join(root, name)).st_mode):
                found.add(name)
        except OSError:
            continue
    return found


def dump(engine: Engine, tree: Path, ref: str | None) -> dict:
    """All that a view holds, without the store's row numbers."""
    with engine.pool.view(ViewRequest(tree, ref)) as current:
        assert current.refreshed.status == "fresh"
        view = current.snapshot
        ids = [file.content for file in view.files if file.content is not None]
        about, symbols, chunks = view.about(ids), view.symbols(ids), view.chunks(ids)
        vectors = vectors_of(view.db, ids, shipped_version())
        facts = view.path_facts([file.path_id for file in view.files])
        row = view.row
        totals = (row.files, row.chunk_count, row.body_terms, row.name_terms, row.doc_terms)
        found: dict = {}
        for file in view.files:
            content = file.content
            assert file.state == 0
            assert content is not None
            found[file.path] = (
                about[content][1:], symbols.get(content), chunks[content], facts[file.path_id],
                contents.references_of(view.db, content), vectors[content],
            )  # fmt: skip
        assert totals[0] == len(found)
        found_totals = tuple(
            sum(values) for values in zip(*(_counts(view, content) for content in ids), strict=True)
        ) or (0, 0, 0, 0)
        assert totals[1:] == found_totals
        return found


def _counts(view, content: int) -> tuple[int, int, int, int]:
    chunks = view.chunks([content])[content]
    return (
        len(chunks), sum(one.body_terms for one in chunks),
        sum(one.name_terms for one in chunks), sum(one.doc_terms for one in chunks),
    )  # fmt: skip


def capsule(engine: Engine, task: str, tree: Path, ref: str | None) -> str:
    """A capsule without its receipt, whose times are excluded from the comparison."""
    found = engine.explore(task, path=tree, ref=ref, max_tokens=600)
    return "\n".join((*found.notes, *explore_text.body(found)))


def answer(engine: Engine, query: str, tree: Path, ref: str | None, mode: str = "auto") -> str:
    found = engine.search(query, mode=mode, path=tree, ref=ref, limit=8, explain=True)
    return json.dumps([[asdict(one) for one in found.results], found.notes], default=str)
