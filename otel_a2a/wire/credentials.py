# SPDX-License-Identifier: Apache-2.0
"""Digests of credentials: enough to see that two are the same, useless outside this process."""

from __future__ import annotations

import hmac
import secrets
from typing import Final

from otel_a2a.wire.reading import Headers

_KEY: Final = secrets.token_bytes(32)
_SENT_IN: Final = ("authorization", "x-api-key", "api-key")


def digest(value: str) -> str:
    """Keyed digest of a secret, with a key made anew in every process; empty for the empty text."""
    if not value:
        return ""
    return hmac.digest(_KEY, value.encode("utf-8", "surrogatepass"), "sha256").hex()[:32]


def of_request(header: Headers) -> str:
    """Keyed digest of the credentials that a request carries in its headers; cookies do not count."""
    return digest("\n".join(value for name in _SENT_IN if (value := header(name))))
