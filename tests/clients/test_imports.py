# SPDX-License-Identifier: Apache-2.0
"""When libraries are patched: as the application imports them, in any order, and never because of us.

Import hooks and aliases last as long as a process, so each case runs in one of its own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def python(program: str) -> str:
    """The output of ``program``; what it warns of comes first."""
    result = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stderr + result.stdout


PREAMBLE = """
import sys
from otel_a2a import clients, operation

def patched(module, name="Client"):
    return hasattr(getattr(module, name).send, "__wrapped__")

def both(module):
    return patched(module), patched(module, "AsyncClient")

class Count:
    calls = 0
    def __call__(self, exchange):
        self.calls += 1

operation.begin = Count()

def calls_of_one_request(module):
    operation.begin.calls = 0
    transport = module.MockTransport(lambda request: module.Response(200))
    with module.Client(transport=transport) as client:
        client.get("http://agent/")
    return operation.begin.calls
"""


def test_nothing_is_imported_by_us() -> None:
    """An application without HTTP libraries does not get one."""
    assert (
        python("""
        clients.install()
        print([name for name in ("httpx", "httpx2", "requests", "aiohttp", "grpc") if name in sys.modules])
        print({(client.version, client.patched) for client in clients.status()})
    """)
        == "[]\n{(None, False)}\n"
    )


def test_imported_before(library: str) -> None:
    """A library that is already here is patched at once."""
    assert (
        python(f"""
        import {library}
        before = {library}.Client, {library}.Client()
        clients.install()
        print(both({library}), {library}.Client is before[0])
    """)
        == "(True, True) True\n"
    )


def test_imported_afterwards(library: str) -> None:
    """A library that comes later is patched as it comes, and the other one stays out."""
    assert (
        python(f"""
        clients.install()
        import {library}
        print(both({library}), [client.name for client in clients.status() if client.patched])
    """)
        == f"(True, True) ['{library}']\n"
    )


def test_imported_while_uninstalled(library: str) -> None:
    """The hook stays but does nothing; the next install patches what has come in the meantime."""
    assert (
        python(f"""
        clients.install()
        clients.uninstall()
        import {library}
        print(both({library}))
        clients.install()
        print(both({library}), calls_of_one_request({library}))
        clients.uninstall()
        print(both({library}), calls_of_one_request({library}))
    """)
        == "(False, False)\n(True, True) 1\n(False, False) 0\n"
    )


def test_disabled_library_is_left_alone() -> None:
    """Named before or after its import, and also when it was patched until then."""
    pytest.importorskip("httpx2")
    assert (
        python("""
        clients.install({"httpx"})
        import httpx, httpx2
        print(both(httpx), both(httpx2))
        clients.install()
        print(both(httpx), both(httpx2))
        clients.install({"httpx2"})
        print(both(httpx), both(httpx2))
    """)
        == "(False, False) (True, True)\n(True, True) (True, True)\n(True, True) (False, False)\n"
    )


@pytest.mark.parametrize(
    "order",
    [
        "clients.install(); import httpx2; httpx2.alias_httpx()",
        "import httpx2; httpx2.alias_httpx(); clients.install()",
        "import httpx2; clients.install(); httpx2.alias_httpx()",
        "import httpx2; httpx2.alias_httpx(); import httpx; clients.install(); clients.install()",
        "clients.install(); clients.uninstall(); import httpx2; httpx2.alias_httpx(); import httpx; clients.install()",
    ],
)
def test_alias_is_patched_once(order: str) -> None:
    """``httpx2.alias_httpx()`` works whenever it is called, and a request under it is seen once."""
    pytest.importorskip("httpx2")
    assert (
        python(f"""
        {order}
        import httpx
        print(httpx is httpx2, both(httpx), calls_of_one_request(httpx))
        print([client.name for client in clients.status() if client.patched])
        clients.uninstall()
        print(both(httpx), calls_of_one_request(httpx))
    """)
        == "True (True, True) 1\n['httpx', 'httpx2']\n(False, False) 0\n"
    )


def test_alias_is_disabled_by_the_name_of_the_real_library() -> None:
    """Under the alias there is no httpx, so only ``httpx2`` in the settings means anything."""
    pytest.importorskip("httpx2")
    assert (
        python("""
        import httpx2
        httpx2.alias_httpx()
        clients.install({"httpx2"})
        print(both(httpx2))
        clients.install({"httpx"})
        print(both(httpx2))
    """)
        == "(False, False)\n(True, True)\n"
    )


def test_preview_without_async_client_is_left_alone_with_one_warning(tmp_path: object) -> None:
    """httpx 1.0's previews have no ``AsyncClient``: the warning names the version, the application goes on."""
    pytest.importorskip("httpx2")
    output = python(f"""
        import pathlib
        preview = "__version__ = '1.0.dev6'\\nclass Client:\\n    def send(self): ..."
        pathlib.Path({str(tmp_path)!r}, "httpx.py").write_text(preview)
        sys.path.insert(0, {str(tmp_path)!r})
        clients.install()
        import httpx, httpx2
        clients.uninstall()
        clients.install()
        print(patched(httpx), both(httpx2))
        print([client.name for client in clients.status() if client.patched])
    """)
    warning, *lines = output.splitlines()
    assert warning == "httpx 1.0.dev6 is left alone, A2A calls through it stay unseen: httpx has no AsyncClient"
    assert lines == ["False (True, True)", "['httpx2']"]


def test_fault_of_ours_does_not_fail_the_import() -> None:
    """Whatever goes wrong while patching, the application gets its library."""
    assert "httpx 0" in python("""
        clients.CLIENTS["httpx"] = "otel_a2a.clients.no_such_module"
        clients.install()
        import httpx
        print(patched(httpx))
    """)


def test_launcher_order_with_contrib() -> None:
    """The HTTP instrumentation of OpenTelemetry patches transports: with it before or after us, each is called once."""
    pytest.importorskip("opentelemetry.instrumentation.httpx")
    for order in ("contrib.instrument(); clients.install()", "clients.install(); contrib.instrument()"):
        assert (
            python(f"""
            from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
            contrib = HTTPXClientInstrumentor()
            {order}
            import httpx
            print(both(httpx), calls_of_one_request(httpx))
            contrib.uninstrument()
            print(both(httpx), calls_of_one_request(httpx))
            contrib.instrument()
            clients.uninstall()
            print(both(httpx), hasattr(httpx.HTTPTransport.handle_request, "__wrapped__"))
        """)
            == "(True, True) 1\n(True, True) 1\n(False, False) True\n"
        )
