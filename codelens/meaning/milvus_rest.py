"""Sends requests to Milvus and Zilliz over REST."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from codelens.meaning.milvus_store import HEX_CHARS, MOST_TERM_BYTES, RRF, Place, Row, Scored

# REST (version 2) needs no installation, and saves each process imports of 2 s.

SCHEME = "rest+"
_MOST_BYTES = 256 * 1024 * 1024
"""Of an answer; 16,384 keys with scores take 1 MB."""


class RestRefusal(Exception):
    """An answer that reports an error.

    Args:
        code: the code of Milvus, or the HTTP status.
        message: the error's text.
    """

    def __init__(self, code: int, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


class RestCalls:
    """`MilvusCalls` through the standard library; each request has its own connection."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._base = f"{place.url.removeprefix(SCHEME).rstrip('/')}/v2/vectordb"

    def exists(self) -> bool:
        """See `MilvusCalls`."""
        return bool(self._post("collections/has")["has"])

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
        # `Strong`: a search sees everything stored before it.
        self._post(
            "collections/create", schema=schema, indexParams=indexes,
            params={"consistencyLevel": "Strong"},
        )  # fmt: skip

    def load(self) -> None:
        """See `MilvusCalls`."""
        self._post("collections/load")

    def collections(self) -> Sequence[str]:
        """See `MilvusCalls`."""
        return list(self._post("collections/list"))

    def drop(self) -> None:
        """See `MilvusCalls`."""
        self._post("collections/drop")

    def upsert(self, rows: Sequence[Row]) -> None:
        """See `MilvusCalls`."""
        self._post("entities/upsert", data=list(rows))

    def delete(self, only: str) -> None:
        """See `MilvusCalls`."""
        self._post("entities/delete", filter=only)

    def query(self, only: str, limit: int) -> Sequence[str]:
        """See `MilvusCalls`."""
        rows = self._post("entities/query", filter=only, outputFields=["text"], limit=limit)
        return [row["text"] for row in rows]

    def search(self, vector: Sequence[float], only: str, limit: int) -> Scored:
        """See `MilvusCalls`."""
        return _scored(self._post(
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
        return _scored(self._post(
            "entities/hybrid_search", search=search, limit=limit, outputFields=["text"],
            rerank={"strategy": "rrf", "params": {"k": RRF}},
        ))  # fmt: skip

    def close(self) -> None:
        """See `MilvusCalls`; there is no connection to close."""

    def _post(self, action: str, **fields: object) -> Any:  # noqa: ANN401 (JSON)
        """Send a request and return the `data` of the answer.

        Raises:
            RestRefusal: the answer reports an error.
            OSError: there is no answer.
            ValueError: the answer is not JSON.
        """
        body = json.dumps({"collectionName": self._place.collection, **fields}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._place.token:
            headers["Authorization"] = f"Bearer {self._place.token}"
        request = urllib.request.Request(  # noqa: S310 (the scheme was checked)
            f"{self._base}/{action}", body, headers, method="POST"
        )
        try:
            # A redirect would send the token and the vectors to a place that nobody agreed to.
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
