# SPDX-License-Identifier: Apache-2.0
"""What is in a dashboard: its panels, and its queries with the variables filled in as Grafana would."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GRAFANA = Path(__file__).parents[2] / "exporters" / "grafana"
DASHBOARD = GRAFANA / "dashboards" / "otel-a2a.json"

VALUES = {
    "job": ".*",
    "agent": ".*",
    "rule": ".*",
    "agent:pipe": "127.0.0.1|localhost",
    "rule:pipe": "task-lost|task-stuck",
    "service": "checkout",
    "__rate_interval": "10s",
    "__range": "1h",
}
"""What Grafana puts in the place of a variable. Most are "All"; in TraceQL there are two values."""


@dataclass(slots=True, frozen=True)
class Query:
    """A query of a panel; ``kind`` is the type of its data source, ``text`` what is asked, ``target`` all of it."""

    panel: str
    kind: str
    text: str
    target: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.panel}: {self.target['refId']}"


def dashboard() -> dict[str, Any]:
    """The dashboard as it is committed."""
    read: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    return read


def panels() -> list[dict[str, Any]]:
    """Its panels, rows included, in their order."""
    found: list[dict[str, Any]] = dashboard()["panels"]
    return found


def queries(kind: str) -> list[Query]:
    """The queries of all panels to one type of data source, and of the annotations."""
    return [query for query in _all_queries() if query.kind == kind]


def _all_queries() -> Iterator[Query]:
    for panel in panels():
        for target in panel.get("targets", ()):
            text = target.get("expr") or target.get("query") or target["tags"]
            yield Query(panel["title"], panel["datasource"]["type"], filled(text), target)
    for annotation in dashboard()["annotations"]["list"]:
        target = {"refId": "annotation"}
        yield Query(annotation["name"], annotation["datasource"]["type"], filled(annotation["expr"]), target)


def filled(text: str) -> str:
    """``text`` with values in the place of its variables.

    Raises:
        KeyError: there is no such variable.
    """
    return re.sub(r"\$(?:\{([\w:]+)\}|(\w+))", lambda found: VALUES[found[1] or found[2]], text)
