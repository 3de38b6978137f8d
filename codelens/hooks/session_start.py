"""The hook at a session's start: the worktree, changes, valid notes, and work in other worktrees.

No prompt waits for it, so it may use the engine. A part that fails is omitted and logged.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from codelens.focus import focus_settings, forest_file
from codelens.focus.checkout import Checkout, head_commit
from codelens.focus.context_block import block
from codelens.focus.focus_settings import load_settings, usable_settings
from codelens.focus.focus_turn import path_of
from codelens.focus.topic_code import true_handles
from codelens.hooks import hook_input, prompt_hooks, work_elsewhere
from codelens.hooks.hook_input import HookInput, worktree_state
from codelens.trail import sent_log, session_marks, trail_log
from codelens.wording import some_of

LONGEST, LONGEST_RECOVERY = 2_400, 6_000
"""Maximum number of characters; hosts cut text longer than 10,000."""
_SHOWN = 5
_BUDGET_MS = 300.0
_FORGETS = frozenset({"compact", "clear"})
_GO_ON = frozenset({"compact", "resume", "fork"})
"""A session of any other source is treated as new."""


def before_compaction(home: str, event: HookInput, place: Checkout) -> None:
    """Store the recovery of the session for its next prompt, without the focus block.

    For a host that starts no session after a compaction. The next prompt has the block anyway.
    """
    compacted = event._replace(source="compact")
    text = _context(home, compacted, place, has_prompt=True)
    prompt_hooks.put_recovery(home, place.repository, event.session, text)


def at_start(home: str, event: HookInput, place: Checkout) -> str:
    """The context for a session that starts, resumes, or was compacted."""
    if (
        prompt_hooks.take_recovery(home, place.repository, event.session)
        and event.source == "resume"
    ):
        # The session was compacted in its last run, and has not received its recovery yet.
        event = event._replace(source="compact")
    # The first prompt has the block itself, unless the host accepts no context with prompts.
    return _context(
        home, event, place, has_prompt=event.source not in _GO_ON and not event.is_cursor
    )


def _context(home: str, event: HookInput, place: Checkout, *, has_prompt: bool) -> str:
    if event.source in _FORGETS:
        # The model no longer has the code that was sent.
        sent_log.end_all(home, place.repository, trail_log.worktree_key(place.root))
    goes_on = event.source in _GO_ON
    parts: list[Callable[[], str]] = [lambda: _worktree_line(place)]
    if goes_on:
        parts.append(lambda: _recovery(place, event))
    else:
        parts += [
            lambda: _changes(home, place, event.session),
            lambda: _valid_notes(place),
        ]
    parts += [
        lambda: work_elsewhere.also_edited(home, place),
        lambda: work_elsewhere.collisions(home, place),
    ]
    if not has_prompt:
        parts.append(lambda: _focus(home, place, event.session))
    parts += [
        lambda: _forget_old_forests(home, place, event.session),
        lambda: _store_worktree_state(home, place, event.session),
    ]
    bytes_left = LONGEST_RECOVERY if goes_on else LONGEST
    lines: list[str] = []
    for part in parts:
        try:
            text = part()
        except Exception as error:
            hook_input.log_note(home, "session-start", f"{type(error).__name__}: {error}")
            continue
        for line in text.split("\n") if text else ():
            if len(line) < bytes_left:
                lines.append(line)
                bytes_left -= len(line) + 1
    return "\n".join(lines)


def _worktree_line(place: Checkout) -> str:
    head = head_commit(place)[:10]
    where = f"branch {place.branch}" if place.branch else "detached HEAD"
    return f"codelens: worktree {place.root} ({where}{f' at {head}' if head else ''})"


def _changes(home: str, place: Checkout, session: str) -> str:
    """The commits since this session began, or since the last one here ended."""
    earlier = session_marks.marks(home, place.repository, trail_log.worktree_key(place.root))
    key = trail_log.session_key(session)
    own = next((mark for mark in reversed(earlier) if mark.session == key), None)
    since = own or next((mark for mark in reversed(earlier) if mark.session != key), None)
    head = head_commit(place)
    if since is None or not head:
        return ""
    label = "since this session began" if own else "since the last session here"
    old = own.began if own else since.head
    moved = f", then on {since.branch}" if since.branch != place.branch and since.branch else ""
    if old == head or not old:
        return f"{label}{moved}: no commits" if moved else ""
    from codelens.scope.repository import Repository
    from codelens.scope.tree_changes import commits_since

    way = commits_since(Repository.at(place.root), old, head)
    if way is None:
        return f"{label}{moved}: {old[:10]} is no longer here"
    count = f"{way.commits}{'' if way.is_all else '+'} commit{'s' if way.commits != 1 else ''}"
    subjects = "; ".join(subject[:70] for subject in way.subjects)
    files = some_of([path.replace("\n", " ") for path in way.paths], _SHOWN)
    subject_list = (
        f" ({subjects}{'; ...' if way.commits > len(way.subjects) else ''})" if subjects else ""
    )
    return f"{label}{moved}: {count}{subject_list}{f'; files: {files}' if files else ''}"


def _valid_notes(place: Checkout) -> str:
    """The saved notes whose handles are all unchanged."""
    from codelens.engine.engine import Engine

    with Engine() as engine:
        saved = engine.load(path=place.root, budget_ms=_BUDGET_MS).results
    holding = [
        context.name for context in saved if all(item.status == "current" for item in context.items)
    ]
    changed = len(saved) - len(holding)
    if not holding:
        return ""
    more = f" ({changed} more changed since)" if changed else ""
    return (
        f"saved notes that are still valid: {some_of(holding, _SHOWN)}{more}; read one with "
        "`codelens load NAME`"
    )


def _recovery(place: Checkout, event: HookInput) -> str:
    """What a session that lost its context needs to continue."""
    from codelens.engine.contexts.asking_session import Session, asked_by
    from codelens.engine.engine import Engine
    from codelens.render import context_text

    forgets = event.source in _FORGETS
    with Engine() as engine, asked_by(Session(event.session, "host")):
        answer = engine.recover(path=place.root, budget_ms=_BUDGET_MS, forget_sent=forgets)
    return "\n".join(context_text.recover(answer))


def _focus(home: str, place: Checkout, session: str) -> str:
    if not focus_settings.is_on(home, place.repository):
        return ""
    settings, _ = usable_settings(home)
    state = forest_file.load(path_of(home, place, settings, session))
    return block(
        state.forest, state.guide, settings, now=time.time(), branch=place.label,
        handles=lambda topic: true_handles(topic, place.root),
    )  # fmt: skip


def _forget_old_forests(home: str, place: Checkout, session: str) -> str:
    """Delete old forests, except the one of this session; returns no text.

    Raises:
        SettingError: the settings are invalid, so the forest of this session is unknown.
    """
    forest_file.forget_old(home, in_use=path_of(home, place, load_settings(home), session))
    return ""


def _store_worktree_state(home: str, place: Checkout, session: str) -> str:
    """Store the session's commit for the next session; returns no text."""
    session_marks.mark(home, session, worktree_state(place))
    return ""
