"""Milvus and Zilliz over gRPC through the package `pymilvus`."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Sequence
from typing import Any

from codelens.meaning.milvus_store import HEX_CHARS, MOST_TERM_BYTES, RRF, Place, Row, Scored
from codelens.meaning.vector_store import StoreClientMissing

_OPTIONS = {"grpc.use_local_subchannel_pool": 1}
"""Without this option, gRPC delays new attempts for a while after a store is up again."""


class GrpcCalls:
    """`MilvusCalls` through `pymilvus.MilvusClient`; connects with the first request."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._pymilvus = _pymilvus()
        self._connected: Any = None

    @property
    def _client(self) -> Any:  # noqa: ANN401 (the client is partly untyped)
        if self._connected is None:
            place = self._place
            self._connected = self._pymilvus.MilvusClient(
                uri=place.url, token=place.token, timeout=place.timeout_s,
                grpc_options=_OPTIONS,
            )  # fmt: skip
        return self._connected

    def exists(self) -> bool:
        """See `MilvusCalls`."""
        return bool(self._client.has_collection(self._place.collection, timeout=self._timeout_s))

    def create(self) -> None:
        """See `MilvusCalls`."""
        kinds, client = self._pymilvus.DataType, self._client
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("text", kinds.VARCHAR, max_length=HEX_CHARS, is_primary=True)
        schema.add_field("vector", kinds.FLOAT_VECTOR, dim=self._place.dimension)
        indexes = client.prepare_index_params()
        indexes.add_index("vector", index_type="FLAT", metric_type="IP")
        if self._place.hybrid:
            schema.add_field(
                "terms", kinds.VARCHAR, max_length=MOST_TERM_BYTES, enable_analyzer=True
            )
            schema.add_field("sparse", kinds.SPARSE_FLOAT_VECTOR)
            schema.add_function(
                self._pymilvus.Function(
                    name="bm25", function_type=self._pymilvus.FunctionType.BM25,
                    input_field_names=["terms"], output_field_names=["sparse"],
                )
            )  # fmt: skip
            indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        # `Strong`: a search sees everything stored before it.
        client.create_collection(
            self._place.collection, schema=schema, index_params=indexes,
            consistency_level="Strong", timeout=self._timeout_s,
        )  # fmt: skip

    def load(self) -> None:
        """See `MilvusCalls`."""
        self._client.load_collection(self._place.collection, timeout=self._timeout_s)

    def collections(self) -> Sequence[str]:
        """See `MilvusCalls`."""
        return list(self._client.list_collections(timeout=self._timeout_s))

    def drop(self) -> None:
        """See `MilvusCalls`."""
        self._client.drop_collection(self._place.collection, timeout=self._timeout_s)

    def upsert(self, rows: Sequence[Row]) -> None:
        """See `MilvusCalls`."""
        self._client.upsert(self._place.collection, list(rows), timeout=self._timeout_s)

    def delete(self, only: str) -> None:
        """See `MilvusCalls`."""
        self._client.delete(self._place.collection, filter=only, timeout=self._timeout_s)

    def query(self, only: str, limit: int) -> Sequence[str]:
        """See `MilvusCalls`."""
        rows = self._client.query(
            self._place.collection, filter=only, output_fields=["text"], limit=limit,
            timeout=self._timeout_s,
        )  # fmt: skip
        return [row["text"] for row in rows]

    def search(self, vector: Sequence[float], only: str, limit: int) -> Scored:
        """See `MilvusCalls`."""
        (hits,) = self._client.search(
            self._place.collection, [list(vector)], anns_field="vector", filter=only, limit=limit,
            output_fields=["text"], search_params={"metric_type": "IP"}, timeout=self._timeout_s,
        )  # fmt: skip
        return _scored(hits)

    def hybrid(self, vector: Sequence[float], terms: str, only: str, limit: int) -> Scored:
        """See `MilvusCalls`."""
        request = self._pymilvus.AnnSearchRequest
        (hits,) = self._client.hybrid_search(
            self._place.collection,
            [
                request([list(vector)], "vector", {"metric_type": "IP"}, limit=limit, expr=only),
                request([terms], "sparse", {"metric_type": "BM25"}, limit=limit, expr=only),
            ],
            ranker=self._pymilvus.RRFRanker(RRF), limit=limit, output_fields=["text"],
            timeout=self._timeout_s,
        )  # fmt: skip
        return _scored(hits)

    def close(self) -> None:
        """See `MilvusCalls`."""
        if self._connected is not None:
            self._connected.close()

    @property
    def _timeout_s(self) -> float:
        return self._place.timeout_s


def _scored(hits: Sequence[Any]) -> Scored:
    return [(hit["entity"]["text"], hit["distance"]) for hit in hits]


def _pymilvus() -> Any:  # noqa: ANN401 (the client is partly untyped)
    """Import the client and undo its changes to the environment and to logging.

    It loads a `.env` file from any parent folder into the environment, so that a repository with a
    virtual environment inside could set any variable.
    """
    # gRPC's fork handlers start its poller in each child process, on files that are closed there:
    # some children died of it before they ran.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    before = dict(os.environ)
    try:
        client = importlib.import_module("pymilvus")
    except ImportError as error:
        raise StoreClientMissing from error
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
    # codelens logs each failed request once.
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    return client
