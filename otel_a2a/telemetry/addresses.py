# SPDX-License-Identifier: Apache-2.0
"""Host names as labels of metrics: a bounded number of them, so that no agent can make the series grow without end."""

from __future__ import annotations

from typing import Final

MAX_ADDRESSES: Final = 100
OTHER_ADDRESS: Final = "_OTHER"
"""What further hosts are counted under, as the conventions name a value that is not listed."""


class Addresses:
    """The hosts that have a label of their own: the first ``MAX_ADDRESSES`` that were asked for."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def label(self, address: str) -> str:
        """The value of ``server.address`` for a host."""
        if address not in self._known:
            if len(self._known) >= MAX_ADDRESSES:
                return OTHER_ADDRESS
            self._known.add(address)
        return address
