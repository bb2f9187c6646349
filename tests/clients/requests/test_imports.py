# SPDX-License-Identifier: Apache-2.0
"""When requests is patched: as the application imports it, and never because of us. Each case in its own process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.test_imports import python

PATCHED = "hasattr(requests.Session.send, '__wrapped__')"


@pytest.mark.parametrize(
    "order",
    [
        "import requests; clients.install()",
        "clients.install(); import requests",
        "clients.install(); from requests.sessions import Session; import requests",
        "clients.install(); clients.uninstall(); import requests; clients.install(); clients.install()",
    ],
)
def test_imported_before_or_afterwards(order: str) -> None:
    """Patched in whatever order, and the original is back afterwards."""
    assert (
        python(f"""
        {order}
        print({PATCHED}, [client.name for client in clients.status() if client.patched])
        clients.uninstall()
        print({PATCHED})
    """)
        == "True ['requests']\nFalse\n"
    )


def test_imported_while_uninstalled_or_disabled() -> None:
    """The hook stays but does nothing."""
    assert (
        python(f"""
        clients.install()
        clients.uninstall()
        clients.install({{"requests"}})
        import requests
        print({PATCHED})
        clients.install()
        print({PATCHED})
        clients.install({{"requests"}})
        print({PATCHED})
    """)
        == "False\nTrue\nFalse\n"
    )


def test_library_without_the_patch_point_is_left_alone_with_one_warning(tmp_path: Path) -> None:
    """The warning names the version and what is missing; the application gets its library, and the others are seen."""
    Path(tmp_path, "requests.py").write_text("__version__ = '99.0'\nclass Session: ...\nclass PreparedRequest: ...")
    output = python(f"""
        sys.path.insert(0, {str(tmp_path)!r})
        clients.install()
        import requests, httpx
        clients.uninstall()
        clients.install()
        print([client.name for client in clients.status() if client.patched])
    """)
    warning, patched = output.splitlines()
    assert warning == "requests 99.0 is left alone, A2A calls through it stay unseen: requests.Session has no send"
    assert patched == "['httpx']"
