"""A fake model: the first request makes it call a tool; it repeats the result it receives.

Speaks the parts of four protocols that the tested clients need: Anthropic Messages, OpenAI
Responses, OpenAI Chat Completions and Gemini, each streamed or whole.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

SAID = "THE TOOL SAID: "


class Call(NamedTuple):
    """The call that the model makes once a tool with this name suffix is offered."""

    tool: str
    arguments: dict[str, Any]


class Model:
    """One endpoint; `asked` holds the tools that each request offered, `bodies` all requests.

    `tokens` is the length of each request that it reports.
    With `steps` it makes these calls one after the other; a step without a tool runs here.
    """

    def __init__(self, call: Call, steps: Sequence[Call | Callable[[], None]] = ()) -> None:
        self.call = call
        self.steps = deque(steps)
        self.results: list[str] = []
        self.asked: list[list[str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.port = 0
        self.tokens = 5

    def wanted(self, offered: list[str]) -> str | None:
        self.asked.append(offered)
        return next((name for name in offered if name.endswith(self.call.tool)), None)

    def called(self, offered: list[str], replies: list[str]) -> tuple[str, dict[str, Any]] | None:
        """The next call; a client may hide its tools behind a search tool."""
        if self.steps or self.results:
            return self._next_step(offered, replies)
        name = self.wanted(offered)
        if name is not None:
            return None if replies else (name, self.call.arguments)
        if "tool_search" not in offered or len(replies) > 1:
            return None
        if not replies:
            return "tool_search", {"query": "search code"}
        found = re.search(rf"\w*{self.call.tool}", replies[0])
        return (
            ("tool_call", {"name": found[0], "arguments": self.call.arguments}) if found else None
        )

    def _next_step(
        self, offered: list[str], replies: list[str]
    ) -> tuple[str, dict[str, Any]] | None:
        self.results = replies or self.results
        call: Call | None = None
        while self.steps and call is None:
            step = self.steps[0]
            if isinstance(step, Call):
                call = step
            else:
                self.steps.popleft()
                step()
        if call is None:
            return None
        name = next((name for name in offered if name.endswith(call.tool)), None)
        if name is None:
            return None  # The client asks for something else, such as a title.
        self.steps.popleft()
        return name, call.arguments


@contextmanager
def serving(call: Call, steps: Sequence[Call | Callable[[], None]] = ()) -> Iterator[Model]:
    """Serves a model on a local port."""
    model = Model(call, steps)
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_: object) -> None:
        """Silences stderr."""

    def do_HEAD(self) -> None:
        self._whole({})

    def do_GET(self) -> None:
        self._whole({"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        self.model.bodies.append(body)
        path = self.path.partition("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self._whole({"input_tokens": 10, "totalTokens": 10})
        elif path.endswith("/messages"):
            self._anthropic(body)
        elif path.endswith("/responses"):
            self._responses(body)
        elif path.endswith("/chat/completions"):
            self._chat(body)
        elif "enerateContent" in path:
            self._gemini(body, "stream" in path)
        else:
            self._whole({})

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        return gzip.decompress(raw) if "gzip" in self.headers.get("content-encoding", "") else raw

    def _whole(self, answer: object) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: list[Any], *, named: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            if named:
                self.wfile.write(f"event: {event['type']}\n".encode())
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"data: {data}\n\n".encode())
        self.close_connection = True

    def _anthropic(self, body: dict[str, Any]) -> None:
        results = [
            part
            for message in body.get("messages", [])
            if isinstance(message.get("content"), list)
            for part in message["content"]
            if part.get("type") == "tool_result"
        ]
        offered = [tool.get("name", "") for tool in body.get("tools", [])]
        call = self.model.called(offered, [json.dumps(one.get("content")) for one in results])
        calls = call is not None
        block: dict[str, Any] = (
            {"type": "tool_use", "id": f"toolu_{len(results)}", "name": call[0], "input": call[1]}
            if call is not None
            else {"type": "text",
                  "text": SAID + json.dumps(results[-1].get("content") if results else None)}
        )  # fmt: skip
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": [block], "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": self.model.tokens, "output_tokens": 5},
        }  # fmt: skip
        if not body.get("stream"):
            self._whole(message)
            return
        if calls:
            opened = {**block, "input": {}}
            given = json.dumps(block["input"])
            delta = {"type": "input_json_delta", "partial_json": given}
        else:
            opened, delta = (
                {"type": "text", "text": ""},
                {"type": "text_delta", "text": block["text"]},
            )
        stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        begun = {**message, "content": [], "stop_reason": None}
        self._stream(
            [
                {"type": "message_start", "message": begun},
                {"type": "content_block_start", "index": 0, "content_block": opened},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
                {"type": "message_stop"},
            ],
            named=True,
        )

    def _responses(self, body: dict[str, Any]) -> None:
        """Codex offers a server's tools as a namespace that contains them."""
        spaces: dict[str, str | None] = {}
        for tool in body.get("tools", []):
            spaces.setdefault(tool.get("name") or "", None)
            for inner in tool.get("tools") or []:
                spaces[inner.get("name") or ""] = tool.get("name")
        results = [
            item
            for item in body.get("input", [])
            if isinstance(item, dict) and str(item.get("type")).endswith("_output")
        ]
        call = self.model.called(list(spaces), [json.dumps(one.get("output")) for one in results])
        item: dict[str, Any]
        if call is not None:
            count = len(results)
            item = {
                "type": "function_call", "id": f"fc_{count}", "call_id": f"call_{count}",
                "name": call[0], "arguments": json.dumps(call[1]), "status": "completed",
            }  # fmt: skip
            if spaces.get(call[0]):
                item["namespace"] = spaces[call[0]]
        else:
            text = SAID + json.dumps(results[-1].get("output") if results else None)
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item = {
                "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": content,
            }  # fmt: skip
        answer = {
            "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
            "model": body.get("model"), "output": [item],
            "usage": {
                "input_tokens": self.model.tokens, "output_tokens": 5,
                "total_tokens": self.model.tokens + 5,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }  # fmt: skip
        if not body.get("stream"):
            self._whole(answer)
            return
        created = {**answer, "status": "in_progress", "output": []}
        self._stream(
            [
                {"type": "response.created", "response": created},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": answer},
            ],
            named=True,
        )

    def _chat(self, body: dict[str, Any]) -> None:
        offered = [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
        replies = [one for one in body.get("messages", []) if one.get("role") == "tool"]
        call = self.model.called(offered, [json.dumps(one.get("content")) for one in replies])
        message: dict[str, Any]
        if call is not None:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            made = {
                "index": 0,
                "id": f"call_{len(replies)}",
                "type": "function",
                "function": function,
            }
            message = {"role": "assistant", "content": None, "tool_calls": [made]}
        else:
            text = SAID + json.dumps(replies[-1].get("content") if replies else None)
            message = {"role": "assistant", "content": text}
        reason = "stop" if call is None else "tool_calls"
        base = {"id": "c1", "created": 1, "model": body.get("model", "fake")}
        tokens = self.model.tokens
        usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._whole({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        chunk = {**base, "object": "chat.completion.chunk"}
        said = {"index": 0, "delta": message, "finish_reason": None}
        ended = {"index": 0, "delta": {}, "finish_reason": reason}
        self._stream(
            [{**chunk, "choices": [said]}, {**chunk, "choices": [ended], "usage": usage}, "[DONE]"]
        )

    def _gemini(self, body: dict[str, Any], stream: bool) -> None:
        offered = [
            one.get("name", "")
            for tool in body.get("tools") or []
            for one in tool.get("functionDeclarations", [])
        ]
        results = [
            part["functionResponse"]
            for content in body.get("contents", [])
            for part in content.get("parts", [])
            if "functionResponse" in part
        ]
        mime = (body.get("generationConfig") or {}).get("responseMimeType")
        call = (
            None
            if mime == "application/json"
            else self.model.called(offered, [json.dumps(r) for r in results])
        )
        part: dict[str, Any]
        if mime == "application/json":
            # Gemini CLI asks the model about the turn itself: who speaks next, which model to take.
            judged = {"reasoning": "x", "next_speaker": "user", "model_choice": "flash",
                      "complexity_reasoning": "x", "complexity_score": 1}  # fmt: skip
            part = {"text": json.dumps(judged)}
        elif call is not None:
            part = {"functionCall": {"name": call[0], "args": call[1]}}
        else:
            part = {"text": SAID + json.dumps(results[-1] if results else None)}
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": self.model.tokens, "candidatesTokenCount": 5,
                "totalTokenCount": self.model.tokens + 5,
            },
            "modelVersion": "fake",
        }  # fmt: skip
        if stream:
            self._stream([answer])
        else:
            self._whole(answer)
