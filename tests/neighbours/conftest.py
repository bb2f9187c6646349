# SPDX-License-Identifier: Apache-2.0
"""Our telemetry, in memory, and theirs with it."""

from __future__ import annotations

import pytest

from tests.support.telemetry import Telemetry


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()
