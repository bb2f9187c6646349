# SPDX-License-Identifier: Apache-2.0
"""requests, OpenTelemetry's instrumentation of it and ours, imported and installed in any order.

    python -m tests.neighbours.programs.requests_orders STEP…

Prints a list of what each step ``tell`` found of ``requests.Session.send`` and of their instrumentor.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

from otel_a2a import clients, patching

APPLIED = "opentelemetry_instrumentation_requests_applied"
"""Their mark on what they wrap."""


def theirs() -> Any:
    return importlib.import_module("opentelemetry.instrumentation.requests").RequestsInstrumentor()


def tell() -> dict[str, bool]:
    requests = importlib.import_module("requests")
    patch = patching.installed(requests.Session, "send")
    send = requests.Session.send
    return {
        "ours is outermost": patch is not None and send is patch.wrapper,
        "theirs is below": hasattr(patch.original if patch else send, APPLIED),
        "all is gone": not hasattr(send, "__wrapped__")
        and type(theirs())._instrument.__module__ == type(theirs()).__module__,
    }


STEPS: dict[str, Callable[[], Any]] = {
    "import requests": lambda: importlib.import_module("requests"),
    "import theirs": theirs,
    "+theirs": lambda: theirs().instrument(),
    "-theirs": lambda: theirs().uninstrument(),
    "+ours": clients.install,
    "-ours": clients.uninstall,
    "tell": tell,
}

if __name__ == "__main__":
    done = [(step, STEPS[step]()) for step in sys.argv[1:]]
    print(json.dumps([told for step, told in done if step == "tell"]))
