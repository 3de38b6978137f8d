"""Readers of foreign texts as functions of any bytes: each has a property that must hold.

A target raises `AssertionError` if its property does not hold, and lets unexpected exceptions of
the tested code through.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from fuzz import home_targets, request_targets

from codelens.errors import CodelensError
from codelens.handles.handle_grammar import format_handle, parse_handle
from codelens.hooks import hook_input
from codelens.hosts.formats import entry_edits
from codelens.hosts.formats.config_formats import decoded, encoded, format_of
from codelens.hosts.formats.config_values import EditRefused, at
from codelens.rank import search_request
from codelens.rank.pasted import (
    message_origins,
    pasted_declarations,
    pasted_locations,
    stack_traces,
)
from codelens.rank.query import query_analysis
from codelens.scope.git_index import read_index, read_tracked
from codelens.scope.ignore_patterns import matcher as matcher_of
from codelens.scope.ignore_patterns import parse_pattern
from codelens.serve.client_streams import Oversized, read_line
from codelens.serve.first_turn import Front, chosen, known_answers

_KEYS = ("mcpServers", "codelens")
_ENTRY = {"command": "codelens", "args": ["serve"]}
_PATHS = (b"a", b"a/b.py", b"build", b"deep/er/still/file.txt", b"sp ace", b"\xff\xfe", b"A/B.PY")


def handle_grammar(data: bytes) -> None:
    """A printed handle parses, and prints the same; all other text is refused."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        handle = parse_handle(text)
    except CodelensError:
        return
    if handle.path == b"":
        # The worktree itself is written `.` or `ref:.`, and never printed.
        return
    printed = format_handle(handle)
    again = format_handle(parse_handle(printed))
    assert again == printed, (text, printed, again)


def query_analysis_of(data: bytes) -> None:
    """Any question can be analysed; its parts come from its text."""
    text = data.decode("utf-8", "replace")
    with suppress(CodelensError):
        query = query_analysis.analyse(text)
        assert all(term.text for term in query.terms)
    message_origins.parse_message(text)
    pasted_declarations.declared(text)
    pasted_locations.whole(text)
    pasted_locations.inside(text)
    stack_traces.parse(text)
    with suppress(CodelensError):
        search_request.globs(text.split("\n"))


def json_rpc_front(data: bytes) -> None:
    """Each line is answered, or left to the SDK; each output is one line of JSON."""
    source, front = io.BytesIO(data), Front(known_answers(chosen("")))
    while line := read_line(source):
        reply = line.refusal() if isinstance(line, Oversized) else front.answer(line)
        if reply:
            sent = json.dumps(reply)
            assert "\n" not in sent and json.loads(sent) == reply


def git_index(data: bytes) -> None:
    """A damaged index is reported; both readers agree on a sound one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index")
        path.write_bytes(data)
        try:
            entries = read_index(path)
        except CodelensError:
            return
        tracked = read_tracked(path)
        assert {entry.path for entry in entries} >= tracked.paths - tracked.gitlinks


def ignore_patterns(data: bytes) -> None:
    """Each pattern is a regex that compiles, or matches nothing."""
    for pattern in parse_pattern(data):
        for fold in (False, True):
            matcher = matcher_of(pattern, fold=fold)
            if matcher is not None and matcher[1].regex is not None:
                regex = re.compile(matcher[1].regex, re.DOTALL)
                for path in _PATHS:
                    regex.fullmatch(path)


def config_editors(data: bytes) -> None:
    """An inserted entry is there, nothing else changes its meaning, and removal deletes it."""
    try:
        text = decoded(data)
    except EditRefused:
        return
    assert decoded(encoded(text, data)) == text
    for name in ("json", "jsonc", "toml", "yaml"):
        form = format_of(name)
        try:
            before = form.parse(text, _KEYS)
            fresh = form.put(text, _KEYS, dict(_ENTRY))
        except EditRefused:
            continue
        assert at(form.parse(fresh, _KEYS), _KEYS) == _ENTRY, (name, text, fresh)
        if at(before, _KEYS) is None and at(before, _KEYS[:1]):
            again = form.take(fresh, _KEYS)
            assert form.parse(again, _KEYS) == before, (name, text, fresh, again)
    if not entry_edits.has_block(text):
        with suppress(EditRefused):
            put = entry_edits.put_block(text, "codelens is here")
            assert entry_edits.has_block(put)
            assert entry_edits.take_block(put).rstrip() == text.rstrip(), (text, put)


def hooks_input(data: bytes) -> None:
    """Any host input is an event or nothing; paths are absolute, and contain no NUL."""
    event = hook_input.parsed(data)
    if event is not None:
        for path in hook_input.edited_paths(event):
            assert "\0" not in path


TARGETS: dict[str, Callable[[bytes], None]] = {
    "handle": handle_grammar,
    "query": query_analysis_of,
    "front": json_rpc_front,
    "git-index": git_index,
    "ignore": ignore_patterns,
    "config": config_editors,
    "hooks": hooks_input,
    "sessions": home_targets.session_files,
    "focus": home_targets.focus_files,
    "settings": home_targets.settings_file,
    "prompts": home_targets.prompts,
    "packs": home_targets.pack_records,
    "requests": request_targets.requests,
    "git-files": request_targets.git_files,
}


@cache
def seeds(target: str) -> tuple[bytes, ...]:
    """Initial texts: sound ones, and all that ever broke the target."""
    folder = Path(__file__).resolve().parent.parent / "corpus" / "inputs" / target
    return tuple(path.read_bytes() for path in sorted(folder.glob("*")))
