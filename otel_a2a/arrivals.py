# SPDX-License-Identifier: Apache-2.0
"""Patching modules when the application imports them, and never importing them ourselves.

An application that has not asked for a library shall not get it. So each module has a post-import hook, which cannot be
taken back: there is one for ever, and it looks at what is wanted when it is called.
"""

from __future__ import annotations

import functools
import importlib
import logging
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol

import wrapt

_logger = logging.getLogger(__name__)


class Removable(Protocol):
    """Something put in place in a foreign module, as ``otel_a2a.patching.Patch`` is."""

    active: bool

    def remove(self) -> None:
        """Take it out of service. Never raises."""


@dataclass(slots=True, frozen=True)
class Status:
    """A module as it is now. ``version`` is None as long as the application has not imported it."""

    name: str
    version: str | None
    patched: bool


class Arrivals:
    """Modules to patch, by name, each with the module of ours that knows it and offers ``install(module)``.

    Args:
        modules: name of the foreign module to the name of ours. Ours is imported when the other has arrived.
        version: the version of a foreign module, None where it has none.
        unseen: what is not seen where a module cannot be patched, for the one warning about it.
        check: raises where a module is not to be patched; the warning says what was raised.
    """

    def __init__(
        self,
        modules: Mapping[str, str],
        version: Callable[[ModuleType], str | None],
        unseen: str,
        check: Callable[[ModuleType], None] = lambda module: None,
    ) -> None:
        self._modules = modules
        self._version = version
        self._unseen = unseen
        self._check = check
        self._wanted: set[str] = set()
        self._hooked: set[str] = set()
        self._warned: set[str] = set()
        self._patches: dict[str, Collection[Removable]] = {}

    def install(self, disabled: Collection[str] = ()) -> None:
        """Patch every module that is imported or ever will be, but for those named in ``disabled``. Never raises."""
        for name in self._modules:
            if name in disabled:
                self._leave(name)
                continue
            self._wanted.add(name)
            module = sys.modules.get(name)
            if name not in self._hooked:
                self._hooked.add(name)
                wrapt.register_post_import_hook(functools.partial(self._arrived, name), name)
            elif module is not None:
                self._arrived(name, module)

    def uninstall(self) -> None:
        """Take all patches out of service. Modules imported later are left alone until the next ``install``."""
        for name in self._modules:
            self._leave(name)

    def status(self) -> list[Status]:
        """Each known module: is it here, which version, is it patched."""
        return [self._status(name, sys.modules.get(name)) for name in self._modules]

    def _status(self, name: str, module: ModuleType | None) -> Status:
        if module is None:
            return Status(name, None, False)
        # Under httpx2.alias_httpx() the name httpx holds httpx2, which has a hook of its own.
        patches = self._patches.get(module.__name__, ())
        return Status(name, self._version(module), any(patch.active for patch in patches))

    def _arrived(self, name: str, module: ModuleType) -> None:
        if name not in self._wanted or module.__name__ != name:
            return
        try:
            self._check(module)
            self._patches[name] = importlib.import_module(self._modules[name]).install(module)
        except Exception as error:
            # Also a post-import hook: what is raised here would fail the application's import.
            if name not in self._warned:
                self._warned.add(name)
                _logger.warning("%s %s is left alone, %s: %s", name, self._version(module), self._unseen, error)

    def _leave(self, name: str) -> None:
        self._wanted.discard(name)
        for patch in self._patches.pop(name, ()):
            patch.remove()
