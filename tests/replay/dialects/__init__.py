# SPDX-License-Identifier: Apache-2.0
"""Exchange scripts translated between the dialects of A2A, mechanically, and without a line of the product's code."""

from tests.replay.dialects.answers import refuses_by_a_cut
from tests.replay.dialects.calls import Untranslatable
from tests.replay.dialects.dialect import DIALECTS, HTTP_JSON, JSONRPC, Dialect, Shape
from tests.replay.dialects.scripts import dialect_of, translated

__all__ = [
    "DIALECTS",
    "HTTP_JSON",
    "JSONRPC",
    "Dialect",
    "Shape",
    "Untranslatable",
    "dialect_of",
    "refuses_by_a_cut",
    "translated",
]
