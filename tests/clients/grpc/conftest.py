# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.clients.grpc.sides")

from tests.clients.grpc.agent import DIALECTS, VERSIONS, Agent, Dialect, serving  # noqa: E402
from tests.support.names import complaints, of_telemetry  # noqa: E402
from tests.support.telemetry import Telemetry  # noqa: E402


@pytest.fixture(scope="session")
def served() -> Iterator[Agent]:
    with serving() as agent:
        yield agent


@pytest.fixture
def agent(served: Agent) -> Agent:
    served.forget()
    return served


@pytest.fixture(params=VERSIONS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[request.param]


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    """Real providers that export to memory. What a test made them export has the names that it may have."""
    exported = Telemetry()
    yield exported
    assert complaints(of_telemetry(exported)) == []
