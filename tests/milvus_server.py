"""Milvus on loopback: milvus-lite over gRPC, and the same over REST, with faults on request."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
from milvus_lite.adapter.grpc.servicer import MilvusServicer
from milvus_lite.db import MilvusLite
from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, RRFRanker
from pymilvus.grpc_gen import common_pb2, milvus_pb2_grpc

TOKEN = "a-good-token"
FULL = "exceeded the limit number of collections[dbName=default][limit=5]"
_KINDS = {
    "VarChar": DataType.VARCHAR, "FloatVector": DataType.FLOAT_VECTOR,
    "SparseFloatVector": DataType.SPARSE_FLOAT_VECTOR,
}  # fmt: skip


class MilvusServer(grpc.ServerInterceptor):
    """One folder of data, served on a port that stays the same across restarts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = 0
        self.wants_token = False
        self.full = False
        self.hang_s = 0.0
        self.requests: list[str] = []
        """Methods of gRPC, in order."""
        self.upserted = 0
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def up(self) -> None:
        self._db = MilvusLite(str(self._folder))
        self._server = grpc.server(ThreadPoolExecutor(4), interceptors=[self])
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(_Servicer(self, self._db), self._server)
        self._port = self._server.add_insecure_port(f"127.0.0.1:{self._port}")
        self._server.start()

    def down(self) -> None:
        self._server.stop(grace=None).wait()
        self._db.close()

    def client(self) -> MilvusClient:
        return MilvusClient(uri=self.url, token=TOKEN)

    def intercept_service(self, continuation: Callable, handler_call_details: Any) -> Any:
        self.requests.append(handler_call_details.method.rsplit("/", 1)[1])
        if self.hang_s:
            time.sleep(self.hang_s)
        given = dict(handler_call_details.invocation_metadata).get("authorization", "")
        if self.wants_token and base64.b64decode(given).decode() != TOKEN:
            return grpc.unary_unary_rpc_method_handler(_refuse)
        return continuation(handler_call_details)


def _refuse(_: object, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure, please check api key")


class _Servicer(MilvusServicer):
    def __init__(self, server: MilvusServer, db: MilvusLite) -> None:
        super().__init__(db)
        self._owner = server

    def CreateCollection(self, request: Any, context: Any) -> Any:
        if self._owner.full:
            return common_pb2.Status(code=65535, reason=FULL)
        return super().CreateCollection(request, context)

    def Upsert(self, request: Any, context: Any) -> Any:
        self._owner.upserted += request.num_rows
        return super().Upsert(request, context)


@contextmanager
def milvus_server(folder: Path) -> Iterator[MilvusServer]:
    server = MilvusServer(folder)
    try:
        yield server
    finally:
        server.down()


class _RestHandler(BaseHTTPRequestHandler):
    """Version 2 of the REST interface, as far as codelens uses it, through the gRPC client."""

    milvus: MilvusServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.milvus.wants_token and self.headers["Authorization"] != f"Bearer {TOKEN}":
            said = {"code": 1800, "message": "user hasn't authenticated"}
        else:
            client = self.milvus.client()
            try:
                said = {"code": 0, "data": _by_rest(client, self.path.split("/", 3)[3], body)}
            except Exception as error:
                code = getattr(error, "code", 65535)
                said = {"code": code, "message": getattr(error, "message", str(error))}
            finally:
                client.close()
        data = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _by_rest(client: MilvusClient, what: str, body: dict) -> Any:
    name = body["collectionName"]
    if what == "collections/create":
        return _create(client, name, body)
    if what == "entities/hybrid_search":
        ways = [
            AnnSearchRequest(
                way["data"], way["annsField"], {"metric_type": way["metricType"]},
                limit=way["limit"], expr=way["filter"],
            )
            for way in body["search"]
        ]  # fmt: skip
        (hits,) = client.hybrid_search(
            name, ways, ranker=RRFRanker(body["rerank"]["params"]["k"]), limit=body["limit"],
            output_fields=body["outputFields"],
        )  # fmt: skip
        return [{**hit["entity"], "distance": hit["distance"]} for hit in hits]
    if what == "entities/search":
        (hits,) = client.search(
            name, body["data"], anns_field=body["annsField"], filter=body["filter"],
            limit=body["limit"], output_fields=body["outputFields"],
        )  # fmt: skip
        return [{**hit["entity"], "distance": hit["distance"]} for hit in hits]
    simple: dict[str, Callable[[], Any]] = {
        "collections/has": lambda: {"has": client.has_collection(name)},
        "collections/list": client.list_collections,
        "collections/load": lambda: client.load_collection(name),
        "collections/drop": lambda: client.drop_collection(name),
        "entities/upsert": lambda: {"count": client.upsert(name, body["data"])["upsert_count"]},
        "entities/delete": lambda: client.delete(name, filter=body["filter"]) and {},
        "entities/query": lambda: [
            {"text": row["text"]}
            for row in client.query(
                name, filter=body["filter"], output_fields=body["outputFields"],
                limit=body["limit"],
            )
        ],
    }  # fmt: skip
    return simple[what]()


def _create(client: MilvusClient, name: str, body: dict) -> None:
    schema = client.create_schema(auto_id=body["schema"]["autoId"])
    for field in body["schema"]["fields"]:
        schema.add_field(
            field["fieldName"], _KINDS[field["dataType"]],
            is_primary=field.get("isPrimary", False), **field["elementTypeParams"],
        )  # fmt: skip
    for function in body["schema"]["functions"]:
        schema.add_function(
            Function(
                name=function["name"], function_type=FunctionType[function["type"]],
                input_field_names=function["inputFieldNames"],
                output_field_names=function["outputFieldNames"],
            )
        )  # fmt: skip
    indexes = client.prepare_index_params()
    for index in body["indexParams"]:
        indexes.add_index(
            index["fieldName"], index_type=index["indexType"], metric_type=index["metricType"]
        )
    client.create_collection(name, schema=schema, index_params=indexes)


@contextmanager
def rest_of(milvus: MilvusServer) -> Iterator[str]:
    """The URL of the REST interface of a gRPC server, as codelens writes it."""
    handler = type("Handler", (_RestHandler,), {"milvus": milvus})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"rest+http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
