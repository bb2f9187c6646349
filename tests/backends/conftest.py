# SPDX-License-Identifier: Apache-2.0
"""Real backends, each started once for all tests and told of the same: the demo, the seeds' incidents, and more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.backends import jaeger as jaegers
from tests.backends.jaeger import Jaeger
from tests.backends.prometheus import Prometheus
from tests.backends.scraped import scraped
from tests.backends.story import Story, tell


@pytest.fixture(scope="session")
def jaeger() -> Iterator[Jaeger]:
    """A running Jaeger, or the test is skipped where there is no Go to build it with."""
    if not jaegers.BINARY.is_file():
        if shutil.which("go") is None:
            pytest.skip("needs Jaeger, and there is no Go to build it with")
        pytest.fail("needs Jaeger: make jaeger")
    with jaegers.running() as running:
        yield running


@pytest.fixture(scope="session")
def story(jaeger: Jaeger) -> Story:
    """All that was told to Jaeger, which has it by now."""
    return tell(jaeger)


@pytest.fixture(scope="session")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that watches an application, or the test is skipped where there is none."""
    with scraped(tmp_path_factory.mktemp("prometheus")) as running:
        yield running
