# SPDX-License-Identifier: Apache-2.0
"""The endpoints for OTLP, over HTTP and gRPC, given what no exporter sends."""

from __future__ import annotations

import gzip
import http.client
import socket
import zlib
from collections.abc import Callable, Iterator

import grpc
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_a2a.cli.otlp.grpc import SERVICES, GrpcEndpoint
from otel_a2a.cli.otlp.http import HttpEndpoint
from otel_a2a.cli.otlp.requests import MAX_BODY, Export, Received, read

ENDPOINTS = (HttpEndpoint, GrpcEndpoint)


@pytest.fixture
def exports() -> list[Export]:
    """What the endpoints have taken."""
    return []


@pytest.fixture
def over_http(exports: list[Export]) -> Iterator[http.client.HTTPConnection]:
    with HttpEndpoint(lambda request: exports.append(read(request))) as endpoint:
        connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=10)
        yield connection
        connection.close()


@pytest.mark.parametrize(
    ("status", "path", "body", "headers"),
    [
        (200, "/v1/logs", b"", {}),
        (400, "/v1/logs", b"\xff\xff", {}),
        (400, "/v1/logs", b"not gzip", {"content-encoding": "gzip"}),
        (400, "/v1/logs", gzip.compress(b"cut off")[:-9], {"content-encoding": "gzip"}),
        (400, "/v1/logs", b"", {"content-encoding": "br"}),
        (400, "/v1/logs", b"", {"content-length": "-1"}),
        (404, "/v1/profiles", b"", {}),
        (404, "/", b"", {}),
        (413, "/v1/logs", b"", {"content-length": str(MAX_BODY + 1)}),
        (415, "/v1/logs", b"{}", {"content-type": "application/json"}),
    ],
)
def test_each_request_is_answered(
    over_http: http.client.HTTPConnection,
    exports: list[Export],
    status: int,
    path: str,
    body: bytes,
    headers: dict[str, str],
) -> None:
    """What cannot be taken is refused with the status that says why, and is not kept."""
    over_http.request("POST", path, body, headers)
    with over_http.getresponse() as response:
        assert response.status == status
    assert len(exports) == (status == 200)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
def test_encodings_are_understood(over_http: http.client.HTTPConnection, exports: list[Export], encoding: str) -> None:
    """A body may be compressed in the ways that OTLP knows."""
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(event_name="an event")
    plain = request.SerializeToString()
    body = {"gzip": gzip.compress(plain), "deflate": zlib.compress(plain), "identity": plain}[encoding]
    over_http.request("POST", "/v1/logs", body, {"content-encoding": encoding})
    over_http.getresponse().close()
    assert [event.name for event in exports[0].logs] == ["an event"]


def test_a_bomb_is_refused() -> None:
    """A small body that would be a huge one is refused before it is one."""
    bomb = gzip.compress(bytes(MAX_BODY + 1))
    with pytest.raises(ValueError, match="too large"):
        read(Received("traces", bomb, {"content-encoding": "gzip"}))


def test_nonsense_over_grpc_is_an_invalid_argument(exports: list[Export]) -> None:
    """The status says that sending it again is of no use."""
    with (
        GrpcEndpoint(lambda request: exports.append(read(request))) as endpoint,
        grpc.insecure_channel(f"127.0.0.1:{endpoint.port}") as channel,
    ):
        export: Callable[..., bytes] = channel.unary_unary(f"/{SERVICES['metrics']}/Export")
        assert export(b"", timeout=10) == b""
        with pytest.raises(grpc.RpcError) as aborted:
            export(b"\xff\xff", timeout=10)
    assert isinstance(aborted.value, grpc.Call)
    assert aborted.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert exports == [Export()]


@pytest.mark.parametrize("kind", ENDPOINTS)
def test_a_port_is_listened_at_by_one_alone(
    kind: type[HttpEndpoint] | type[GrpcEndpoint], capfd: pytest.CaptureFixture[str]
) -> None:
    """The second one gets an error of the operating system, and nothing is written about it."""
    with kind(lambda _: None) as first, pytest.raises(OSError, match="in use"):
        kind(lambda _: None, port=first.port)
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
@pytest.mark.parametrize("kind", ENDPOINTS)
def test_it_can_listen_over_ipv6(kind: type[HttpEndpoint] | type[GrpcEndpoint]) -> None:
    """An address of IPv6 is as good as one of IPv4."""
    with kind(lambda _: None, host="::1") as endpoint, socket.create_connection(("::1", endpoint.port), 10):
        pass
