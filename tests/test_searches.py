# SPDX-License-Identifier: Apache-2.0
"""The searches in the documentation are about names that exist; ``tests/backends`` types them into a real Jaeger."""

from __future__ import annotations

import re

import pytest

from otel_a2a import semconv
from otel_a2a_policies import RULES
from tests.backends.documents import JAEGER_README, README, Row, rows
from tests.backends.jaeger import tags_of

pytestmark = pytest.mark.skipif(not JAEGER_README.is_file(), reason="needs the sources")

NAMES = {value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)}
LEVELS = {rule.name: rule.level.value for rule in RULES}


def _all() -> list[Row]:
    return [*rows(JAEGER_README, "## Searches"), *rows(README, "### The incidents of the seeds")]


def test_tags_are_attributes_and_operations_are_rules() -> None:
    """What is to be typed for Jaeger: attributes that are written, and rules by the level that they have."""
    for row in _all():
        assert tags_of(row.search.tags).keys() <= NAMES, row.title
        assert tags_of(row.search.tags).get(semconv.SECURITY_RULE_NAME, RULES[0].name) in LEVELS
        level, _, rule = row.search.operation.partition(" ")
        if f"{level} " in semconv.SPAN_FINDING_PREFIXES:
            assert LEVELS[rule] == level, row.title


def test_traceql_says_the_same_as_the_other_columns() -> None:
    """Each tag and the operation are in it, with their values and nothing else; a tag of Jaeger's is text always."""
    for row in _all():
        if ">>" in row.traceql:  # cannot be said to Jaeger
            continue
        condition = row.traceql.partition("|")[0].strip("{} ").replace('"', "")
        said = dict(each.split(" = ") for each in condition.split(" && "))
        typed = {f"span.{name}": value for name, value in tags_of(row.search.tags).items()}
        assert said == typed | ({"name": row.search.operation} if row.search.operation else {}), row.title
        assert set(re.findall(r"span\.([a-z0-9_.]+)", row.traceql)) <= NAMES
