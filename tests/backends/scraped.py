# SPDX-License-Identifier: Apache-2.0
"""An application under ``opentelemetry-instrument`` that serves its metrics, and a Prometheus that scrapes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from otel_a2a.cli.demo.programs import Program, clean_environment
from otel_a2a.cli.demo.scenario import LAUNCHER
from tests.backends.agents import ObedientAgent
from tests.backends.prometheus import Prometheus, find, free_port, running, wait_for
from tests.support.servers import serve

APPLICATION = Path(__file__).parent / "application.py"
BROKEN_PACK = """
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import rule
from otel_a2a.errors import A2APolicyError
from otel_a2a.observations import TaskSeen

@rule(name="house-broken", boundary="house", level=Level.VIOLATION, party=Party.AGENT, phase=Phase.RESPONSE,
      exception=A2APolicyError, on=(TaskSeen,), origin="ours", summary="Fails.", ruleset="theirs")
def broken(seen, view, settings):
    raise KeyError("a fault in somebody's rule")

RULES = (broken,)
"""


def _install_broken_pack(folder: Path) -> None:
    (folder / "broken_pack.py").write_text(BROKEN_PACK, "utf-8")
    installed = folder / "broken_pack-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-pack\nVersion: 1.0\n", "utf-8")
    (installed / "entry_points.txt").write_text("[otel_a2a_rules]\nbroken = broken_pack\n", "utf-8")


@contextmanager
def application(urls: list[str], port: int, folder: Path) -> Iterator[Program]:
    """The application, with its metrics on ``port`` and a rule of somebody else that always fails."""
    _install_broken_pack(folder)
    environment = clean_environment()
    paths = [str(folder), environment.get("PYTHONPATH", "")]
    environment |= {
        "PYTHONPATH": ":".join(path for path in paths if path),
        "OTEL_SERVICE_NAME": "checkout",
        "OTEL_TRACES_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_METRICS_EXPORTER": "prometheus",
        "OTEL_EXPORTER_PROMETHEUS_HOST": "127.0.0.1",
        "OTEL_EXPORTER_PROMETHEUS_PORT": str(port),
        "OTEL_PYTHON_A2A_TASK_DEADLINE": "1",
    }
    command = [sys.executable, "-c", LAUNCHER, sys.executable, str(APPLICATION), *urls]
    with Program("The application", command, environment, folder) as program:
        yield program


@contextmanager
def scraped(folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that has seen all that the application does: at two agents, and at an address where nobody is."""
    find("prometheus")
    with ExitStack() as running_parts:
        bases = [running_parts.enter_context(serve(ObedientAgent().app)) for _ in range(2)]
        urls = [bases[0], bases[1].replace("127.0.0.1", "localhost")]
        port = free_port()
        nobody = f"http://127.0.0.2:{free_port()}"
        program = running_parts.enter_context(application([*urls, nobody], port, folder))
        program.wait_for("round 1")
        prometheus = running_parts.enter_context(running(f"127.0.0.1:{port}", folder))
        wait_for(
            "stuck task",
            lambda: prometheus.query('otel_a2a_policy_findings_total{security_rule_name="task-stuck"} > 0'),
        )
        yield prometheus
