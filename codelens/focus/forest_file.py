"""Reads and writes the file of a forest; it recovers as much as possible from a damaged file.

The file has one JSON object per line: a head with the version, the nodes, the answers, the
transitions, and a last line with the number of lines. So the complete lines of a truncated file can
still be read. It is written to a temporary file and renamed, under a separate lock file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple, cast

from codelens import home_files
from codelens.focus.context_block import GuideEntry
from codelens.focus.forest import Forest, LastTurn, Node
from codelens.focus.waiting_turns import MARK as WAITING
from codelens.focus.waiting_turns import (
    Damaged,
    counts_in,
    fields_of,
    number_in,
    text_in,
    whole_in,
    written,
)
from codelens.home_files import open_regular, replace_file

VERSION = 1
LOCK_WAIT_S = 0.05
_LARGEST = 8_000_000
_KEPT_DAYS = 90
_SET_ASIDE = 5
"""Maximum number of damaged files of a forest that are kept."""
_TERMS_OF_A_NAME = 6
_KINDS = ("root", "topic", "prompt")
_MOST_NODES = 2_000
"""No setting allows half of it."""


class State(NamedTuple):
    """The stored state of a forest."""

    forest: Forest
    guide: list[GuideEntry]
    note: str = ""
    """What was wrong with the file; empty if nothing was."""
    root: str = ""
    """The worktree that it was last written from."""
    taken: tuple[str, ...] = ()
    """Files of waiting prompts and answers that it already includes; they may still exist."""


def forest_path(home: str, name: str) -> str:
    """The path of the forest called `name`; a newer format has another path."""
    return os.path.join(home, "focus", f"{name}.v{VERSION}.jsonl")


class ForestLock:
    """`with ForestLock(path) as is_locked`: locks a forest's file, if possible in time.

    It is a class because importing `contextlib` costs a hook 2 ms.

    Raises:
        OSError: the folder cannot be created, or the lock cannot be opened.
    """

    def __init__(self, path: str, *, wait_s: float = LOCK_WAIT_S) -> None:
        self._path, self._wait_s, self._descriptor = path, wait_s, -1

    def __enter__(self) -> bool:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        self._descriptor = home_files.open_locked(f"{self._path}.lock")
        try:
            return home_files.take_lock(self._descriptor, wait_s=self._wait_s)
        except BaseException:
            os.close(self._descriptor)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def load(path: str) -> State:
    """Load the forest of a file, or an empty one if the file does not exist.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        with open_regular(path) as file:
            data = file.read(_LARGEST)
    except FileNotFoundError:
        return State(Forest(), [])
    lines = data.split(b"\n")
    whole = [fields for fields in map(fields_of, lines) if fields is not None]
    head = whole[0] if whole and "version" in whole[0] else {}
    if head and head.get("version") != VERSION:
        return State(Forest(), [], f"{path} has version {head.get('version')!r}")
    other = home_files.other_owner_name(path, head.get(home_files.OWNER_KEY))
    if other:
        return State(Forest(), [], f"{path} {home_files.written_for(other)}")
    state = _state(head, whole)
    ends = whole[-1].get("lines") if whole else None
    if state.note or ends != len(lines) - 1 or len(whole) != len(lines) - 1:
        return State(
            state.forest, state.guide,
            f"{path} is damaged; {len(state.forest.nodes)} of its nodes could be read",
        )  # fmt: skip
    return state._replace(root=str(head.get("root", "")), taken=_taken(path, head))


def save(path: str, state: State) -> None:
    """Replace the file; the caller must have its lock.

    A damaged file gets a second name: it may hold more than could be read. It keeps the first one
    until the new file is complete, so that a full disk costs only the latest prompt.

    Args:
        path: the file.
        state: what to store; its note says whether the file is damaged.

    Raises:
        OSError: the file cannot be written; its content is unchanged.
    """
    name = os.path.basename(path)
    lines = [written(fields) for fields in _lines(name, state)]
    lines.append(written({"lines": len(lines) + 1}))
    keep = _set_aside if state.note else None
    replace_file(path, b"\n".join(lines) + b"\n", before=keep)


def forests_of(home: str, repository: str) -> list[str]:
    """The files of a repository's forests, in all scopes."""
    folder = os.path.join(home, "focus")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [
        os.path.join(folder, name)
        for name in names
        if name.startswith(repository) and name.endswith(f".v{VERSION}.jsonl")
    ]


