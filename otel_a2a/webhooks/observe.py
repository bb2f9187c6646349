# SPDX-License-Identifier: Apache-2.0
"""From one delivery to what is found in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from opentelemetry import context, trace
from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from otel_a2a import operation
from otel_a2a.engine.findings import Finding
from otel_a2a.observations import Delivery
from otel_a2a.runtime import Runtime
from otel_a2a.telemetry.references import reference
from otel_a2a.wire import credentials, webhooks

Text = str | bytes
Headers = Mapping[str, str] | Iterable[tuple[Text, Text]]
Verify = Callable[[Mapping[str, str], bytes], bool]
"""Headers by lower-case name, and the body, to whether the application vouches for the sender."""


def observe_webhook(
    body: bytes, headers: Headers, *, url: str | None = None, verified: bool = False
) -> tuple[Finding, ...]:
    """Look at one delivery. For applications that receive push notifications without one of the middlewares.

    Args:
        body: the request's body. What is no A2A delivery, of any version, is passed over.
        headers: the request's headers, as a mapping or as pairs; names in any case, latin-1 where bytes.
        url: the URL as it was registered, where tasks of several agents may have one id and no token tells them apart.
        verified: the application vouches for the sender: it has checked a signature, say. Nothing but True counts.

    Returns:
        What was found, most often nothing. A finding belongs to the current span. Nothing is ever raised.
    """
    runtime = operation.running()
    if runtime is None:
        return ()
    try:
        return observe(runtime, body, fields(headers), lambda *_: verified, url or "")
    except Exception as error:
        runtime.internal_error("webhook", error)
        return ()


def observe(
    runtime: Runtime, body: bytes, headers: Mapping[str, str], verify: Verify, url: str = ""
) -> tuple[Finding, ...]:
    """As ``observe_webhook``, with headers by lower-case name. ``verify`` is asked only of what reads as a delivery."""
    if len(body) > runtime.settings.max_body or not is_instrumentation_enabled():
        return ()
    told = webhooks.read_told(headers.get, body)
    if not told:
        return ()
    delivery = Delivery(
        token=webhooks.token(headers.get),
        url=credentials.digest(url),
        verified=_is_vouched_for(runtime, verify, headers, body),
        span=reference(trace.get_current_span()),
    )
    runtime.worker.drain()
    if runtime.on_operation is not None:
        runtime.on_operation()
    findings: list[Finding] = []
    for seen in told:
        seen.delivery = delivery
        findings += runtime.observe(seen, context.get_current(), enforce=False).findings
    return tuple(findings)


def _is_vouched_for(runtime: Runtime, verify: Verify, headers: Mapping[str, str], body: bytes) -> bool:
    try:
        return verify(headers, body) is True
    except Exception as error:
        runtime.internal_error("webhook verification", error)
        return False


def fields(headers: Headers) -> dict[str, str]:
    """Headers by lower-case name; of several with one name the first. What is no text is passed over."""
    items: Any = getattr(headers, "items", None)
    pairs: Any = items() if callable(items) else headers
    found: dict[str, str] = {}
    for name, value in pairs:
        if isinstance(name, Text) and isinstance(value, Text):
            found.setdefault(_decoded(name).lower(), _decoded(value))
    return found


def _decoded(value: Text) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
