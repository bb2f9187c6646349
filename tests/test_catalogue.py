# SPDX-License-Identifier: Apache-2.0
"""The rules for people: every rule is explained, nothing else is, and the written catalogue is current."""

from __future__ import annotations

import dataclasses
import logging
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from otel_a2a.catalogue import guides
from otel_a2a.catalogue.entries import Entry, entries
from otel_a2a.catalogue.markdown import catalogue, section
from otel_a2a.config import Settings
from otel_a2a.engine.findings import Level, Party, Phase
from otel_a2a.engine.rules import DOCUMENTATION, Guide, Rule, rule
from otel_a2a.errors import A2APolicyError
from otel_a2a.observations import CallStarted
from otel_a2a.profiles import BUILT_IN
from otel_a2a_policies import RULES

ROOT = Path(__file__).parent.parent
WRITTEN = ROOT / DOCUMENTATION.rstrip("#")
ENTRIES = {entry.rule.name: entry for entry in entries(RULES)}

needs_sources = pytest.mark.skipif(not WRITTEN.is_file(), reason="needs the sources")


def _declared(**more: Any) -> Rule:
    def function(observed: object, view: object, settings: object) -> tuple[()]:
        return ()

    return rule(
        name="of-somebody-else",
        boundary="admission",
        level=Level.VIOLATION,
        party=Party.CLIENT,
        phase=Phase.REQUEST,
        exception=A2APolicyError,
        on=(CallStarted,),
        origin="a test",
        summary="A test declared it.",
        ruleset="theirs",
        **more,
    )(function)


def _entry(declared: Rule) -> Entry:
    (entry,) = entries([declared])
    return entry


@pytest.mark.parametrize("each", RULES, ids=lambda each: each.name)
def test_every_rule_is_explained(each: Rule) -> None:
    """It has a guide whose three texts are sentences, a condition, and settings that exist."""
    guide = guides.guide_of(each)
    assert guide is not None
    for text in (guide.why, guide.look_alike, guide.remedy):
        assert len(text) > 15 and text.endswith(".")
    assert ENTRIES[each.name].exactly
    assert set(guide.settings) <= {field.name for field in dataclasses.fields(Settings)}
    assert guide.by_default in ("", "off", *(level.value for level in Level))


def test_no_guide_is_without_a_rule() -> None:
    """Each text stands in the file of its rule's boundary, and no file explains what is not there."""
    folder = resources.files("otel_a2a_policies") / guides.FOLDER
    written = set()
    for file in folder.iterdir():
        boundary = file.name.removesuffix(".toml")
        if boundary != "definitions":
            written |= {(boundary, name) for name in guides._document("otel_a2a_policies", boundary)}
    assert written == {(each.boundary, each.name) for each in RULES}


def test_every_term_is_defined() -> None:
    """What the conditions of the built-in rules refer to by number can be looked up."""
    for entry in ENTRIES.values():
        named = set(re.findall(r"\bG\d+\b", " ".join(entry.exactly)))
        assert named == {term.name for term in entry.terms}
        assert "rules.md" not in " ".join(entry.exactly)


def test_a_guide_in_the_declaration_is_used() -> None:
    """A rule of somebody else brings its guide itself, or goes without."""
    own = Guide(why="Because.", look_alike="Nothing.", remedy="Stop.", by_default="off")
    assert guides.guide_of(_declared(guide=own)) is own
    assert _entry(_declared(guide=own)).level == "off"
    assert guides.guide_of(_declared()) is None
    assert "Because" not in section(_entry(_declared()))


def test_a_guide_that_cannot_be_read_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken file of another pack is logged, and its rule is shown without a guide."""
    folder = tmp_path / "broken_pack" / guides.FOLDER
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    declared = _declared()
    declared.function.__module__ = "broken_pack.rules"
    named = '["of-somebody-else"]\n'
    for text in ("not TOML", f'{named}why = "x"', f'{named}how = "x"', f"{named}why = 3", "of-somebody-else = 3"):
        (folder / "admission.toml").write_text(text, "utf-8")
        guides._guides.cache_clear()
        with caplog.at_level(logging.WARNING, "otel_a2a"):
            assert guides.guide_of(declared) is None
        assert "broken_pack" in caplog.text
        caplog.clear()
    (folder / "admission.toml").write_text(f'{named}why = """\na\nb\n"""\nlook_alike = "c"\nremedy = "d"', "utf-8")
    guides._guides.cache_clear()
    assert guides.guide_of(declared) == Guide(why="a b", look_alike="c", remedy="d")
    guides._guides.cache_clear()


def test_what_raise_does_follows_from_the_declaration() -> None:
    """A request does not leave, a decision is stopped before it is taken, an answer is withheld; time stops nothing."""
    assert "the request does not leave." in ENTRIES["created-without-card"].safe_in
    assert "save reads and cancels" in ENTRIES["terminal-task-reused"].safe_in
    assert "acts on its decision." in ENTRIES["phantom-terminal-state"].safe_in
    assert "the answer to a read" in ENTRIES["backward-transition"].safe_in
    assert "OTEL_PYTHON_A2A_RAISE_ON=improvement" in ENTRIES["terminal-state-ignored"].safe_in
    for name in ("task-stuck", "card-revision-changed", "expectation-downgraded", "late-notification"):
        assert ENTRIES[name].safe_in.startswith("It never raises")


def test_profiles_are_told_from_their_files() -> None:
    """Levels, settings that bear on the rule, and rules that a profile leaves out."""
    assert ENTRIES["continued-across-revisions"].profiles == {
        "authority": ("information",),
        "fenced": ("fenced = true",),
        "spec": ("off",),
    }
    assert ENTRIES["webhook-from-stale-card"].profiles["version-fenced"][0] == "violation"
    assert ENTRIES["terminal-task-reused"].profiles == {}


@needs_sources
def test_the_written_catalogue_is_current() -> None:
    """``policies/README.md`` is what the rules say now; ``make catalogue`` writes it."""
    assert WRITTEN.read_text("utf-8") == catalogue(list(ENTRIES.values())), "run: make catalogue"


@needs_sources
@pytest.mark.parametrize("each", RULES, ids=lambda each: each.name)
def test_the_reference_of_a_finding_leads_somewhere(each: Rule) -> None:
    """``security_rule.reference`` names a heading of the written catalogue, and that heading is there once."""
    file, _, anchor = each.reference.partition("#")
    assert (ROOT / file).read_text("utf-8").splitlines().count(f"### {anchor}") == 1


@needs_sources
def test_every_link_of_the_catalogue_leads_somewhere() -> None:
    """Anchors name headings, and files exist."""
    text = WRITTEN.read_text("utf-8")
    titles = [line.lstrip("# ").lower() for line in text.splitlines() if line.startswith("#")]
    headings = {re.sub(r"[^a-z0-9 -]", "", title).replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in headings
        else:
            assert (WRITTEN.parent / target).is_file()


def test_every_profile_is_in_the_catalogue() -> None:
    """The table at the end has a line for each."""
    lines = catalogue(list(ENTRIES.values())).splitlines()
    assert [line.split("`")[1] for line in lines[-len(BUILT_IN) :]] == list(BUILT_IN)


def test_start_up_reads_no_guide() -> None:
    """The texts are for people: nothing that an application loads imports them."""
    program = (
        "import sys; from otel_a2a import A2AInstrumentor; A2AInstrumentor().instrument();"
        "sys.exit(any(name.startswith('otel_a2a.catalogue') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