def _set_aside(path: str) -> None:
    """Give a damaged file a second name, that of the oldest one if there are `_SET_ASIDE`.

    Raises:
        OSError: the file can be neither linked nor renamed.
    """
    names = [f"{path}.damaged", *(f"{path}.damaged-{at}" for at in range(2, _SET_ASIDE + 1))]
    there = [name for name in names if os.path.exists(name)]
    free = [name for name in names if name not in there]
    aside = free[0] if free else min(there, key=os.path.getmtime)
    if not free:
        os.unlink(aside)
    try:
        os.link(path, aside)
    except OSError:
        os.replace(path, aside)


def delete(path: str) -> bool:
    """Delete a forest with its damaged and waiting files; return whether there were any.

    The lock file stays.

    Raises:
        OSError: a file cannot be deleted.
    """
    folder, own = os.path.split(path)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    kinds = (f"{own}.damaged", f"{own}.new", own + WAITING)
    gone = [name for name in names if name == own or name.startswith(kinds)]
    for name in gone:
        os.unlink(os.path.join(folder, name))
    return bool(gone)


def _lines(name: str, state: State) -> Iterator[dict[str, object]]:
    forest = state.forest
    worktrees = dict.fromkeys(node.worktree for node in forest.nodes.values() if node.worktree)
    roots = {worktree: number for number, worktree in enumerate(worktrees)}
    yield {
        home_files.OWNER_KEY: name, "version": VERSION, "prompts": forest.prompts,
        "last": forest.last, "next": forest.next_id, "seen": forest.seen,
        "turns": [[session, *turn] for session, turn in forest.turns.items()],
        "root": state.root, "roots": list(roots), "taken": list(state.taken),
    }  # fmt: skip
    for node in forest.nodes.values():
        yield {
            "node": node.id, "parent": node.parent, "kind": node.kind, "text": node.text,
            "terms": node.terms, "frequency": node.frequency, "touched": node.touched,
            "branch": node.branch, "handles": node.handles,
            "in": roots.get(node.worktree),
        }  # fmt: skip
    for entry in state.guide:
        yield {"said": entry.text, "at": entry.at, "new": entry.is_new, "tree": entry.tree}
    yield {"transitions": [[e, n, t] for e, row in forest.transitions.rows.items()
                           for n, t in row.items()]}  # fmt: skip


def _state(head: dict[str, object], lines: list[dict[str, object]]) -> State:
    """The state in the lines, which have parents before children; invalid lines are skipped."""
    forest, guide, note = Forest(), list[GuideEntry](), "" if head else "no head"
    roots = _roots(head)
    for fields in lines:
        try:
            if "node" in fields:
                _take_node(forest, fields, roots)
            elif "said" in fields:
                guide.append(_answer(fields))
            elif "transitions" in fields:
                _take_transitions(forest, fields["transitions"])
        except Damaged as error:
            note = note or str(error)
    if _drop_empty_topics(forest):
        note = note or "a topic without prompts"
    try:
        forest.prompts = whole_in(head, "prompts")
        forest.seen = number_in(head, "seen")
        last = whole_in(head, "last")
        forest.last = last if last in forest.leaves() else 0
        forest.next_id = max(forest.next_id, whole_in(head, "next"))
        forest.turns = _turns(head)
    except Damaged as error:
        forest.prompts = len(forest.nodes)
        note = note or str(error)
    return State(forest, guide, note)


def _answer(fields: dict[str, object]) -> GuideEntry:
    return GuideEntry(
        text_in(fields, "said"), number_in(fields, "at"), is_new=bool(fields.get("new")),
        tree=whole_in(fields, "tree"),
    )  # fmt: skip


def _drop_empty_topics(forest: Forest) -> bool:
    """Remove topics whose prompts were in unreadable lines."""
    is_changed = False
    for node in list(forest.nodes.values())[::-1]:
        if node.kind != "prompt" and node.id in forest.nodes and not forest.children(node.id):
            forest.remove(node)
            is_changed = True
    return is_changed


def _roots(head: dict[str, object]) -> dict[object, str]:
    """The worktrees that nodes refer to by number; empty in a file of an older version."""
    roots = head.get("roots")
    listed = cast("list[object]", roots) if isinstance(roots, list) else []
    return {number: root for number, root in enumerate(listed) if isinstance(root, str)}


def _turns(head: dict[str, object]) -> dict[str, LastTurn]:
    """The last prompt of each session; empty in a file of an older version."""
    turns = head.get("turns")
    result: dict[str, LastTurn] = {}
    for turn in cast("list[object]", turns) if isinstance(turns, list) else []:
        row = cast("list[object]", turn) if isinstance(turn, list) else []
        fields: dict[str, object] = dict(zip(("session", "topic", "at"), row, strict=False))
        try:
            session, topic = text_in(fields, "session"), whole_in(fields, "topic")
            result[session] = LastTurn(topic, number_in(fields, "at"))
        except Damaged:
            # Skipping it only loses the handles of one session, not a prompt.
            continue
    return result


