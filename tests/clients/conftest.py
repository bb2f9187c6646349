# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import gc
import importlib
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.clients.sides")

from tests.clients.loopback import Server  # noqa: E402
from tests.clients.sides import KINDS, LIBRARIES  # noqa: E402


@pytest.fixture(scope="session")
def loopback() -> Iterator[Server]:
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # Each comparison collects garbage, so that what is forgotten ends; all that is here already need not be looked at.
    gc.collect()
    gc.freeze()
    with Server() as server:
        yield server
    gc.unfreeze()


@pytest.fixture
def server(loopback: Server) -> Iterator[Server]:
    loopback.forget()
    loopback.scripts.clear()
    yield loopback


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    # httpx2 cannot be installed beside the oldest httpx.
    pytest.importorskip(name)
    return name


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name
