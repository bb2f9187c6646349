# SPDX-License-Identifier: Apache-2.0
"""Digests of credentials."""

from __future__ import annotations

import subprocess
import sys

from otel_a2a.wire import credentials


def test_equal_secrets_have_equal_digests_that_do_not_show_them() -> None:
    """Within a process a digest tells equal from different, and nothing else."""
    assert credentials.digest("secret") == credentials.digest("secret")
    assert credentials.digest("secret") != credentials.digest("Secret")
    assert "secret" not in credentials.digest("secret")
    assert credentials.digest("") == ""
    assert credentials.digest("\ud800")


def test_digests_say_nothing_in_another_process() -> None:
    """The key is made anew in every process."""
    code = "from otel_a2a.wire import credentials; print(credentials.digest('secret'))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() != credentials.digest("secret")


def test_authorization_and_api_keys_count_and_cookies_do_not() -> None:
    """A rotated session cookie is no other credential."""
    bearer = credentials.of_request({"authorization": "Bearer x"}.get)
    assert bearer
    assert credentials.of_request({"authorization": "Bearer x", "cookie": "a=b"}.get) == bearer
    assert credentials.of_request({"x-api-key": "Bearer x"}.get)
    assert credentials.of_request({"authorization": "Bearer x", "x-api-key": "y"}.get) != bearer
    assert credentials.of_request({"cookie": "a=b"}.get) == ""
