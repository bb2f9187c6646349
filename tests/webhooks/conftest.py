# SPDX-License-Identifier: Apache-2.0
"""Fixtures for what is received."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.telemetry import Telemetry
from tests.webhooks.application import Application, application


@pytest.fixture
def telemetry() -> Telemetry:
    """Real providers that export to memory."""
    return Telemetry()


@pytest.fixture
def app(telemetry: Telemetry) -> Iterator[Application]:
    """An application that has fetched its agent's card."""
    with application(telemetry) as made:
        made.card()
        yield made
