# SPDX-License-Identifier: Apache-2.0
"""One server for the programs of the seeds; each test has an agent, an engine and a client of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.seeds import BASE, SERVED
from tests.support.servers import serve


@pytest.fixture(scope="session", autouse=True)
def serving() -> Iterator[None]:
    """The address is in ``BASE`` for as long as the server runs."""
    with serve(SERVED.app) as base:
        BASE.append(base)
        yield
    BASE.clear()
