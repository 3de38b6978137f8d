"""The requests that codelens makes of Milvus, whichever way they go."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

TOKEN_VARIABLE = "MILVUS_TOKEN"  # noqa: S105 (the variable's name)
MOST_RESULTS = 16_384
"""Of one request: Milvus gives no more (its limit `topK`)."""
MOST_TERM_BYTES = 65_535
"""Of a VARCHAR."""
RRF = 60
"""Cormack, Clarke, Buettcher: Reciprocal Rank Fusion, SIGIR 2009; also Milvus' own default."""
HEX_CHARS = 32
"""Of a text's hash, the primary key."""


class Place(NamedTuple):
    """A collection, and where it is."""

    url: str
    """`http://` or `https://`: gRPC; `rest+http://` or `rest+https://`: REST."""
    token: str
    collection: str
    dimension: int
    hybrid: bool
    """Rows have their terms, too, which the store ranks by BM25."""
    timeout_s: float
    """Of a request."""


Row = Mapping[str, object]
Scored = Sequence[tuple[str, float]]
"""Primary keys with their scores, best first."""


class MilvusCalls(Protocol):
    """Each is one request, sent once; whatever it raises is told as a `VectorStoreError`."""

    def exists(self) -> bool:
        """Whether the collection is there."""
        ...

    def create(self) -> None:
        """Make the collection, with an index that compares every row, and load it."""
        ...

    def load(self) -> None:
        """Make it searchable; it need not be after the store was started anew."""
        ...

    def collections(self) -> Sequence[str]:
        """The names of all collections there are."""
        ...

    def drop(self) -> None:
        """Remove the collection."""
        ...

    def upsert(self, rows: Sequence[Row]) -> None:
        """Store rows; those with the same key are replaced."""
        ...

    def delete(self, only: str) -> None:
        """Remove the rows that a filter chooses."""
        ...

    def query(self, only: str, limit: int) -> Sequence[str]:
        """The keys that a filter chooses."""
        ...

    def search(self, vector: Sequence[float], only: str, limit: int) -> Scored:
        """Rows that a filter chooses, by their product with a vector."""
        ...

    def hybrid(self, vector: Sequence[float], terms: str, only: str, limit: int) -> Scored:
        """The same, by reciprocal ranks of the product and of BM25 over the whole collection."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


# Milvus and Zilliz over REST (version 2): nothing to install, and no 2 s of imports a process.

SCHEME = "rest+"
_MOST_BYTES = 256 * 1024 * 1024
"""Of an answer; 16,384 keys with scores are 1 MB."""


class RestRefusal(Exception):
    """An answer that has an error in it.

    Args:
        code: as Milvus has it, or the status of HTTP.
        message: what it says.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


class RestCalls:
    """`MilvusCalls` by the standard library; each request has a connection of its own."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._base = f"{place.url.removeprefix(SCHEME).rstrip('/')}/v2/vectordb"

    def exists(self) -> bool:
        """See `MilvusCalls`."""
        return bool(self._asked("collections/has")["has"])

    def create(self) -> None:
        """See `MilvusCalls`."""
        fields: list[dict[str, object]] = [
            _field("text", "VarChar", max_length=HEX_CHARS) | {"isPrimary": True},
            _field("vector", "FloatVector", dim=self._place.dimension),
        ]
        indexes = [_index("vector", "FLAT", "IP")]
        functions: list[dict[str, object]] = []
        if self._place.hybrid:
            fields += [
                _field("terms", "VarChar", max_length=MOST_TERM_BYTES, enable_analyzer=True),
                _field("sparse", "SparseFloatVector"),
            ]
            functions.append({
                "name": "bm25", "type": "BM25", "inputFieldNames": ["terms"],
                "outputFieldNames": ["sparse"], "params": {},
            })  # fmt: skip
            indexes.append(_index("sparse", "SPARSE_INVERTED_INDEX", "BM25"))
        schema = {
            "autoId": False, "enableDynamicField": False, "fields": fields, "functions": functions
        }  # fmt: skip
        # `Strong`: a search sees what was stored before it.
        self._asked(
            "collections/create", schema=schema, indexParams=indexes,
            params={"consistencyLevel": "Strong"},
        )  # fmt: skip

    def load(self) -> None:
        """See `MilvusCalls`."""
        self._asked("collections/load")

    def collections(self) -> Sequence[str]:
        """See `MilvusCalls`."""
        return list(self._asked("collections/list"))

    def drop(self) -> None:
        """See `MilvusCalls`."""
        self._asked("collections/drop")

    def upsert(self, rows: Sequence[Row]) -> None:
        """See `MilvusCalls`."""
        self._asked("entities/upsert", data=list(rows))

    def delete(self, only: str) -> None:
        """See `MilvusCalls`."""
        self._asked("entities/delete", filter=only)

    def query(self, only: str, limit: int) -> Sequence[str]:
        """See `MilvusCalls`."""
        rows = self._asked("entities/query", filter=only, outputFields=["text"], limit=limit)
        return [row["text"] for row in rows]

    def search(self, vector: Sequence[float], only: str, limit: int) -> Scored:
        """See `MilvusCalls`."""
        return _scored(self._asked(
            "entities/search", data=[list(vector)], annsField="vector", filter=only, limit=limit,
            outputFields=["text"], searchParams={"metricType": "IP"},
        ))  # fmt: skip

    def hybrid(self, vector: Sequence[float], terms: str, only: str, limit: int) -> Scored:
        """See `MilvusCalls`."""
        ways = [([list(vector)], "vector", "IP"), ([terms], "sparse", "BM25")]
        search = [
            {
                "data": data, "annsField": field, "metricType": metric, "filter": only,
                "limit": limit, "outputFields": ["text"],
            }
            for data, field, metric in ways
        ]  # fmt: skip
        return _scored(self._asked(
            "entities/hybrid_search", search=search, limit=limit, outputFields=["text"],
            rerank={"strategy": "rrf", "params": {"k": RRF}},
        ))  # fmt: skip

    def close(self) -> None:
        """See `MilvusCalls`; there is none."""

    def _asked(self, action: str, **fields: object) -> Any:  # noqa: ANN401 (JSON)
        """The `data` of an answer.

        Raises:
            RestRefusal: it has an error.
            OSError: there is none.
            ValueError: it is no JSON.
        """
        body = json.dumps({"collectionName": self._place.collection, **fields}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._place.token:
            headers["Authorization"] = f"Bearer {self._place.token}"
        request = urllib.request.Request(  # noqa: S310 (the scheme was checked)
            f"{self._base}/{action}", body, headers, method="POST"
        )
        try:
            # A redirection would take the token and the vectors to a place nobody agreed to.
            with _OPENER.open(request, timeout=self._place.timeout_s) as answer:
                reply = json.loads(answer.read(_MOST_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                raise RestRefusal(error.code, error.reason or str(error)) from error
        if reply.get("code", 0) not in {0, 200}:
            raise RestRefusal(int(reply["code"]), str(reply.get("message", "")))
        return reply.get("data")


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirection)


def _field(name: str, kind: str, **parameters: object) -> dict[str, object]:
    return {"fieldName": name, "dataType": kind, "elementTypeParams": parameters}


def _index(field: str, kind: str, metric: str) -> dict[str, object]:
    return {"fieldName": field, "indexName": field, "indexType": kind, "metricType": metric}


def _scored(rows: Sequence[dict[str, Any]]) -> Scored:
    return [(row["text"], float(row["distance"])) for row in rows]
