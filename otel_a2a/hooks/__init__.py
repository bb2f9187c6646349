# SPDX-License-Identifier: Apache-2.0
"""What libraries and frameworks decide about tasks by themselves, which no wire shows.

Each module named here is hooked when the application imports it, and none is imported by us. A hook watches and tells
the engine after the fact (``LocalDecision(declared=False)``): it never raises, and changes no result. A module of this
package knows one library and offers ``install(module) -> list[Removable]``.
"""

from __future__ import annotations

import importlib.metadata
from types import ModuleType
from typing import Final

from otel_a2a.arrivals import Arrivals, Status

HOOKS: Final = {
    "a2a.client.card_resolver": "otel_a2a.hooks.a2a_sdk_cards",
    "a2a.client.base_client": "otel_a2a.hooks.a2a_sdk_cards",
    "a2a.client.legacy": "otel_a2a.hooks.a2a_sdk_cards",
    "a2a.client.client": "otel_a2a.hooks.a2a_sdk_cards",
    "a2a.client.client_task_manager": "otel_a2a.hooks.a2a_sdk",
    "a2a.server.tasks.inmemory_task_store": "otel_a2a.hooks.a2a_sdk",
    "a2a.server.tasks.database_task_store": "otel_a2a.hooks.a2a_sdk",
    "python_a2a.client.http": "otel_a2a.hooks.python_a2a",
    "crewai.events.event_bus": "otel_a2a.hooks.crewai",
    "crewai.events.types.a2a_events": "otel_a2a.hooks.crewai",
}
"""Name of the module that decides something, to the module that knows how to notice it."""

DISTRIBUTIONS: Final = {"a2a": "a2a-sdk", "python_a2a": "python-a2a", "crewai": "crewai"}


def installed(name: str) -> str | None:
    """The version of the distribution that has the module ``name``; None where it is not installed, or has none."""
    package = name.partition(".")[0]
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTIONS[package])
    except importlib.metadata.PackageNotFoundError:
        return None
    files = {str(file) for file in distribution.files or () if file.parts[0] == package}
    return distribution.version if not files or name.replace(".", "/") + ".py" in files else None


def _version(module: ModuleType) -> str | None:
    try:
        return importlib.metadata.version(DISTRIBUTIONS[module.__name__.partition(".")[0]])
    except importlib.metadata.PackageNotFoundError:
        return None


_modules = Arrivals(HOOKS, _version, unseen="what it decides by itself stays unseen")
install = _modules.install
uninstall = _modules.uninstall
status = _modules.status

__all__ = ["HOOKS", "Status", "install", "installed", "status", "uninstall"]
