# SPDX-License-Identifier: Apache-2.0
"""The HTTP libraries that we can see through.

Each is patched when the application imports it, and none is imported by us: an application that has not asked for a
library shall not get it, and ``httpx2.alias_httpx()`` refuses to work once httpx is there. A module of this package
knows one library and offers ``install(library) -> list[Patch]``; it is loaded when its library arrives.
"""

from __future__ import annotations

import functools
import importlib
import logging
import sys
from collections.abc import Collection
from dataclasses import dataclass
from types import ModuleType
from typing import Final

import wrapt

from otel_a2a.clients import _patch

CLIENTS: Final = {
    "httpx": "otel_a2a.clients.httpx",
    "httpx2": "otel_a2a.clients.httpx",
}
"""Name of the library, which is also its name in settings, to the module that knows it."""

_logger = logging.getLogger(__name__)

_wanted: set[str] = set()
_hooked: set[str] = set()
_warned: set[str] = set()
_patches: dict[str, list[_patch.Patch]] = {}


@dataclass(slots=True, frozen=True)
class ClientStatus:
    """A library as it is now. ``version`` is None as long as the application has not imported it."""

    name: str
    version: str | None
    patched: bool


def install(disabled: Collection[str] = ()) -> None:
    """Patch every library that is imported or ever will be, but for those named in ``disabled``. Never raises."""
    for name in CLIENTS:
        if name in disabled:
            _leave(name)
            continue
        _wanted.add(name)
        library = sys.modules.get(name)
        if name not in _hooked:
            # A hook cannot be taken back, so there is one for ever, which looks at ``_wanted`` when it is called.
            _hooked.add(name)
            wrapt.register_post_import_hook(functools.partial(_arrived, name), name)
        elif library is not None:
            _arrived(name, library)


def uninstall() -> None:
    """Take all patches out of service. Libraries imported later are left alone until the next ``install``."""
    for name in CLIENTS:
        _leave(name)


def status() -> list[ClientStatus]:
    """Each known library: is it here, which version, do we see through it."""
    return [_status(name, sys.modules.get(name)) for name in CLIENTS]


def _status(name: str, library: ModuleType | None) -> ClientStatus:
    # Under alias_httpx() the name httpx holds httpx2, which has a hook of its own.
    patches = _patches.get(library.__name__, ()) if library is not None else ()
    return ClientStatus(name, _version(library), any(patch.active for patch in patches))


def _arrived(name: str, library: ModuleType) -> None:
    if name not in _wanted or library.__name__ != name:
        return
    try:
        _patches[name] = importlib.import_module(CLIENTS[name]).install(library)
    except Exception as error:
        # Also a post-import hook: what is raised here would fail the application's import.
        if name not in _warned:
            _warned.add(name)
            _logger.warning("%s %s is left alone, A2A calls through it stay unseen: %s", name, _version(library), error)


def _leave(name: str) -> None:
    _wanted.discard(name)
    for patch in _patches.pop(name, ()):
        _patch.uninstall(patch)


def _version(library: ModuleType | None) -> str | None:
    version = getattr(library, "__version__", None)
    return str(version) if version is not None else None
