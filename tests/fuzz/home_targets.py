"""Files of the home, and input from other programs: functions of any bytes, as in `targets.py`."""

from __future__ import annotations

import io
import json
import logging
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from codelens import config
from codelens.errors import CodelensError
from codelens.focus import focus_settings, forest_file, inspection
from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import path_of, take_prompt
from codelens.hooks.hook_input import as_written, tamed
from codelens.secret_masking import masked
from codelens.store.facts import contents, resolution_facts
from codelens.store.packs import MalformedRecord, PackReader, decoded, encoded
from codelens.store.saved.pins import pinned_scopes
from codelens.trail import session_marks, trail_log
from codelens.trail.sent_log import SentBody, SentLog

_NOW = 1_790_000_000
"""In September 2026."""
_PLACE = Checkout("/x", "/x/.git", "main")


@contextmanager
def _home() -> Generator[str]:
    """A folder for one input; reports about it are not shown."""
    logging.disable()
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield folder
    finally:
        logging.disable(logging.NOTSET)


def _put(home: str, name: str, data: bytes) -> str:
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(data)
    return path


def session_files(data: bytes) -> None:
    """Trail, sent code and marks: damaged lines are skipped, and added ones are read back."""
    with _home() as home:
        _put(home, "trails/a-2026-09.jsonl", data)
        entry = trail_log.TrailEntry(_NOW, "one", "b", "main", "edited", "x", ("a.py",))
        trail_log.entries(home, "a", now=_NOW)
        assert trail_log.append(home, "a", entry)
        last = trail_log.entries(home, "a", now=_NOW)[-1:] + trail_log.latest(home, "a", since=0)
        assert any(row.handles == ("a.py",) for row in last), last
        sent = SentLog(home, "a", "b", "c")
        _put(home, f"trails/{Path(sent._path).name}", data)
        sent.read(_NOW)
        sent.add([SentBody("a.py", "a.py#f", ((1, "def f(): ..."),))], _NOW)
        assert sent.read(_NOW).start_of("a.py", [(1, "def f(): ...")]) == 1
        _put(home, "trails/sessions-a-b.json", data)
        session_marks.marks(home, "a", "b")


def focus_files(data: bytes) -> None:
    """A forest that was read can be shown and written, and reads back unchanged."""
    settings = FocusSettings()
    with _home() as home:
        path = _put(home, path_of("", _PLACE, settings, "").lstrip("/"), data)
        state = forest_file.load(path)
        inspection.inspected(state, settings, _NOW)
        forest_file.save(path, state._replace(root="/x"))
        again = forest_file.load(path)
        assert not again.note, again.note
        assert again.forest.nodes.keys() == state.forest.nodes.keys()
        Path(path).write_bytes(data)
        turn = take_prompt(home, _PLACE, "paint the lantern green", settings, now=_NOW)
        assert not forest_file.load(path).note, turn
        _put(home, "focus/switches.json", data)
        if focus_settings.is_on(home, "a"):
            assert isinstance(json.loads(data), dict), "what may have been turned off is off"


def settings_file(data: bytes) -> None:
    """Any settings file yields settings; damaged ones prune and count nothing."""
    with _home() as home:
        _put(home, "config.toml", data)
        settings = config.load({}, Path(home))
        assert settings.home == Path(home)
        assert not (settings.damage and settings.usage)
        with suppress(CodelensError):
            focus_settings.load_settings(home)
            focus_settings.trail_is_on(home)
        _put(home, "pins.json", data)
        with suppress(CodelensError):
            pinned_scopes(Path(home, "pins.json"))


def prompts(data: bytes) -> None:
    """No text opens or closes the tags that hosts put around it; any prompt is accepted."""
    text = data.decode("utf-8", "surrogateescape")
    for tag in ("hook_context", "system-reminder"):
        assert f"<{tag}>" not in tamed(text)
        assert f"</{tag}>" not in tamed(text)
    assert len(as_written(text)) <= len(text) + 1
    masked(text)
    with _home() as home:
        turn = take_prompt(home, _PLACE, text, FocusSettings(), now=_NOW)
        assert not turn.notes, turn.notes


def pack_records(data: bytes) -> None:
    """A pack is refused in plain words; accepted facts can be read and packed again."""
    with suppress(CodelensError):
        for record in PackReader(io.BytesIO(data), "a pack").records():
            _record(record)
    _record(data)


def _record(record: bytes) -> None:
    try:
        content = decoded(record)
    except MalformedRecord:
        return
    facts = content.facts
    assert isinstance(facts, resolution_facts.PackedFacts)
    assert decoded(encoded(content)) == content
    resolution_facts.unpacked(facts.flow, contents._places(facts.references))
    contents._unpack_imports(facts.imports)
    assert len(facts.symbols) == len(facts.symbol_rows)
