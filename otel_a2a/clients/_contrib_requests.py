# SPDX-License-Identifier: Apache-2.0
"""A neighbour: opentelemetry-instrumentation-requests, which wraps the very method that we do.

Coming after us it would lie above us, and its span would be the parent of ours. Leaving, it would take off whatever
lies on top and leave its own wrapper behind. So we step aside while it comes or leaves, and are then outermost again.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from otel_a2a import patching

METHODS: Final = ("_instrument", "_uninstrument")


def install(module: ModuleType) -> list[patching.Patch]:
    """Step aside whenever the instrumentor of ``module`` comes or leaves.

    Raises:
        PatchPointMissing: this version has no such class or method.
    """
    instrumentor = getattr(module, "RequestsInstrumentor", None)
    if not isinstance(instrumentor, type):
        raise patching.PatchPointMissing(f"{module.__name__} has no RequestsInstrumentor")
    for name in METHODS:
        patching.find(instrumentor, name)
    return [patching.install(instrumentor, name, _stepping_aside) for name in METHODS]


def _stepping_aside(patch: patching.Patch) -> patching.Method:
    original = patch.original

    def call(self: Any, **options: Any) -> Any:
        ours = patching.installed(sys.modules["requests"].Session, "send")
        if not patch.active or ours is None:
            return original(self, **options)
        with ours.aside():
            return original(self, **options)

    return call
