# SPDX-License-Identifier: Apache-2.0
"""Agent Cards of one version as Agent Cards of another."""

from __future__ import annotations

from typing import Any

from tests.replay.dialects.dialect import Dialect
from tests.replay.dialects.reading import Object

_OF_0_3 = ("url", "preferredTransport", "additionalInterfaces", "protocolVersion", "supportsAuthenticatedExtendedCard")


def is_card(value: Any) -> bool:
    return isinstance(value, dict) and "name" in value and ("url" in value or "supportedInterfaces" in value)


def translated(card: Object, dialect: Dialect) -> Object:
    """The card of the same agent, were it to speak ``dialect``: the same interfaces, in another binding."""
    addresses, tenants = _addresses(card)
    rest = {name: member for name, member in card.items() if name not in (*_OF_0_3, "supportedInterfaces")}
    capabilities = dict(card["capabilities"]) if isinstance(card.get("capabilities"), dict) else None
    extended = card.get("supportsAuthenticatedExtendedCard")
    if capabilities is not None:
        extended = capabilities.pop("extendedAgentCard", extended)
        if dialect.is_1_0:
            capabilities.pop("stateTransitionHistory", None)
            capabilities |= {} if extended is None else {"extendedAgentCard": extended}
        rest["capabilities"] = capabilities
    if dialect.is_1_0:
        return rest | {
            "supportedInterfaces": [
                {"url": url, "protocolBinding": dialect.binding, "protocolVersion": "1.0"}
                | ({"tenant": tenants[url]} if tenants[url] or dialect.sdk == "js" else {})
                for url in addresses
            ]
        }
    return (
        rest
        | {"url": addresses[0], "preferredTransport": dialect.binding, "protocolVersion": "0.3.0"}
        | {"additionalInterfaces": [{"url": url, "transport": dialect.binding} for url in addresses]}
        | ({} if extended is None else {"supportsAuthenticatedExtendedCard": extended})
    )


def _addresses(card: Object) -> tuple[list[str], dict[str, str]]:
    """The URLs of the interfaces, each once and in their order, and the tenants at them."""
    entries = card.get("supportedInterfaces") or [{"url": card["url"]}, *card.get("additionalInterfaces", [])]
    tenants = {entry["url"]: entry.get("tenant", "") for entry in entries}
    return list(tenants), tenants
