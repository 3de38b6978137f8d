"""Calls answered without the SDK: with the same answers as the SDK's, and only plain calls."""

from __future__ import annotations

import json
import os
import queue
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from auth_files import FILES
from gitrepo import GitRepo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_lines import HELLO, INITIALIZED, Lines, call, request

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.serve.call_answers import CallSlots, ClientCalls
from codelens.serve.first_turn import ALL, HANDSHAKE_VERSIONS
from codelens.serve.plain_calls import PlainCalls, plain_arguments
from codelens.serve.record_answers import answers_of
from codelens.serve.sdk_server import ToolCalls, sdk_server_for, tool
from codelens.serve.tool_arguments import normalized_arguments
from codelens.serve.tool_row import Argument
from codelens.serve.tool_table import ROWS

HANDLE = "src/auth.py#Session.validate"
ASKED: list[tuple[str, dict]] = [
    ("cl_search", {"query": "validate", "kinds": ["method"], "limit": 3}),
    ("cl_search", {"query": "(", "mode": "regex"}),
    ("cl_explore", {"task": "validate a session"}),
    ("cl_explore", {"task": "validate a session"}),
    ("cl_expand", {"handles": [HANDLE], "context": 1}),
    ("cl_expand", {"handles": ["src/none.py#Nothing"]}),
    ("cl_expand", {"handles": [HANDLE], "session": "named"}),
    ("cl_outline", {"target": "src/auth.py", "detail": "names"}),
    ("cl_map", {}),
    ("cl_references", {"target": HANDLE, "limit": 5}),
    ("cl_related", {"target": HANDLE, "direction": "in"}),
    ("cl_related", {"target": HANDLE, "ref": "no-such-ref"}),
    ("cl_impact", {"targets": [HANDLE], "format": "detailed"}),
    ("cl_save", {"name": "kept", "note": "a note", "handles": [HANDLE], "replace": True}),
    ("cl_load", {"query": "kept"}),
    ("cl_forget", {"expired": True}),
    ("cl_recover", {}),
    ("cl_current", {}),
    ("cl_branches", {"question": "diff", "spec": "HEAD"}),
    ("cl_diff", {"spec": "HEAD"}),
    ("cl_history", {"target": HANDLE}),
    ("cl_conflicts", {}),
    ("cl_index", {}),
    ("cl_index", {"action": "status"}),
    ("cl_prune", {}),
    ("cl_drop", {"view": "no-such-view"}),
    ("cl_search", {"query": "validate", "path": "relative"}),
    ("cl_search", {"query": "validate", "path": "/no/such/folder"}),
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(tmp_path / "home")) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = GitRepo.init(tmp_path / "repo")
    made.commit("first", FILES)
    return made


def plain_answers(calls: ClientCalls, asked: list[tuple[str, dict]]) -> list[dict]:
    said: queue.SimpleQueue[dict] = queue.SimpleQueue()
    plain = PlainCalls(calls, ALL, said.put)
    found: list[dict] = []
    for number, (name, arguments) in enumerate(asked, 1):
        taken = plain.take(number, {"name": name, "arguments": arguments}, has_roots=False)
        assert taken, (name, arguments)
        found.append(said.get(timeout=60))
    return found


def untimed(answers: object) -> str:
    """The printed answers, without durations, times of calls and the name of the connection."""
    changing = r"\d+ ms|\d{4}-\d\d-\d\d \d\d:\d\d|session [0-9a-f]{12}"
    return re.sub(changing, "", json.dumps(answers))


def of_process(engine: Engine, repo: GitRepo) -> ClientCalls:
    return ClientCalls.of_process(engine, str(repo.root), 60_000)


