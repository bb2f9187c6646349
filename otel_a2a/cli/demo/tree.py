# SPDX-License-Identifier: Apache-2.0
"""Spans as a tree: those of otel-a2a, each under the nearest of its ancestors that is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from otel_a2a import semconv
from otel_a2a.cli.otlp.records import Span


@dataclass(slots=True)
class Node:
    """A span in the tree. ``times`` is how many like it, one after the other, it stands for."""

    span: Span
    children: list[Node] = field(default_factory=list)
    times: int = 1


def forest(spans: Iterable[Span]) -> list[Node]:
    """The trees of all traces in order of time, without the spans that others made.

    A span whose parent has not arrived is a root. Calls that failed alike, one after the other, become one node.
    """
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    nodes = {key: Node(span) for key, span in by_id.items() if span.scope == semconv.SCOPE}
    roots: list[Node] = []
    for node in sorted(nodes.values(), key=lambda node: node.span.start):
        parent = _shown_ancestor(node.span, by_id, nodes)
        (parent.children if parent else roots).append(node)
    return _merged(roots)


def _shown_ancestor(span: Span, by_id: dict[tuple[str, str], Span], nodes: dict[tuple[str, str], Node]) -> Node | None:
    seen = set()
    key = (span.trace_id, span.parent_id)
    while key in by_id and key not in seen:
        if key in nodes:
            return nodes[key]
        seen.add(key)
        key = (span.trace_id, by_id[key].parent_id)
    return None


def _merged(siblings: list[Node]) -> list[Node]:
    merged: list[Node] = []
    for node in siblings:
        before = merged[-1] if merged else None
        if before is not None and _same_failure(before, node):
            before.times += 1
        else:
            merged.append(node)
    return merged


def _same_failure(one: Node, other: Node) -> bool:
    if one.children or other.children or not (one.span.is_error and other.span.is_error):
        return False
    error = semconv.ERROR_TYPE
    return (one.span.name, one.span.attributes.get(error)) == (other.span.name, other.span.attributes.get(error))
