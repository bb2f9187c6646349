# SPDX-License-Identifier: Apache-2.0
"""Where programs send to: OTLP over HTTP, and over gRPC where grpcio is installed; and how to have them do so."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, TypeVar

from otel_a2a.cli.otlp.http import HttpEndpoint
from otel_a2a.cli.otlp.requests import Take

WISHES: Final = (
    "OTEL_PYTHON_A2A_TRANSITION_EVENTS=true",  # states as they come, also by webhooks and in unsampled traces
    "OTEL_BSP_SCHEDULE_DELAY=500",  # milliseconds; else up to five seconds
    "OTEL_BLRP_SCHEDULE_DELAY=500",
)
OVER_HTTP: Final = "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
LAUNCH: Final = "opentelemetry-instrument python app.py"
EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses to listen at that nobody can send to, and what one can from here."""

Made = TypeVar("Made")


class PortError(Exception):
    """A port cannot be listened at; the message names it."""


@dataclass(slots=True)
class Endpoints:
    """Listen from ``__enter__`` to ``__exit__``, which makes a port of 0 the one that was free.

    Raises:
        PortError: one of the ports cannot be listened at.
    """

    take: Take
    host: str
    http_port: int
    grpc_port: int
    has_grpc: bool = field(default_factory=lambda: importlib.util.find_spec("grpc") is not None)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Endpoints:
        with ExitStack() as opened:
            http = self._listening("--port", self.http_port, lambda: HttpEndpoint(self.take, self.host, self.http_port))
            self.http_port = opened.enter_context(http).port
            if self.has_grpc:
                from otel_a2a.cli.otlp.grpc import GrpcEndpoint

                grpc = self._listening(
                    "--grpc-port", self.grpc_port, lambda: GrpcEndpoint(self.take, self.host, self.grpc_port)
                )
                self.grpc_port = opened.enter_context(grpc).port
            self._open = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()

    def _listening(self, option: str, port: int, make: Callable[[], Made]) -> Made:
        try:
            return make()
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise PortError(
                f"cannot listen at port {port} of {self.host} ({why}): choose another by {option}"
            ) from error

    def instructions(self) -> str:
        """What to do in another terminal, with lines to copy."""
        wishes = " ".join((*WISHES, LAUNCH))
        over_http = f"  {OVER_HTTP} OTEL_EXPORTER_OTLP_ENDPOINT={self._url(self.http_port)} {wishes}"
        if not self.has_grpc:
            return f"Over HTTP only, since grpcio is not installed here. In another terminal:\n\n{over_http}\n"
        over_grpc = f"  OTEL_EXPORTER_OTLP_ENDPOINT={self._url(self.grpc_port)} {wishes}"
        return f"In another terminal:\n\n{over_grpc}\n\nor over HTTP:\n\n{over_http}\n"

    def _url(self, port: int) -> str:
        host = EVERYWHERE.get(self.host, self.host)
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
