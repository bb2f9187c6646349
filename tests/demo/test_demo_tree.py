# SPDX-License-Identifier: Apache-2.0
"""The tree of the trace that the demo shows."""

from __future__ import annotations

from otel_a2a import semconv
from otel_a2a.cli.demo.tree import Node, forest
from otel_a2a.cli.otlp.records import Span


def span(span_id: str, parent_id: str = "", *, scope: str = semconv.SCOPE, start: int = 0, error: str = "") -> Span:
    return Span(
        name="GetAgentCard" if error else span_id,
        scope=scope,
        kind=3,
        trace_id="t",
        span_id=span_id,
        parent_id=parent_id,
        start=start,
        end=start + 1,
        attributes={semconv.ERROR_TYPE: error} if error else {},
        is_error=bool(error),
        status="",
    )


def shape(nodes: list[Node]) -> list[object]:
    return [[node.span.span_id, *shape(node.children)] if node.children else node.span.span_id for node in nodes]


def test_children_are_under_their_parents_in_order_of_time() -> None:
    """Spans arrive in the order in which they end; the tree has the order in which they began."""
    spans = [span("late", "call", start=3), span("early", "call", start=2), span("call", start=1), span("first")]
    assert shape(forest(spans)) == ["first", ["call", "early", "late"]]


def test_spans_of_others_are_left_out_and_bridged() -> None:
    """A span of ours below one of the SDK's is under the nearest span of ours above that."""
    spans = [span("call"), span("sdk", "call", scope="a2a-python-sdk"), span("violation", "sdk")]
    assert shape(forest(spans)) == [["call", "violation"]]


def test_a_span_without_its_parent_is_a_root() -> None:
    """A parent that was never exported hides nothing."""
    assert shape(forest([span("call", "gone")])) == ["call"]


def test_the_same_id_in_another_trace_is_no_parent() -> None:
    """Span ids are compared within their trace."""
    foreign = span("call")
    other = Span(**{**{name: getattr(foreign, name) for name in Span.__slots__}, "trace_id": "other"})
    assert shape(forest([other, span("child", "call")])) == ["call", "child"]


def test_equal_failures_in_a_row_are_one_node() -> None:
    """Three card fetches refused while the agent restarts are one line; another error begins a new one."""
    refused = [span(str(number), start=number, error="ConnectError") for number in range(3)]
    roots = forest([*refused, span("x", start=3, error="ReadTimeout"), span("done", start=4)])
    assert [(node.span.span_id, node.times) for node in roots] == [("0", 3), ("x", 1), ("done", 1)]


def test_a_failure_with_something_below_it_is_not_merged() -> None:
    """A violation under a failed call stays visible."""
    spans = [span("a", error="E"), span("v", "a"), span("b", start=1, error="E")]
    assert shape(forest(spans)) == [["a", "v"], "b"]


def test_spans_that_name_each_other_as_parents_do_not_hang() -> None:
    """Nonsense from the network ends."""
    assert forest([span("a", "b"), span("b", "a"), span("c", "d", scope="x"), span("d", "c", scope="x")]) == []
