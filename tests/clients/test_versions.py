# SPDX-License-Identifier: Apache-2.0
"""Libraries that are too old: real ones, which say that they are."""

from __future__ import annotations

import pytest

from otel_a2a.clients import _versions
from tests.clients.test_imports import python

TOO_OLD = {
    "httpx": ("0.22.0", "httpx>=0.23"),
    "httpx2": ("2.13.9", "httpx2>=2.14"),
    "requests": ("2.27.1", "requests>=2.28"),
    "aiohttp": ("3.8.6", "aiohttp>=3.9"),
    "grpc": ("1.61.3", "grpcio>=1.62"),
}


@pytest.mark.parametrize("name", TOO_OLD)
def test_one_that_is_too_old_is_left_alone_with_one_warning(name: str) -> None:
    """The warning names both versions, the application goes on, and nothing is patched."""
    pytest.importorskip(name)
    version, wanted = TOO_OLD[name]
    output = python(f"""
        import {name}
        {name}.__version__ = {version!r}
        clients.install()
        clients.uninstall()
        clients.install()
        print([client.patched for client in clients.status() if client.name == {name!r}])
    """)
    told = [line for line in output.splitlines() if line.startswith(f"{name} ")]
    assert told == [f"{name} {version} is left alone, A2A calls through it stay unseen: {wanted} is needed"]
    assert output.endswith("[False]\n")


@pytest.mark.parametrize("version", ["2.28", "2.34.2", "2.35.0.dev1", "99", "99.0+of.ours", "main", "", None])
def test_any_other_version_will_do(version: str | None) -> None:
    """Later ones, previews, and those that do not tell: what is patched is looked for in any case."""
    _versions.check("requests", version)


def test_all_libraries_have_an_oldest_version() -> None:
    """What is patched is what the extra names."""
    assert set(_versions._supported()) >= {wanted.partition(">")[0] for _, wanted in TOO_OLD.values()}