def one_by_one(calls: ClientCalls, version: str, asked: list[tuple[str, dict]]) -> list[dict]:
    """The SDK's answers; each call waits for the previous one."""
    server = sdk_server_for(calls, ALL)
    found: list[dict] = []
    for number, (name, arguments) in enumerate(asked, 1):
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize"}
        params = {"name": name, "arguments": arguments}
        made = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        opening = [{**hello, "params": {**HELLO, "protocolVersion": version}}]
        found.append(answers_of(server, [*opening, json.loads(INITIALIZED), made])[1])
    return found


def test_every_tool_is_asked() -> None:
    assert {name for name, _ in ASKED} == set(ROWS)


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_each_tool_answers_as_through_the_sdk(engine: Engine, repo: GitRepo, version: str) -> None:
    plain_answers(of_process(engine, repo), ASKED)
    asked = ASKED if version == HANDSHAKE_VERSIONS[-1] else ASKED[:1]
    plain = plain_answers(of_process(engine, repo), asked)
    assert untimed(plain) == untimed(one_by_one(of_process(engine, repo), version, asked))
    assert "a bug in codelens" not in json.dumps(plain)
    failures = [each["result"]["isError"] for each in plain]
    assert len(set(failures)) == (2 if len(asked) > 1 else 1)


def test_output_is_byte_identical(env: dict[str, str], repo: GitRepo) -> None:
    env = {**env, "CLAUDE_CODE_SESSION_ID": ""}
    message = call(2, "cl_search", query="validate é")
    lines = Lines(env, repo.root)
    assert lines.process.stdin and lines.process.stdout
    lines.ask(1, "initialize", HELLO)
    lines.send(INITIALIZED, message)
    lines.next()
    lines.send(message)
    plain = lines.process.stdout.readline()
    assert "resourceTemplates" in lines.ask(3, "resources/templates/list")["result"]
    lines.send(message)
    with_sdk = lines.process.stdout.readline()
    assert re.sub(rb"\d+ ms", b"", with_sdk) == re.sub(rb"\d+ ms", b"", plain)
    assert lines.end() == (0, b"")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 1200)
    | st.sampled_from(["", "null", "true", "auto", "Auto", "5", "[]", '["a"]', "a, b", "src"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("a"), inner, max_size=1),
    max_leaves=3,
)


def value_for(argument: Argument) -> st.SearchStrategy[object]:
    """Mostly of the declared type, at and around its limits."""
    number = st.integers(-1, 3) | st.integers((argument.most or 9) - 1, (argument.most or 9) + 1)
    text = st.sampled_from([*argument.choices, "src/a.py", ""])
    of_type: dict[str, st.SearchStrategy[object]] = {
        "number": number, "truth": st.booleans(), "text": text,
    }  # fmt: skip
    return of_type.get(argument.takes, st.lists(text, max_size=4)) | VALUES


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict]:
    row = ROWS[draw(st.sampled_from(ALL))]
    kept = draw(st.sets(st.sampled_from([each.name for each in row.arguments])))
    must = {each.name for each in row.arguments if each.default is None}
    names = kept | (must if draw(st.booleans()) else set())
    given = {name: draw(value_for(row.argument(name))) for name in sorted(names)}
    return row.name, given | ({"unknown": 1} if draw(st.integers(0, 9)) == 0 else {})


