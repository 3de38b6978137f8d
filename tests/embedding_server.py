"""A loopback server that speaks the protocols of all providers, and misbehaves on request.

Vectors are bags of words: each word adds to one number that its hash selects. The same text always
has the same vector, and texts with common words are similar.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from codelens.meaning.providers.provider_registry import PROVIDERS

DIMENSION = 48
KEY = "a-good-key"
KINDS = {
    "voyage": ["query", "document"],
    "gemini": ["CODE_RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"],
}
"""What the providers that mark a query and a document send for each."""
NO_TOKENS = {"gemini"}
"""The providers whose answers do not count tokens."""
_WORD = re.compile(r"[a-z]+")


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    numbers = [0.0] * dimension
    numbers[0] = 0.25
    for word in _WORD.findall(text.lower()):
        digest = hashlib.sha256(word.encode()).digest()
        numbers[1 + int.from_bytes(digest[:4], "big") % (dimension - 1)] += 1.0
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


class EmbeddingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[list[str]] = []
        """The texts of each request with a valid key."""
        self.kinds: list[str] = []
        self.misbehaviour = ""
        self.fails_at = ""
        """Suffix of the paths at which it misbehaves; empty: all."""
        self.times = 0
        """The number of requests at which it still misbehaves; -1: all."""
        self.dimension = DIMENSION
        self.same_words: dict[str, str] = {}
        """Words, each with a synonym."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def endpoint(self, provider: str) -> str:
        return self.url + urlsplit(PROVIDERS[provider].endpoint).path

    def misbehave(self, how: str, times: int = -1) -> None:
        self.misbehaviour, self.times = how, times

    @property
    def texts(self) -> list[str]:
        return [text for request in self.received for text in request]

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores clients that hang up on a misbehaving server."""


class Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        how = self.server.misbehaviour
        if how and not self.path.endswith(self.server.fails_at):
            how = ""
        if how:
            self.server.times -= 1
            if self.server.times == 0:
                self.server.misbehaviour = ""
        ollama = self.path == "/api/embed"
        key = self.headers.get("x-goog-api-key") or self.headers.get("Authorization", "")
        if not ollama and not key.endswith(KEY):
            return self.answer(401, {"error": {"message": "no such key", "code": 401}})
        texts = self.texts_of(body)
        self.server.received.append(texts)
        self.server.kinds.append(self.kind_of(body))
        if how.isdecimal():
            return self.answer(
                int(how), {"error": {"message": f"made to fail with {how}", "code": int(how)}}
            )
        if how == "hang":
            time.sleep(3.0)
        if self.path.endswith("/rerank"):
            return self.answer(200, self.scores_of(texts, how), cut=how == "cut off")
        vectors: list[list[float]] = [self.vector(text) for text in texts]
        if how == "nan":
            vectors[0][0] = math.nan
        if how == "wrong dimension":
            vectors[-1] = vectors[-1][:-1]
        if how == "too few":
            del vectors[-1]
        if how == "another form":
            return self.answer(200, {"result": "fine"})
        return self.answer(200, self.answer_of(vectors), cut=how == "cut off")

    def scores_of(self, texts: list[str], how: str) -> dict:
        """How often each text contains `cancel`, the best first."""
        scores: list[float] = [text.count("cancel") / 100 for text in texts[1:]]
        if how == "nan":
            scores[0] = math.nan
        rows = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        rows.sort(key=lambda row: -row["relevance_score"])
        if how == "too few":
            del rows[-1]
        if how == "another form":
            return {"result": "fine"}
        return {"object": "list", "data": rows, "model": "m", "usage": {"total_tokens": 9}}

    def vector(self, text: str) -> list[float]:
        same = self.server.same_words
        words: list[str] = _WORD.findall(text.lower())
        return vector_of(" ".join(same.get(word, word) for word in words), self.server.dimension)

    def texts_of(self, body: dict) -> list[str]:
        if "documents" in body:
            return [body["query"], *body["documents"]]
        if "requests" in body:
            return [request["content"]["parts"][0]["text"] for request in body["requests"]]
        return list(body["input"])

    def kind_of(self, body: dict) -> str:
        if "requests" in body:
            return body["requests"][0].get("taskType", "")
        return body.get("input_type", "")

    def answer_of(self, vectors: list[list[float]]) -> dict:
        if ":batchEmbedContents" in self.path:
            return {"embeddings": [{"values": vector} for vector in vectors]}
        if self.path == "/api/embed":
            return {"model": "m", "embeddings": vectors, "prompt_eval_count": 7 * len(vectors)}
        rows = [
            {"object": "embedding", "index": at, "embedding": vector}
            for at, vector in enumerate(vectors)
        ]
        usage = {"total_tokens": 7 * len(vectors), "prompt_tokens": 7 * len(vectors)}
        return {"object": "list", "data": rows, "model": "m", "usage": usage}

    def answer(self, status: int, value: dict, *, cut: bool = False) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status in {429, 500}:
            self.send_header("Retry-After", "0")
        if cut:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
