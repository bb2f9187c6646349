# SPDX-License-Identifier: Apache-2.0
"""URLs that name the same thing compare equal, and no secret survives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_a2a.wire import urls


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://agent.example", "https://agent.example"),
        ("https://agent.example/", "https://agent.example"),
        ("HTTPS://Agent.Example:443/A2A/", "https://agent.example/A2A"),
        ("http://agent.example:80/x", "http://agent.example/x"),
        ("http://agent.example:8080/x?v=1&key=abc#top", "http://agent.example:8080/x"),
        ("https://user:pass@agent.example/x", "https://agent.example/x"),
        ("http://[2001:DB8::1]:9000/x", "http://[2001:db8::1]:9000/x"),
        ("http://[::1]", "http://[::1]"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        ("https://agent.example/a%20b", "https://agent.example/a%20b"),
        ("http://agent.example:", "http://agent.example"),
        ("agent.example:50051", "agent.example:50051"),
        ("AGENT.example:50051", "agent.example:50051"),
        ("/api/a2a", "/api/a2a"),
        ("", ""),
    ],
)
def test_endpoint_is_the_comparable_form(url: str, expected: str) -> None:
    """Case, default ports, trailing slashes, queries and user-info make no difference."""
    assert urls.endpoint(url) == expected
    assert urls.fetch_url(url) == expected


def test_a_query_that_names_the_agent_makes_another_document() -> None:
    """LangGraph serves all its cards at one path. No value survives, and the order of parameters says nothing."""
    card = "https://host.example/.well-known/agent-card.json"
    first = urls.fetch_url(f"{card}?assistant_id=one&key=secret")
    assert urls.without_query(first) == card and "one" not in first.removeprefix(card) and "secret" not in first
    assert first == urls.fetch_url(f"{card}?v=2&assistant_id=one#top") != urls.fetch_url(f"{card}?assistant_id=two")
    assert urls.fetch_url(f"{card}?tenant=t&agentId=a") == urls.fetch_url(f"{card}?agentId=a&tenant=t")
    assert urls.fetch_url(f"{card}?_=1701") == urls.fetch_url(f"{card}?token=x") == card


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://agent.example/x", ("agent.example", 443)),
        ("http://Agent.example", ("agent.example", 80)),
        ("http://u:p@agent.example:8080/x", ("agent.example", 8080)),
        ("http://[::1]:9000", ("::1", 9000)),
        ("grpc://agent.example", ("agent.example", None)),
        ("agent.example:50051", ("agent.example", 50051)),
        ("agent.example", ("agent.example", None)),
        ("", ("", None)),
    ],
)
def test_server_is_host_and_port(url: str, expected: tuple[str, int | None]) -> None:
    """Host and port of a URL, with the scheme's default port."""
    assert urls.server(url) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("agent.example:50051", "agent.example:50051"),
        ("AGENT.example:50051", "agent.example:50051"),
        ("grpc://agent.example:50051", "agent.example:50051"),
        ("grpcs://agent.example", "agent.example:443"),
        ("https://agent.example", "agent.example:443"),
        ("http://agent.example/a2a?x=1", "agent.example:80"),
        ("https://u:p@agent.example:8443/", "agent.example:8443"),
        ("agent.example", "agent.example:443"),
        ("dns:///agent.example:50051", "agent.example:50051"),
        ("dns://8.8.8.8/agent.example:50051", "agent.example:50051"),
        ("dns:agent.example:50051", "agent.example:50051"),
        ("ipv4:127.0.0.1:50051", "127.0.0.1:50051"),
        ("ipv6:%5B::1%5D:50051", "[::1]:50051"),
        ("[::1]:50051", "[::1]:50051"),
        ("bücher.example:50051", "xn--bcher-kva.example:50051"),
        ("unix:/run/agent.sock", "unix:/run/agent.sock"),
        ("unix:///run/agent.sock", "unix:///run/agent.sock"),
        ("xds:///agents", "xds:///agents"),
        ("ipv4:10.0.0.1:1,10.0.0.2:2", "ipv4:10.0.0.1:1,10.0.0.2:2"),
        ("", ""),
    ],
)
def test_a_grpc_target_and_what_cards_say_have_one_form(target: str, expected: str) -> None:
    """Host and port, however a channel or a card spells them; what is no host keeps its text."""
    assert urls.grpc_endpoint(target) == expected
    assert urls.grpc_endpoint(expected) == expected


def test_server_of_a_grpc_endpoint() -> None:
    """IPv6 without its brackets, as of a URL."""
    assert urls.server("[::1]:50051") == ("::1", 50051)
    assert urls.server("agent.example:443") == ("agent.example", 443)


def test_redacted_keeps_the_url_as_written_without_its_secrets() -> None:
    """User-info, query and fragment go; the rest stays as it was."""
    assert urls.redacted("https://u:p@Agent.example:443/A/?key=1#f") == "https://Agent.example:443/A/"
    assert urls.redacted("u:p@agent.example/x?key=1") == "agent.example/x"


def test_relative_interface_urls_are_resolved_against_the_card() -> None:
    """A card may name its interface by a path alone; other references are left alone."""
    base = "https://agent.example/.well-known/agent-card.json"
    assert urls.resolved(base, "/a2a") == "https://agent.example/a2a"
    assert urls.resolved(base, "http://other.example/a2a") == "http://other.example/a2a"
    assert urls.resolved(base, "agent.example:50051") == "agent.example:50051"
    assert urls.resolved("http://[broken", "/a2a") == "/a2a"


@given(st.text() | st.text("hH0:/@?# .[]\x85é%", max_size=12))
def test_no_text_makes_a_url_function_raise(url: str) -> None:
    """Any text has an endpoint and a server."""
    for text in (url, f"http://{url}"):
        urls.endpoint(text)
        urls.grpc_endpoint(text)
        urls.server(text)
        urls.redacted(text)
        urls.resolved(text, text)


@given(st.from_regex(r"(https?|grpc)://[a-zA-Z0-9.é-]{1,9}(:[0-9]{0,5})?(/[a-z é%/]{0,9})?(\?[a-z]*)?", fullmatch=True))
def test_the_endpoint_of_an_endpoint_is_itself(url: str) -> None:
    """So that it does not matter how often a URL was normalised."""
    assert urls.endpoint(urls.endpoint(url)) == urls.endpoint(url)


@given(st.from_regex(r"https?://[a-z]{1,8}:sEcReT@[a-z]{1,8}\.example/[a-z/]{0,8}\?k=sEcReT", fullmatch=True))
def test_no_secret_survives(url: str) -> None:
    """Neither user-info nor query is in any form of a URL."""
    assert "sEcReT" not in urls.endpoint(url) + urls.redacted(url) + repr(urls.server(url))
