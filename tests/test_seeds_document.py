# SPDX-License-Identifier: Apache-2.0
"""``docs/seeds.md``: every name in it exists, and every rule that comes from a seed is told with that seed."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import otel_a2a
from otel_a2a import environment_variables, local, testing, webhooks
from otel_a2a.config import Settings
from otel_a2a.engine.records import Disposition
from otel_a2a.hints import hints
from otel_a2a.observations import Reason
from otel_a2a.parsing import AT_AGENTS
from otel_a2a.profiles import BUILT_IN
from otel_a2a_policies import RULES

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "seeds.md"
SEEDS = ("000", "001", "002", "004")

pytestmark = pytest.mark.skipif(not DOCUMENT.is_file(), reason="needs the sources")


def _values(names: type) -> set[str]:
    return {value for name, value in vars(names).items() if name.isupper()}


PLAIN = (
    {rule.name for rule in RULES}
    | {field.name for field in dataclasses.fields(Settings)}
    | set(AT_AGENTS)
    | set(BUILT_IN)
    | {name for name in vars(environment_variables) if name.startswith("OTEL_")}
    | set(otel_a2a.__all__)
    | set(webhooks.__all__)
    | {testing.expected_findings.__name__}
    | _values(Disposition)
)
OTHERS = {"max-age", "stateTransitionHistory", "findings", "code"}
"""Words of the protocols, an attribute of the exceptions, and the word for all of these."""


def _text() -> str:
    return DOCUMENT.read_text("utf-8")


def _codes(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def _section(seed: str) -> str:
    (found,) = re.findall(rf"^## Seed {seed}\n(.*?)(?=^## )", _text(), re.MULTILINE | re.DOTALL)
    return str(found)


def _exists(code: str) -> bool:
    if code in PLAIN or code in OTHERS or code == local.__name__:
        return True
    if hinted := re.fullmatch(r"hints\((\w+)=.+\)", code):
        return hinted[1] in inspect.signature(hints).parameters
    if asked := re.fullmatch(r'local\.check\("(\w+)"\)', code):
        return asked[1] in (*local._REQUESTS, *local._DECISIONS)
    if said := re.fullmatch(r"local\.(\w+)", code):
        return said[1] in local.__all__
    if reason := re.fullmatch(r'reason="([\w-]+)"', code):
        return reason[1] in _values(Reason)
    if value := re.fullmatch(r"(\w+) = \S+", code):
        return value[1] in PLAIN
    return False


@pytest.mark.parametrize("code", sorted(_codes(_text())) if DOCUMENT.is_file() else [])
def test_every_name_exists(code: str) -> None:
    """A rule, setting, variable, hint, profile, disposition, reason, public function or exception of that name."""
    assert _exists(code), f"{code!r} in docs/seeds.md names nothing"


@pytest.mark.parametrize(
    "code", ["backward-transitions", "hints(colour=…)", "local.nothing", 'reason="mood"', "made up"]
)
def test_a_name_that_is_not_there_is_noticed(code: str) -> None:
    """The test above can fail."""
    assert not _exists(code)


def _from_seeds() -> Iterator[tuple[str, str]]:
    for rule in RULES:
        if "seed" in rule.origin:
            for seed in SEEDS:
                if seed in rule.origin:
                    yield rule.name, seed


@pytest.mark.parametrize(("rule", "seed"), list(_from_seeds()))
def test_every_rule_of_a_seed_is_told_with_it(rule: str, seed: str) -> None:
    """Its name stands in a row of each seed that its origin names."""
    assert rule in _codes(_section(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_says_who_carries_it(seed: str) -> None:
    """Place, sentence and carrier, none of them empty."""
    rows = [line for line in _section(seed).splitlines() if line.startswith("|")][2:]
    assert len(rows) > 20
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 3 and all(cells), row


def test_every_link_leads_somewhere() -> None:
    """Files exist, and anchors of this document name its headings."""
    text = _text()
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if file:
            assert (DOCUMENT.parent / file).exists(), target
        else:
            assert anchor in headings, target
