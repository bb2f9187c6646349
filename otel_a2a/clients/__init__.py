# SPDX-License-Identifier: Apache-2.0
"""The HTTP libraries that we can see through.

Each is patched when the application imports it, and none is imported by us: ``httpx2.alias_httpx()`` refuses to work
once httpx is there. A module of this package knows one library and offers ``install(library) -> list[Patch]``; it is
loaded when its library arrives. A library that is too old, or lacks a method that is to be patched, is left alone, with
one warning.
"""

from __future__ import annotations

from collections.abc import Collection
from types import ModuleType
from typing import Final

from otel_a2a.arrivals import Arrivals, Status
from otel_a2a.clients import _versions

CLIENTS: Final = {
    "httpx": "otel_a2a.clients.httpx",
    "httpx2": "otel_a2a.clients.httpx",
    "aiohttp": "otel_a2a.clients.aiohttp",
    "grpc": "otel_a2a.clients.grpc",
    "requests": "otel_a2a.clients.requests",
}
"""Name of the library, which is also its name in settings, to the module that knows it."""

DISTRIBUTIONS: Final = {"grpc": "grpcio"}
"""Libraries that are installed under another name than they are imported by."""

NEIGHBOURS: Final = {
    "opentelemetry.instrumentation.grpc.grpcext._interceptor": "otel_a2a.clients._contrib_grpc",
    "opentelemetry.instrumentation.requests": "otel_a2a.clients._contrib_requests",
}
"""Instrumentations of others that patch what we patch, to the module that knows how to live beside them."""


def _version(library: ModuleType) -> str | None:
    version = getattr(library, "__version__", None)
    return str(version) if version is not None else None


def _check(library: ModuleType) -> None:
    name = library.__name__
    _versions.check(DISTRIBUTIONS.get(name, name), _version(library))


_libraries = Arrivals(CLIENTS, _version, unseen="A2A calls through it stay unseen", check=_check)
_neighbours = Arrivals(NEIGHBOURS, _version, unseen="its spans may be the parents of ours")
status = _libraries.status


def install(disabled: Collection[str] = ()) -> None:
    """Patch every library that is imported or ever will be, but for those named in ``disabled``. Never raises."""
    _libraries.install(disabled)
    _neighbours.install([name for name in NEIGHBOURS if _library_of(name) in disabled])


def _library_of(neighbour: str) -> str:
    """``opentelemetry.instrumentation.requests`` instruments ``requests``."""
    return neighbour.split(".")[2]


def uninstall() -> None:
    """Take all patches out of service. Libraries imported later are left alone until the next ``install``."""
    _neighbours.uninstall()
    _libraries.uninstall()


__all__ = ["CLIENTS", "NEIGHBOURS", "Status", "install", "status", "uninstall"]