def _taken(path: str, head: dict[str, object]) -> tuple[str, ...]:
    """Names of waiting files in the folder of this file; no others, because they are deleted."""
    names = head.get("taken")
    listed = cast("list[object]", names) if isinstance(names, list) else []
    own = os.path.basename(path) + WAITING
    return tuple(
        name
        for name in listed
        if isinstance(name, str) and name.startswith(own) and name == os.path.basename(name)
    )


def _take_node(forest: Forest, fields: dict[str, object], roots: dict[object, str]) -> None:
    kind, number, parent = fields.get("kind"), whole_in(fields, "node"), whole_in(fields, "parent")
    if len(forest.nodes) >= _MOST_NODES:
        raise Damaged("too many nodes for a forest")
    if kind not in _KINDS or number < 1 or number in forest.nodes:
        raise Damaged("an invalid node")
    node = Node(
        number, parent, kind, text_in(fields, "text"), terms=counts_in(fields, "terms"),
        touched=number_in(fields, "touched"), branch=text_in(fields, "branch"),
        frequency=max(1, whole_in(fields, "frequency")), worktree=_root(fields, roots),
    )  # fmt: skip
    if kind == "prompt" and not node.terms:
        raise Damaged("a prompt without terms")
    node.handles = _handles(fields.get("handles"))
    _add_below_parent(forest, node)


def _root(fields: dict[str, object], roots: dict[object, str]) -> str:
    number = fields.get("in")
    return roots.get(number, "") if isinstance(number, int) else ""


def _add_below_parent(forest: Forest, node: Node) -> None:
    """Add a node; if the line of its parent was lost, create a root from the node's terms."""
    above = forest.nodes.get(node.parent)
    is_lost = above is None and 0 < node.parent < node.id and node.kind != "root"
    if is_lost:
        chosen = sorted(node.terms, key=lambda term: (-node.terms[term], term))[:_TERMS_OF_A_NAME]
        above = forest.add(
            Node(
                node.parent, 0, "root", " | ".join(chosen), terms=dict.fromkeys(chosen, 1),
                touched=node.touched, branch=node.branch, worktree=node.worktree,
                frequency=node.frequency,
            )
        )  # fmt: skip
    fits = {
        "root": node.parent == 0,
        "topic": above is not None and above.kind == "root",
        "prompt": above is not None and above.kind != "prompt",
    }
    if not fits[node.kind]:
        raise Damaged("a node without its parent")
    forest.add(node)
    if is_lost:
        raise Damaged("a node whose parent was lost")


def _take_transitions(forest: Forest, rows: object) -> None:
    roots = {node.id for node in forest.roots()}
    if not isinstance(rows, list):
        raise Damaged("invalid transitions")
    for row in cast("list[object]", rows):
        if not isinstance(row, list) or len(cast("list[object]", row)) != 3:
            raise Damaged("an invalid transition")
        earlier, later, times = cast("list[object]", row)
        if not (isinstance(earlier, int) and isinstance(later, int) and isinstance(times, int)):
            raise Damaged("an invalid transition")
        if earlier in roots and later in roots and times > 0:
            forest.transitions.rows.setdefault(earlier, {})[later] = times


def _handles(value: object) -> list[tuple[str, int, int]]:
    handles: list[tuple[str, int, int]] = []
    for row in cast("list[object]", value) if isinstance(value, list) else []:
        if isinstance(row, list) and len(cast("list[object]", row)) == 3:
            handle, size, stamp = cast("list[object]", row)
            if isinstance(handle, str) and isinstance(size, int) and isinstance(stamp, int):
                handles.append((handle, size, stamp))
    return handles


def forget_old(home: str, in_use: str = "") -> int:
    """Delete the forests that were not used for three months; return their number.

    Ages are counted from the last use of any forest, if that is before the current time: after a
    jump of the clock, all of them would seem old.

    Args:
        home: the home folder.
        in_use: the file of a forest to keep regardless of its age.
    """
    # Imported late: a prompt hook does not call this.
    folder = os.path.join(home, "focus")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in names if name.endswith(".jsonl")]
    used: dict[str, float] = {}
    for path in paths:
        with suppress(OSError):
            used[path] = os.stat(path).st_mtime
    oldest = min(time.time(), max(used.values(), default=0.0)) - _KEPT_DAYS * 86_400
    gone = 0
    for path, when in used.items():
        if when >= oldest or path == in_use:
            continue
        with suppress(OSError):
            gone += delete(path)
            os.unlink(f"{path}.lock")
    return gone
