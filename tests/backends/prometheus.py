# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus on a loopback port of its own, which scrapes one application and has our alert rules loaded."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from otel_a2a.cli.demo.programs import Program, clean_environment

RULES = Path(__file__).parents[2] / "exporters" / "prometheus" / "alerts.yaml"
SECONDS = 60.0
CONFIGURATION = """
global: {{scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs: [{{job_name: checkout, static_configs: [{{targets: ["{target}"]}}]}}]
"""

_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_Answer = TypeVar("_Answer")


def find(program: str) -> str:
    """The path of ``prometheus`` or ``promtool``. Where there is none the test is skipped, save where all must run."""
    path = shutil.which(program)
    if path is not None:
        return path
    reason = f"needs {program}: make prometheus"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    """A port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_for(what: str, question: Callable[[], _Answer]) -> _Answer:
    """The first answer that is not empty.

    Raises:
        TimeoutError: there was none in time; ``what`` names it.
    """
    give_up = time.monotonic() + SECONDS
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > give_up:
            raise TimeoutError(f"no {what} within {SECONDS:.0f} s")
        time.sleep(0.2)


class Prometheus:
    """The HTTP API of a running Prometheus."""

    def __init__(self, address: str) -> None:
        self._base = f"http://{address}/api/v1/"

    def ask(self, endpoint: str, **parameters: str) -> Any:
        """The ``data`` of an answer.

        Raises:
            AssertionError: it was refused; the text is Prometheus's own.
        """
        url = f"{self._base}{endpoint}?{urllib.parse.urlencode(parameters)}"
        try:
            with _opener.open(url, timeout=10) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples of an instant query: ``metric`` and ``value`` each."""
        result: list[dict[str, Any]] = self.ask("query", query=expression)["result"]
        return result

    def is_up(self) -> bool:
        """Whether it answers, and has scraped its target more than once."""
        try:
            return bool(self.query("sum(count_over_time(up[1m])) > 2 and sum(up) == 1"))
        except urllib.error.URLError:
            return False


@contextmanager
def running(target: str, folder: Path) -> Iterator[Prometheus]:
    """A Prometheus that scrapes ``target`` (``host:port``) and keeps its data in ``folder``."""
    configuration = folder / "prometheus.yml"
    configuration.write_text(CONFIGURATION.format(rules=json.dumps(str(RULES)), target=target), "utf-8")
    subprocess.run([find("promtool"), "check", "config", configuration], check=True, capture_output=True)
    address = f"127.0.0.1:{free_port()}"
    command = [
        find("prometheus"),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with Program("Prometheus", command, clean_environment(), folder) as program:
        program.wait_for("Server is ready to receive web requests")
        api = Prometheus(address)
        wait_for("scrape", api.is_up)
        yield api
