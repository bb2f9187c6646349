# SPDX-License-Identifier: Apache-2.0
"""The HTTP libraries that we can see through.

Each is patched when the application imports it, and none is imported by us: ``httpx2.alias_httpx()`` refuses to work
once httpx is there. A module of this package knows one library and offers ``install(library) -> list[Patch]``; it is
loaded when its library arrives.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from otel_a2a.arrivals import Arrivals, Status

CLIENTS: Final = {
    "httpx": "otel_a2a.clients.httpx",
    "httpx2": "otel_a2a.clients.httpx",
}
"""Name of the library, which is also its name in settings, to the module that knows it."""


def _version(library: ModuleType) -> str | None:
    version = getattr(library, "__version__", None)
    return str(version) if version is not None else None


_libraries = Arrivals(CLIENTS, _version, unseen="A2A calls through it stay unseen")
install = _libraries.install
uninstall = _libraries.uninstall
status = _libraries.status

__all__ = ["CLIENTS", "Status", "install", "status", "uninstall"]
