# SPDX-License-Identifier: Apache-2.0
"""For tests of applications: say what otel-a2a is expected to find, and nothing else may be found.

    from otel_a2a.testing import expected_findings

    def test_a_checkout():
        with expected_findings():                                  # nothing is found
            checkout(order)

    def test_a_bug_that_we_know():
        with expected_findings("message-resent-after-regression"):
            checkout(order, during_redeploy=True)

It fails on a finding that is not expected, and on an expectation that no longer occurs: a bug that was fixed has its
line removed. The process has to be instrumented, by ``A2AInstrumentor().instrument()`` in a fixture. What an engine
remembers of tasks outlives a test, so tests that use the same ids again instrument anew. Needs no test framework.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Final

from otel_a2a.engine import current
from otel_a2a.engine.engine import Engine
from otel_a2a.engine.findings import Finding, Level
from otel_a2a.engine.watching import watched

ACCUSING: Final = (Level.VIOLATION, Level.IMPROVEMENT)
"""The levels that blame somebody."""


@contextmanager
def expected_findings(
    *rules: str, levels: Iterable[Level | str] = ACCUSING, engine: Engine | None = None
) -> Iterator[list[Finding]]:
    """Fail unless exactly these rules find something while the block runs. What is due by time is judged at its end.

    Args:
        rules: names of rules, each of which has to find something, at whatever level and however often.
        levels: findings at other levels than these are not unexpected; ``information`` is therefore not, by default.
        engine: the one to look at; default: that of this process.

    Yields:
        The findings so far, of all levels, repeats included, for further assertions.

    Raises:
        AssertionError: something else was found, or less. The text has a line for each difference.
        ValueError: there is no such rule, or no such level.
        RuntimeError: nothing is instrumented, so that nothing could ever be found.
    """
    __tracebackhide__ = True
    watching = engine or current()
    if watching is None:
        raise RuntimeError("nothing is instrumented here: call A2AInstrumentor().instrument() first, or pass an engine")
    _check_names(rules, [rule.name for rule in watching.rules])
    counting = {Level(level) for level in levels}
    with watched(watching) as found:
        yield found
        watching.pass_time()
    missing = [name for name in dict.fromkeys(rules) if not any(finding.rule == name for finding in found)]
    surprising = [finding for finding in found if finding.level in counting and finding.rule not in rules]
    if missing or surprising:
        raise AssertionError("\n".join(_differences(rules, missing, surprising)))


def _check_names(rules: Iterable[str], known: Sequence[str]) -> None:
    for name in rules:
        if name not in known:
            near = get_close_matches(name, known, n=3)
            hint = f"is it {' or '.join(near)}?" if near else "`otel-a2a rules` lists them"
            raise ValueError(f"there is no rule {name!r}; {hint}")


def _differences(expected: Sequence[str], missing: Iterable[str], surprising: Iterable[Finding]) -> Iterator[str]:
    yield f"otel-a2a: the findings are not those expected ({', '.join(dict.fromkeys(expected)) or 'none'})"
    for name in missing:
        yield f"- {name}: expected, and does not occur any more"
    for finding in surprising:
        times = f" again ({finding.count} times so far)" if finding.count > 1 else ""
        agent = f" at {finding.agent}" if finding.agent else ""
        yield f"+ {finding.rule}: {finding.level.value} of the {finding.party.value}{agent}, found{times}"
        yield f"    {finding.message}"