@pytest.fixture(scope="module")
def registered() -> dict:
    home = Settings(Path(os.devnull))
    made = ClientCalls.of_process(Engine(home), None, 0)
    bare = ToolCalls(made.answers, made.worktrees, lambda _: None, CallSlots())  # type: ignore[arg-type, return-value]
    return {name: tool(row, bare) for name, row in ROWS.items()}


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(calls())
def test_arguments_are_taken_only_as_the_sdk_takes_them(
    registered: dict, made: tuple[str, dict]
) -> None:
    name, arguments = made
    plain = plain_arguments(ROWS[name], arguments)
    if plain is None:
        return
    sdk_tool = registered[name]
    taken = sdk_tool.fn_metadata.validate_arguments(
        normalized_arguments(sdk_tool.parameters, arguments)
    )
    assert plain == taken
    assert json.dumps(plain) == json.dumps({key: taken[key] for key in plain})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cl_search", {"query": 404}),
        ("cl_search", {"query": "a", "limit": "5"}),
        ("cl_search", {"query": "a", "limit": True}),
        ("cl_search", {"query": "a", "limit": 1000}),
        ("cl_search", {"query": "a", "mode": "Text"}),
        ("cl_search", {"query": "a", "kinds": "class"}),
        ("cl_search", {"query": "a", "kinds": None}),
        ("cl_search", {"query": "a", "more": 1}),
        ("cl_search", {}),
        ("cl_expand", {"handles": []}),
        ("cl_expand", {"handles": [1]}),
        ("cl_related", {"target": "a", "kinds": ["none"]}),
    ],
)
def test_odd_arguments_are_left_to_the_sdk(name: str, arguments: dict) -> None:
    assert plain_arguments(ROWS[name], arguments) is None


def imported(lines: Lines) -> bool:
    return "pydantic_core" in Path(f"/proc/{lines.process.pid}/maps").read_text()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")
def test_the_sdk_is_imported_only_for_calls_that_need_it(
    env: dict[str, str], repo: GitRepo
) -> None:
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    lines.send(INITIALIZED)
    for number, (name, arguments) in enumerate(ASKED[:10], 2):
        assert "result" in lines.call(number, name, **arguments)
    assert lines.ask(20, "ping")["result"] == {}
    assert not imported(lines)
    # An argument of the wrong type, and a tool that is not listed.
    assert "validate" in json.dumps(lines.call(21, "cl_search", query="validate", limit="5"))
    assert imported(lines)
    assert "not a tool of this server" in json.dumps(lines.call(22, "cl_prune"))
    assert lines.end() == (0, b"")


def test_a_client_with_folders_is_asked_for_them(env: dict[str, str], repo: GitRepo) -> None:
    lines = Lines(env, Path("/"))
    lines.ask(1, "initialize", {**HELLO, "capabilities": {"roots": {}}})
    # The path alone is enough.
    lines.send(INITIALIZED)
    named = lines.call(2, "cl_search", query="validate", path=str(repo.root))
    assert "src/auth.py" in json.dumps(named)
    lines.send(call(3, "cl_search", query="validate"))
    request = lines.next()
    assert request["method"] == "roots/list"
    roots = {"roots": [{"uri": repo.root.as_uri()}]}
    lines.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": roots}).encode())
    assert "src/auth.py" in json.dumps(lines.next())
    assert lines.end() == (0, b"")


def test_a_call_is_cancelled_before_and_after_the_sdk_is_there(
    env: dict[str, str], tmp_path: Path
) -> None:
    repo = GitRepo.init(tmp_path / "slow")
    lamps = {f"src/part{at}.txt": f"part {at}\n{'a' * 40}!\n" for at in range(8)}
    repo.commit("first", {**FILES, **lamps})
    lines = Lines(env, repo.root)
    lines.ask(1, "initialize", HELLO)
    lines.send(INITIALIZED)
    lines.call(2, "cl_search", query="validate")
    gave_up = "notifications/cancelled"
    for number, with_sdk in ((3, False), (5, True)):
        lines.send(call(number, "cl_search", query="(a+)+$", mode="regex"))
        if with_sdk:
            lines.send(request(10, "resources/templates/list"))
            # If importing the SDK takes longer than the call may, the call is answered first.
            while lines.next()["id"] != 10:
                pass
        said = {"jsonrpc": "2.0", "method": gave_up, "params": {"requestId": number}}
        lines.send(json.dumps(said).encode())
        # A search for the word itself cancels nothing, and gets one answer.
        assert lines.call(number + 1, "cl_search", query=gave_up)["id"] == number + 1
    assert lines.ask(20, "ping")["id"] == 20
    assert lines.end() == (0, b"")
