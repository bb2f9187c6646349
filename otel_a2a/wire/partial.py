# SPDX-License-Identifier: Apache-2.0
"""The beginning of a JSON document that is too large to be parsed as a whole."""

from __future__ import annotations

import re
from typing import Any, Final

from otel_a2a.wire.reading import UNREADABLE, load

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]|[^"{}\[\],]+', re.DOTALL)
_CLOSERS: Final = {0x7B: b"}", 0x5B: b"]"}


def head(body: bytes, window: int = 65_536) -> dict[str, Any]:
    """The members that are complete within the first ``window`` bytes, in their places; empty where there are none.

    Whatever is in the result is in the document, at the same place. A list or object that the window cuts is there
    as far as it goes.
    """
    beginning = body[:window]
    open_brackets: list[int] = []
    safe = position = 0
    while match := _TOKEN.match(beginning, position):
        position = match.end()
        first = beginning[match.start()]
        if first in _CLOSERS:
            open_brackets.append(first)
        elif first in b"}]":
            if not open_brackets:
                break
            open_brackets.pop()
        elif first != 0x2C:
            continue
        # Where a value has just ended or begun, the brackets still open are all that is missing.
        safe = match.start() if first == 0x2C else position
    closers = b"".join(_CLOSERS[bracket] for bracket in reversed(open_brackets))
    document = load(beginning[:safe] + closers) if safe else UNREADABLE
    return document if isinstance(document, dict) else {}
