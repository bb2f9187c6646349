# SPDX-License-Identifier: Apache-2.0
"""An endpoint for OTLP over gRPC, OpenTelemetry's default. To be imported only where grpcio is installed."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final

import grpc

from otel_a2a.cli.otlp.requests import Received, Take

SERVICES: Final = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
ALONE: Final = (("grpc.so_reuseport", 0),)
"""Without it, two programs could listen on one port, and each would get some of the requests."""


class GrpcEndpoint:
    """Listens from its making, answers from ``__enter__`` to ``__exit__``.

    Args:
        take: gets each request, on a thread of the server.
        host: name or address of this machine.
        port: 0 for a free one.

    Raises:
        OSError: the port is taken, or the host is none of this machine.
    """

    def __init__(self, take: Take, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        _bind_once(host, port)
        self._server = grpc.server(ThreadPoolExecutor(2), options=ALONE)
        handlers = tuple(_handler(take, signal, service) for signal, service in SERVICES.items())
        self._server.add_generic_rpc_handlers(handlers)
        try:
            self.port = self._server.add_insecure_port(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except RuntimeError as error:
            raise OSError(str(error)) from error

    def __enter__(self) -> GrpcEndpoint:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.stop(grace=None).wait()


def _bind_once(host: str, port: int) -> None:
    """Raises the ``OSError`` of a port that is taken, where grpc would also write to standard error."""
    family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind) as probe:
        if os.name != "nt":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


def _handler(take: Take, signal: str, service: str) -> grpc.GenericRpcHandler:
    def export(request: bytes, context: grpc.ServicerContext) -> bytes:
        try:
            take(Received(signal, request))
        except ValueError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        return b""  # an empty response says that all was taken

    return grpc.method_handlers_generic_handler(service, {"Export": grpc.unary_unary_rpc_method_handler(export)})
