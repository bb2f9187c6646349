# SPDX-License-Identifier: Apache-2.0
"""Fixtures for what is received."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.names import complaints, of_telemetry
from tests.support.telemetry import Telemetry
from tests.webhooks.application import Application, application


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    """Real providers that export to memory. What a test made them export has the names that it may have."""
    made = Telemetry()
    yield made
    assert complaints(of_telemetry(made)) == []


@pytest.fixture
def app(telemetry: Telemetry) -> Iterator[Application]:
    """An application that has fetched its agent's card."""
    with application(telemetry) as made:
        made.card()
        yield made
