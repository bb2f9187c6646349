# SPDX-License-Identifier: Apache-2.0
"""Agents on the SDKs of other languages: each a program of its own that prints its base URL when it is up."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

JS = Path(__file__).parent / "js"
SECONDS = 10


@contextmanager
def running(*command: str) -> Iterator[str]:
    """Run a program as long as the block does; its base URL."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            base = program.stdout.readline().strip()  # an end of file where it could not start
            assert base.startswith("http://127.0.0.1:"), f"{command} ended with {program.wait(SECONDS)}"
            yield base
        finally:
            program.kill()


@pytest.fixture(scope="session", params=["1.0", "0.3"])
def agent(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """Base URL and A2A version of an agent on a2a-js; the test is skipped where there is no Node."""
    if shutil.which("node") is None:
        pytest.skip("needs Node")
    if not (JS / "node_modules").is_dir():
        pytest.fail("needs the packages of tests/servers/js: make test-servers")
    with running("node", str(JS / "agent.mjs"), request.param) as base:
        yield base, request.param
