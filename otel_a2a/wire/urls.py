# SPDX-License-Identifier: Apache-2.0
"""URLs in a form that can be compared, and in a form that may leave the house."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import Final
from urllib.parse import SplitResult, quote, urljoin, urlsplit

_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_PATH_CHARACTERS: Final = "%/:@!$&'()*+,;=~-._"
_HOST_AND_PORT: Final = re.compile(r"(.*?)(?::(\d{1,5}))?\Z", re.DOTALL)


@lru_cache(maxsize=2048)
def endpoint(url: str) -> str:
    """The comparable form of an interface URL.

    Scheme and host in lower case, no default port, no user-info, query, fragment or trailing slash. What is no URL
    with a host (a gRPC target, a relative reference) keeps its text, without user-info and query.
    """
    parts = _split(url)
    if parts is None:
        return _bare(url)
    host, port = _host(parts)
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        host = f"{host}:{port}"
    return f"{parts.scheme}://{host}{_quoted(parts.path).rstrip('/')}"


def fetch_url(url: str) -> str:
    """The comparable form of the URL of a card document; see ``endpoint``."""
    return endpoint(url)


@lru_cache(maxsize=2048)
def server(url: str) -> tuple[str, int | None]:
    """Host and port, for ``server.address`` and ``server.port``; the scheme's default port where none is given."""
    parts = _split(url)
    if parts is None:
        name, port = _HOST_AND_PORT.match(_bare(url).rpartition("://")[2].partition("/")[0]).groups()  # type: ignore[union-attr]
        return name, int(port) if port else None
    host, number = _host(parts)
    return host.strip("[]"), number if number is not None else _DEFAULT_PORTS.get(parts.scheme)


@lru_cache(maxsize=2048)
def redacted(url: str) -> str:
    """The URL as it was written, without user-info, query and fragment: for ``url.full``."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    scheme, separator, rest = bare.rpartition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def resolved(base: str, url: str) -> str:
    """``url`` as a card at ``base`` means it: relative references are made absolute."""
    if "://" in url or not url.startswith("/"):
        return url
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return parts if parts.netloc and parts.scheme else None


def _host(parts: SplitResult) -> tuple[str, int | None]:
    """Host in lower case (with brackets where IPv6 has them) and port; an impossible port stays part of the host."""
    authority = parts.netloc.rpartition("@")[2].lower()
    if not authority.isascii():
        with suppress(UnicodeError):
            authority = authority.encode("idna").decode("ascii")
    if authority.endswith("]"):
        return authority, None
    host, colon, port = authority.rpartition(":")
    if not colon:
        return authority, None
    if not port:
        return host, None
    return (host, int(port)) if port.isascii() and port.isdigit() and len(port) <= 5 else (authority, None)


def _quoted(path: str) -> str:
    try:
        return quote(path, safe=_PATH_CHARACTERS)
    except UnicodeError:
        return path


def _bare(url: str) -> str:
    text = redacted(url.strip()).rstrip("/")
    return text if "/" in text else text.lower()
