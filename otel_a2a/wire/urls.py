# SPDX-License-Identifier: Apache-2.0
"""URLs in a form that can be compared, and in a form that may leave the house."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from otel_a2a.wire.credentials import digest

_DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_GRPC_TARGET: Final = re.compile(
    r"(?:(?P<scheme>https?|grpcs?)://|dns:(?://[^/]*/)?|ipv[46]:(?:///)?)?(?:[^/@]*@)?"
    r"(?P<host>\[[^\]]+\]|[^:/?#,\[\]]+)(?::(?P<port>\d{1,5}))?(?:[/?#].*)?",
    re.IGNORECASE,
)
_PATH_CHARACTERS: Final = "%/:@!$&'()*+,;=~-._"
_NAMES_AGENT: Final = re.compile(r"agent|assistant|graph|tenant|\A(?:id|name)\Z", re.IGNORECASE)
"""What a parameter is called whose value says which agent's card is meant."""
_TAIL: Final = re.compile(r"[\s/]+\Z")


@lru_cache(maxsize=2048)
def endpoint(url: str) -> str:
    """The comparable form of an interface URL.

    Scheme and host in lower case, no default port, no user-info, query, fragment or trailing slash. What is no URL
    with a host (a gRPC target, a relative reference) keeps its text, without user-info and query.
    """
    parts = _split(url)
    if parts is None:
        return _bare(url)
    scheme, host, port, path = parts
    if port is not None and port != _DEFAULT_PORTS.get(scheme):
        host = f"{host}:{port}"
    return f"{scheme}://{host}{_quoted(path).rstrip('/')}"


@lru_cache(maxsize=2048)
def grpc_endpoint(target: str) -> str:
    """The comparable form of a gRPC interface: ``host:port``.

    Takes what a channel is made for and what cards list, which need not be spelt alike: ``agent:50051``,
    ``dns:///agent:50051``, ``grpc://agent:50051``, ``https://agent`` and ``agent`` (gRPC's own default port is 443).
    What is no host (a Unix socket, a name of another resolver, a list of addresses) keeps its text.
    """
    match = _GRPC_TARGET.fullmatch(target.strip().replace("%5B", "[").replace("%5D", "]"))
    if match is None:
        return _bare(target)
    host, _ = _host(match["host"])
    default = _DEFAULT_PORTS["http"] if (match["scheme"] or "").lower() == "http" else _DEFAULT_PORTS["https"]
    return f"{host}:{int(match['port'] or default)}"


@lru_cache(maxsize=2048)
def fetch_url(url: str) -> str:
    """The comparable form of the URL of a card document; see ``endpoint``.

    Where the query names the agent (LangGraph: ``?assistant_id=…``), a keyed digest of that follows a ``?``: one server
    has a document for each. Whatever else is in a query (versions, tokens, time stamps against caches) makes no other
    document.
    """
    query = url.partition("?")[2].partition("#")[0]
    named = sorted(pair for pair in parse_qsl(query) if _NAMES_AGENT.search(pair[0]))
    return f"{endpoint(url)}?{digest(repr(named))}" if named else endpoint(url)


def without_query(url: str) -> str:
    """``url``, in the form of ``fetch_url``, without what its query names."""
    return url.partition("?")[0]


@lru_cache(maxsize=2048)
def server(url: str) -> tuple[str, int | None]:
    """Host and port, for ``server.address`` and ``server.port``; the scheme's default port where none is given."""
    parts = _split(url)
    if parts is None:
        target = _bare(url).rpartition("://")[2].partition("/")[0]
        name, _, port = target.rpartition(":")
        return (name.strip("[]"), int(port)) if _is_port(port) and name else (target, None)
    scheme, host, number, _ = parts
    return host.strip("[]"), number if number is not None else _DEFAULT_PORTS.get(scheme)


@lru_cache(maxsize=2048)
def redacted(url: str) -> str:
    """The URL as it was written, without user-info, query and fragment: for ``url.full``."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    scheme, separator, rest = bare.partition("://") if "://" in bare else ("", "", bare)
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


def _split(url: str) -> tuple[str, str, int | None, str] | None:
    """Scheme, host, port and path; None where the text is no URL with a host."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    host, port = _host(parts.netloc)
    return (parts.scheme, host, port, parts.path) if parts.scheme and host else None


def _host(netloc: str) -> tuple[str, int | None]:
    """Host in lower case (with brackets where IPv6 has them) and port; an impossible port stays part of the host."""
    authority = netloc.rpartition("@")[2].strip().lower()
    if not authority.isascii():
        with suppress(UnicodeError):
            authority = authority.encode("idna").decode("ascii")
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return authority, None
    if not port:
        return host, None
    return (host, int(port)) if _is_port(port) else (authority, None)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5


def _quoted(path: str) -> str:
    try:
        return quote(path, safe=_PATH_CHARACTERS)
    except UnicodeError:
        return path


def _bare(url: str) -> str:
    text = _TAIL.sub("", redacted(url.strip())).lstrip()
    return text if "/" in text else text.lower()
