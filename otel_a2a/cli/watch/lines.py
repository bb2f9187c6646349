# SPDX-License-Identifier: Apache-2.0
"""News as plain lines, one each, for pipes and logs: time, kind, agent, what it is about."""

from __future__ import annotations

import re
from datetime import datetime

from otel_a2a.cli.watch.known import News, RevisionChanged, StateChanged

NANOSECONDS = 1_000_000_000


def line(news: News) -> str:
    """One line; its fields are apart by two blanks or more."""
    if isinstance(news, StateChanged):
        change = f"{state(news.previous)} → {state(news.state)}" if news.previous else state(news.state)
        return _line(news.at, "task", news.agent, f"{news.task_id}  {change}")
    if isinstance(news, RevisionChanged):
        change = f"{revision(news.previous)} → {revision(news.revision)}" if news.previous else revision(news.revision)
        return _line(news.at, "card", news.agent, f"{news.version}  {change}" if news.version else change)
    finding = news.finding
    about = "  ".join(part for part in (finding.rule, finding.task_id, shortened(finding.message)) if part)
    return _line(finding.at, finding.level, news.agent, about)


def _line(at: int, kind: str, agent: str, about: str) -> str:
    return f"{clock(at)}  {kind:<11}  {agent}  {about}"


def clock(at: int) -> str:
    """The time of day, here. ``at`` in ns since the epoch; one that no clock can show is left out."""
    try:
        return f"{datetime.fromtimestamp(at / NANOSECONDS):%H:%M:%S}"
    except (OverflowError, OSError, ValueError):
        return "--:--:--"


def state(name: str) -> str:
    """A state in the short form in which people speak of it."""
    return name.removeprefix("TASK_STATE_").lower().replace("_", "-")


def revision(text: str) -> str:
    """A revision as people can compare it: its first eight digits."""
    return text.removeprefix("sha256:")[:8]


def shortened(message: str) -> str:
    """A message with revisions as ``revision`` shows them."""
    return re.sub(r"\bsha256:([0-9a-f]{8})[0-9a-f]+", r"\1", message)
