# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a status``: what an application would run with, and where each setting comes from.

Asked in a plain shell, it starts itself under ``opentelemetry-instrument`` and so tells what an application would get
there: the same environment, the same configuration file, the same providers.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from otel_a2a import sources
from otel_a2a.version import __version__

LAUNCHER = "from opentelemetry.instrumentation.auto_instrumentation import run; run()"
ASK = "import otel_a2a.cli.status as status; status.answer()"
SECONDS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``otel-a2a status``."""
    parser.description = "Shows what an application started by opentelemetry-instrument would run with, right here."
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")


def run(args: argparse.Namespace) -> int:
    """Show the status. Returns 0, or 1 where OpenTelemetry's launcher does not start."""
    from otel_a2a.instrumentor import A2AInstrumentor

    if A2AInstrumentor().is_instrumented_by_opentelemetry:
        found = collect()
    else:
        command = [sys.executable, "-c", LAUNCHER, sys.executable, "-c", ASK]
        # Its warnings are part of the answer, and go to the same terminal.
        process = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
        if process.returncode:
            print("otel-a2a status: opentelemetry-instrument does not start here", file=sys.stderr)
            return 1
        found = json.loads(process.stdout.splitlines()[-1])
    print(json.dumps(found, indent=2) if args.format == "json" else as_text(found))
    return 0


def answer() -> None:
    """Print the status of this process as one line of JSON, and leave without waiting for any exporter."""
    print(json.dumps(collect()), flush=True)
    os._exit(0)


def collect() -> dict[str, Any]:
    """The status of this process, as plain data."""
    from otel_a2a.instrumentor import A2AInstrumentor

    loaded = A2AInstrumentor.effective is not None
    chosen = A2AInstrumentor.effective or sources.effective(os.environ)
    rules, chosen = _rules(chosen)
    return {
        "version": __version__,
        "loaded": loaded,
        "settings": [
            {"name": name, "value": _plain(getattr(chosen.settings, name)), "source": origin}
            for name, origin in chosen.origins.items()
            if name not in ("policy", "agents")
        ],
        "agents": [
            {"host": entry.host, "settings": _plain(dict(entry.changes)), "source": chosen.origins["agents"]}
            for entry in chosen.settings.agents
        ],
        "policy": [
            {**_plain(dataclasses.asdict(line)), "source": origin}
            for line, origin in zip(chosen.settings.policy, chosen.line_origins, strict=True)
        ],
        "problems": list(chosen.problems),
        "clients": _clients(),
        "hooks": _hooks(),
        "providers": _providers(),
        "rules": rules,
    }


def _rules(chosen: sources.Effective) -> tuple[list[dict[str, Any]], sources.Effective]:
    from otel_a2a import engine
    from otel_a2a.engine.strictness import Policy
    from otel_a2a.packs import load_rules

    current = engine.current()
    rules = load_rules() if current is None else current.rules
    if current is None:
        chosen = sources.for_rules(chosen, [rule.name for rule in rules])
    policy = Policy(chosen.settings)
    return [
        {
            "name": rule.name,
            "boundary": rule.boundary,
            "level": (policy.level(rule.name, "") or rule.level).value,
            "action": policy.action(rule.name, "").value,
            "ruleset": rule.ruleset,
            "summary": rule.summary,
        }
        for rule in rules
    ], chosen


def _clients() -> list[dict[str, Any]]:
    from otel_a2a import clients

    for name in clients.CLIENTS:
        try:
            importlib.import_module(name)
        except Exception:  # not installed, or broken: it is then not patched, which is the answer
            continue
    patched = {client.name: client.patched for client in clients.status()}
    return [
        {"name": name, "installed": _installed(clients.DISTRIBUTIONS.get(name, name)), "patched": patched[name]}
        for name in clients.CLIENTS
    ]


def _hooks() -> list[dict[str, Any]]:
    """What may decide something by itself. Not imported for this: some of it takes seconds, or sets up telemetry."""
    from otel_a2a import hooks

    return [
        {"name": hook.name, "installed": hooks.installed(hook.name), "patched": hook.patched} for hook in hooks.status()
    ]


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _providers() -> dict[str, str]:
    from opentelemetry import _logs, metrics, trace

    providers = {
        "traces": trace.get_tracer_provider(),
        "metrics": metrics.get_meter_provider(),
        "logs": _logs.get_logger_provider(),
    }
    return {signal: f"{type(each).__module__}.{type(each).__qualname__}" for signal, each in providers.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def as_text(found: Mapping[str, Any]) -> str:
    """The status for people."""
    loaded = "" if found["loaded"] else " is not loaded here"
    parts = [f"otel-a2a {found['version']}{loaded}"]
    if not found["loaded"]:
        parts.append("It is disabled, finds no client library, or OpenTelemetry itself did not start: see above.")
    parts.append(
        _table("Settings", [(each["name"], _text(each["value"]), each["source"]) for each in found["settings"]])
    )
    if found["agents"]:
        parts.append(
            _table("Agents", [(each["host"], _pairs(each["settings"]), each["source"]) for each in found["agents"]])
        )
    if found["policy"]:
        rows = [
            (
                f"{each['rule']} at {each['agent']}",
                " ".join(filter(None, (each["level"], each["action"]))),
                each["source"],
            )
            for each in found["policy"]
        ]
        parts.append(_table("Policy", rows))
    rows = [
        (each["name"], each["installed"] or "not installed", "patched" if each["patched"] else "not patched")
        for each in found["clients"]
    ]
    parts.append(_table("Clients", rows))
    rows = [
        (
            each["name"],
            each["installed"] or "not installed",
            "patched" if each["patched"] else "patched when imported" if found["loaded"] else "not patched",
        )
        for each in found["hooks"]
        if each["installed"]
    ]
    parts.append(_table("Hooks", rows))
    parts.append(_table("Providers", [(signal, name) for signal, name in found["providers"].items()]))
    parts.append(_table("Rules", [(each["name"], each["level"], each["action"]) for each in found["rules"]]))
    return "\n\n".join(parts)


def _pairs(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_text(value)}" for name, value in settings.items())


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(str(each) for each in value) or "-"
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value) or "-"


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return f"{title}\n  none"
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([title, *lines])
