"""The first turn without the SDK: it answers the same as the SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
from mcp_lines import ENVELOPE, HELLO
from mcp_types import InitializeRequestParams, methods
from pydantic import ValidationError

from codelens.serve.first_turn import ALL, CORE, HANDSHAKE_VERSIONS, RECORD, Front, known_answers
from codelens.serve.record_answers import (
    handshake_requests,
    modern_requests,
    recorded,
    sdk_answers,
)

ANSWERS = known_answers(CORE)


def quick(messages: list[dict], names: tuple[str, ...] = CORE) -> list[dict]:
    front = Front(known_answers(names))
    replies = [front.answer(json.dumps(message) + "\n") for message in messages]
    assert None not in replies, "a first turn that waits for the SDK"
    return [reply for reply in replies if reply]


@pytest.mark.slow
def test_the_record_equals_the_sdks_current_answers() -> None:
    assert json.loads(RECORD.read_text("utf-8")) == recorded(), (
        "a tool, a prompt, the version or the SDK changed: run "
        "python -m codelens.serve.record_answers"
    )


@pytest.mark.slow
@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "2026-07-28", "1999-01-01", "later"])
@pytest.mark.parametrize("names", [CORE, ALL, ("cl_search", "cl_map")], ids=["core", "all", "two"])
def test_a_handshake_is_answered_as_the_sdk_does(version: str, names: tuple[str, ...]) -> None:
    turn = handshake_requests(version)
    assert quick(turn, names) == sdk_answers(turn, names)


@pytest.mark.slow
@pytest.mark.parametrize("names", [CORE, ALL], ids=["core", "all"])
def test_a_modern_client_is_answered_as_the_sdk_does(names: tuple[str, ...]) -> None:
    turn = modern_requests()
    assert quick(turn, names) == sdk_answers(turn, names)


def request(method: str, params: object = None, **rest: object) -> str:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **rest}
    return json.dumps(message if params is None else {**message, "params": params})


ODD = [
    "",
    "\n",
    "{",
    "[]",
    "[" * 100_000,
    "null",
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":NaN}',
    request("initialize"),
    request("initialize", {}),
    request("initialize", []),
    request("initialize", {**HELLO, "_meta": {}}),
    request("initialize", {**HELLO, "capabilities": None}),
    request("initialize", {**HELLO, "capabilities": {"roots": True}}),
    request("initialize", {**HELLO, "capabilities": {"roots": {"listChanged": 1}}}),
    request("initialize", {**HELLO, "protocolVersion": 20250618}),
    request("initialize", {**HELLO, "clientInfo": {"name": "no version"}}),
    request("initialize", HELLO, id=None),
    request("initialize", HELLO, id=1.5),
    request("initialize", HELLO, id=True),
    request("initialize", HELLO, jsonrpc="1.0"),
    request("initialize", HELLO, more=1),
    request("ping"),
    request("tools/list"),
    request("server/discover"),
    request("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
    request("server/discover", {"_meta": {**ENVELOPE, "io.modelcontextprotocol/else": 1}}),
    request("initialize", {"_meta": ENVELOPE}),
    request("ping", {"_meta": ENVELOPE}),
    request("tools/call", {"name": "cl_current", "arguments": {}}),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
]


@pytest.mark.parametrize("line", ODD)
def test_unusual_requests_are_left_to_the_sdk(line: str) -> None:
    front = Front(ANSWERS)
    assert front.answer(line) is None
    assert front.replayed == []


LATER = [
    request("initialize", HELLO),
    request("tools/list", {"cursor": "x"}),
    request("tools/list", {"_meta": {"progressToken": 1.5}}),
    request("tools/list", {"_meta": ENVELOPE}),
    request("resources/templates/list"),
    request("logging/setLevel", {"level": "debug"}),
    request("tools/call", {"name": "cl_current", "arguments": {}}),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":1}}',
]


@pytest.mark.parametrize("line", LATER)
def test_after_a_handshake_unknown_methods_are_left_to_the_sdk(line: str) -> None:
    front = Front(ANSWERS)
    assert front.answer(request("initialize", HELLO))
    assert front.answer(line) is None
    assert len(front.replayed) == 1


def test_a_handshake_after_a_modern_request_is_left_to_the_sdk() -> None:
    front = Front(ANSWERS)
    assert front.answer(request("server/discover", {"_meta": ENVELOPE}))
    assert front.answer(request("initialize", HELLO)) is None
    assert front.opened == 1


class Noted:
    """Accepts and records each call."""

    def __init__(self) -> None:
        self.taken: list[tuple[object, object, bool]] = []
        self.cancelled: list[object] = []

    def take(self, identity: str | int, params: Mapping[str, Any], *, has_roots: bool) -> bool:
        self.taken.append((identity, params["name"], has_roots))
        return True

    def cancel(self, identity: str | int) -> None:
        self.cancelled.append(identity)


CALL = {"name": "cl_current", "arguments": {}}
STOP = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'


@pytest.mark.parametrize("capabilities", [{}, {"roots": {}}])
def test_a_call_after_a_handshake_is_handed_on_and_cancelled(capabilities: dict) -> None:
    front, calls = Front(ANSWERS), Noted()
    front.calls = calls
    assert front.answer(request("tools/call", CALL)) is None
    assert not front.cancels(STOP % 7)
    assert front.answer(request("initialize", {**HELLO, "capabilities": capabilities}))
    assert front.answer(request("tools/call", {**CALL, "_meta": {"progressToken": 1}}, id=7)) == {}
    assert calls.taken == [(7, "cl_current", "roots" in capabilities)]
    assert front.cancels(STOP % 7)
    assert calls.cancelled == [7]
    # The SDK sees neither of them.
    assert len(front.replayed) == 1


@pytest.mark.parametrize(
    "params",
    [
        {**CALL, "task": {}},
        {**CALL, "_meta": None},
        {**CALL, "_meta": {"progressToken": 1.5}},
        {**CALL, "_meta": ENVELOPE},
        [],
    ],
)
def test_an_odd_call_is_not_handed_on(params: object) -> None:
    front, calls = Front(ANSWERS), Noted()
    front.calls = calls
    assert front.answer(request("initialize", HELLO))
    assert front.answer(request("tools/call", params)) is None
    for odd in ("1.5", "null", "[7]"):
        assert not front.cancels(STOP % odd)
    # A search for the word cancels nothing.
    message = request("tools/call", {"name": "cl_search", "arguments": {"query": STOP % 7}}, id=8)
    assert not front.cancels(message)
    assert (calls.taken, calls.cancelled) == ([], [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.just({}),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["form", "url", "tools", "context", "listChanged", "requests", "x"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)
CAPABILITIES = st.dictionaries(
    st.sampled_from(
        ["roots", "sampling", "elicitation", "tasks", "experimental", "extensions", "else"]
    ),
    JSON,
    max_size=3,
)
INFO = st.fixed_dictionaries(
    {"name": st.text(max_size=3), "version": st.text(max_size=3)},
    optional={"title": JSON, "description": JSON, "websiteUrl": JSON, "icons": JSON, "x": JSON},
)


def sdk_takes(params: dict) -> bool:
    try:
        methods.validate_client_request("initialize", "2025-11-25", params)
        InitializeRequestParams.model_validate(params, by_name=False)
    except ValidationError:
        return False
    return True


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(CAPABILITIES, INFO)
def test_no_handshake_is_taken_that_the_sdk_refuses(capabilities: dict, info: dict) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info}
    if Front(ANSWERS).answer(request("initialize", params)) is not None:
        assert sdk_takes(params)


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(CAPABILITIES, INFO, st.dictionaries(st.sampled_from(["progressToken", "x"]), JSON))
def test_no_envelope_is_taken_that_the_sdk_refuses(
    capabilities: dict, info: dict, more: dict
) -> None:
    meta = {
        **ENVELOPE,
        "io.modelcontextprotocol/clientInfo": info,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        **more,
    }
    params = {"_meta": meta}
    if Front(ANSWERS).answer(request("tools/list", params)) is None:
        return
    route = classify_inbound_request({"method": "tools/list", "params": params})
    assert isinstance(route, InboundModernRoute)
    methods.validate_client_request("tools/list", "2026-07-28", params)


@pytest.mark.parametrize(
    "capabilities",
    [
        {"roots": {"listChanged": True}},
        {"roots": {}, "sampling": {}, "elicitation": {}},
        {"elicitation": {"form": {"applyDefaults": True}, "url": {}}},
        {"experimental": {"x": {"y": [1]}}, "extensions": {"io.x/ui": {"mimeTypes": ["a"]}}},
        {"tasks": {"list": {}, "cancel": {}}, "sampling": {"tools": {}, "context": {}}},
    ],
)
def test_real_client_capabilities_are_accepted_at_once(capabilities: dict) -> None:
    params = {**HELLO, "capabilities": capabilities}
    assert Front(ANSWERS).answer(request("initialize", params)) is not None
    assert sdk_takes(params)


def test_the_core_tools_and_instructions_cost_at_most_2600_tokens() -> None:
    """By the usual estimate for English and JSON: four characters a token."""
    listed = json.dumps(ANSWERS.handshake["tools/list"]["tools"], separators=(",", ":"))
    instructions = ANSWERS.handshake["initialize"]["instructions"]
    assert len(listed + instructions) / 4 <= 2600
