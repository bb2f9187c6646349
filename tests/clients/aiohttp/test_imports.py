# SPDX-License-Identifier: Apache-2.0
"""When aiohttp is patched: as the application imports it, with or without the other libraries, and never by us.

Import hooks last as long as a process, so each case runs in one of its own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PREAMBLE = """
import asyncio, sys
from otel_a2a import clients, operation

POINTS = ("ClientSession", "_request"), ("ClientResponse", "close"), ("ClientResponse", "release")

def patched():
    import aiohttp
    return [hasattr(getattr(getattr(aiohttp, owner), name), "__wrapped__") for owner, name in POINTS]

class Count:
    calls = 0
    def __call__(self, exchange):
        self.calls += 1

operation.begin = Count()

def calls_of_one_request():
    import aiohttp
    async def request():
        async with aiohttp.ClientSession() as session:
            try:
                await session.get("http://127.0.0.1:1/")
            except aiohttp.ClientError:
                pass
    operation.begin.calls = 0
    asyncio.run(request())
    return operation.begin.calls

def status():
    return {client.name: client.patched for client in clients.status()}["aiohttp"]
"""
ON, OFF = "[True, True, True]", "[False, False, False]"


def python(program: str) -> str:
    """The output of ``program``; what it warns of comes first."""
    result = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stderr + result.stdout


def test_imported_before_or_afterwards() -> None:
    """It is patched at once, or as it comes; the classes stay the same objects."""
    for order in ("import aiohttp; clients.install()", "clients.install(); import aiohttp"):
        assert (
            python(f"""
            {order}
            print(patched(), status(), calls_of_one_request())
            clients.uninstall()
            print(patched(), status(), calls_of_one_request())
        """)
            == f"{ON} True 1\n{OFF} False 0\n"
        )


def test_imported_while_uninstalled() -> None:
    """The hook stays but does nothing; the next install patches what has come in the meantime."""
    assert (
        python("""
        clients.install()
        clients.uninstall()
        import aiohttp
        print(patched(), calls_of_one_request())
        clients.install()
        clients.install()
        print(patched(), calls_of_one_request())
    """)
        == f"{OFF} 0\n{ON} 1\n"
    )


def test_imported_by_others() -> None:
    """Also where another library brings it, and as a module within it."""
    assert (
        python("""
        clients.install()
        import aiohttp.client
        print(patched(), status())
    """)
        == f"{ON} True\n"
    )


def test_disabled_it_is_left_alone() -> None:
    """Named before or after its import, and also when it was patched until then."""
    assert (
        python("""
        clients.install({"aiohttp"})
        import aiohttp
        print(patched(), status())
        clients.install()
        print(patched(), status())
        clients.install({"aiohttp"})
        print(patched(), status())
    """)
        == f"{OFF} False\n{ON} True\n{OFF} False\n"
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("class ClientSession: ...", "aiohttp has no ClientResponse"),
        (
            "ClientResponse = ClientResponseError = BytesPayload = JsonPayload = ClientSession = type('X', (), {})",
            "_build",
        ),
    ],
)
def test_one_that_lacks_a_patch_point_is_left_alone_with_one_warning(content: str, reason: str, tmp_path: Path) -> None:
    """The warning names the version, the application goes on, and the other libraries are patched."""
    (tmp_path / "aiohttp.py").write_text(f"__version__ = '99.0'\n{content}\n", "utf-8")
    output = python(f"""
        sys.path.insert(0, {str(tmp_path)!r})
        clients.install()
        import aiohttp, requests
        clients.uninstall()
        clients.install()
        print(status(), hasattr(requests.Session.send, "__wrapped__"))
    """)
    warning, *lines = output.splitlines()
    assert warning.startswith("aiohttp 99.0 is left alone, A2A calls through it stay unseen: ")
    assert reason in warning
    assert lines == ["False True"]


def test_wrapped_by_somebody_else_it_stays_out_of_their_way() -> None:
    """A wrapper on top of ours is not taken off; ours beneath lets everything through, and counts once when back."""
    assert (
        python("""
        import aiohttp
        clients.install()
        inner = aiohttp.ClientSession._request
        async def outer(self, *arguments, **options):
            return await inner(self, *arguments, **options)
        outer.__wrapped__ = inner
        aiohttp.ClientSession._request = outer
        print(calls_of_one_request())
        clients.uninstall()
        print(aiohttp.ClientSession._request is outer, calls_of_one_request())
        clients.install()
        print(aiohttp.ClientSession._request is outer, calls_of_one_request())
    """)
        == "1\nTrue 0\nTrue 1\n"
    )
