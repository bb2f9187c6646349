# SPDX-License-Identifier: Apache-2.0
"""The names that may leave the house, each with its type and values, and a check of what did.

Saved searches, dashboards and alerts depend on these. Whoever adds a name to ``otel_a2a.semconv`` adds it here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from otel_a2a import semconv
from otel_a2a.engine.findings import Level, Party, Phase, Strictness
from otel_a2a.engine.records import Disposition
from otel_a2a.observations import STATES, Channel, Method
from otel_a2a.packs import load_rules
from tests.support.otlp import Backend
from tests.support.telemetry import Telemetry

NAME: Final = re.compile(r"[a-z][a-z0-9]*([._][a-z0-9]+)*")
"""What OpenTelemetry calls a name (its naming rules, as Weaver checks them)."""
SEARCHABLE: Final = 255
"""Characters: longer values cannot be searched in Jaeger's Elasticsearch and Cassandra stores."""


@dataclass(slots=True, frozen=True)
class Attribute:
    """The type of an attribute's values; the values where they are an enumeration; else a pattern of the whole text."""

    type: type
    values: frozenset[str] | None = None
    pattern: str = r"(?s).*"
    is_prose: bool = False
    """Read by people, not searched for, and so of any length."""


def _constants(of: type) -> frozenset[str]:
    return frozenset(value for name, value in vars(of).items() if name.isupper())


_RULES: Final = {rule.name: rule for rule in load_rules()}
_METHODS: Final = _constants(Method)
_STATES: Final = STATES | {"TASK_STATE_UNSPECIFIED"}
_TEXT: Final = Attribute(str)
_FLAG: Final = Attribute(bool)
_HASH: Final = Attribute(str, pattern=r"sha256:[0-9a-f]{64}")
_STATE: Final = Attribute(str, _STATES)

ATTRIBUTES: Final[dict[str, Attribute]] = {
    semconv.A2A_METHOD_NAME: Attribute(str, _METHODS),
    semconv.A2A_TASK_ID: _TEXT,
    semconv.A2A_TASK_STATE: _STATE,
    semconv.A2A_MESSAGE_ID: _TEXT,
    # The one array: the conventions have it so, and nobody has to search for it.
    semconv.A2A_MESSAGE_REFERENCE_TASK_IDS: Attribute(tuple),
    semconv.A2A_PROTOCOL_VERSION: Attribute(str, pattern=r"\d+\.\d+(\.\d+)?"),
    semconv.A2A_TENANT: _TEXT,
    semconv.GEN_AI_CONVERSATION_ID: _TEXT,
    semconv.GEN_AI_AGENT_NAME: _TEXT,
    semconv.GEN_AI_AGENT_VERSION: _TEXT,
    semconv.SERVER_ADDRESS: Attribute(str, pattern=r"[^/@?]+"),
    semconv.SERVER_PORT: Attribute(int),
    semconv.ERROR_TYPE: Attribute(str, pattern=r"-?[A-Za-z0-9_.]+"),
    semconv.URL_FULL: Attribute(str, pattern=r"https?://[^@?#]+"),
    semconv.HTTP_RESPONSE_STATUS_CODE: Attribute(int),
    semconv.SECURITY_RULE_NAME: Attribute(str, frozenset(_RULES)),
    semconv.SECURITY_RULE_CATEGORY: Attribute(str, frozenset(rule.boundary for rule in _RULES.values())),
    semconv.SECURITY_RULE_VERSION: Attribute(str, frozenset(rule.version for rule in _RULES.values())),
    semconv.SECURITY_RULE_REFERENCE: Attribute(str, frozenset(rule.reference for rule in _RULES.values())),
    semconv.SECURITY_RULE_RULESET_NAME: Attribute(str, frozenset(rule.ruleset for rule in _RULES.values())),
    semconv.FINDING_LEVEL: Attribute(str, frozenset(level.value for level in Level)),
    semconv.FINDING_ACTION: Attribute(str, frozenset(action.value for action in Strictness)),
    semconv.FINDING_PHASE: Attribute(str, frozenset(phase.value for phase in Phase)),
    semconv.FINDING_PARTY: Attribute(str, frozenset(party.value for party in Party)),
    semconv.FINDING_MESSAGE: Attribute(str, is_prose=True),
    semconv.FINDING_COUNT: Attribute(int),
    semconv.FINDING_WOULD_RAISE: _FLAG,
    semconv.CARD_REVISION_ID: _HASH,
    semconv.CARD_REVISION_PREVIOUS_ID: _HASH,
    semconv.CARD_REVISION_CHANGED: _FLAG,
    semconv.CARD_REVISION_CONFIRMED: _FLAG,
    semconv.CARD_REVISION_SINCE: Attribute(str, pattern=r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    semconv.CARD_DIGEST: _HASH,
    semconv.CARD_CANONICAL: _FLAG,
    semconv.CARD_AGE: Attribute(float),
    semconv.TASK_CARD_REVISION_ID: _HASH,
    semconv.TASK_PREVIOUS_STATE: _STATE,
    semconv.TASK_STATE_SOURCE: Attribute(str, _constants(Channel)),
    semconv.TASK_DISPOSITION: Attribute(str, _constants(Disposition)),
    semconv.REQUEST_JUDGED: _FLAG,
    semconv.RESPONSE_JUDGED: _FLAG,
    semconv.LINK_TYPE: Attribute(str, frozenset((semconv.LINK_CARD_FETCH, semconv.LINK_TASK_ORIGIN))),
}

EVENTS: Final = frozenset((semconv.EVENT_FINDING, semconv.EVENT_TRANSITION))


@dataclass(slots=True, frozen=True)
class Metric:
    """A metric's unit, its kind, and its labels: none of them an id."""

    unit: str
    kind: str
    labels: frozenset[str]


_BY_AGENT: Final = frozenset((semconv.SERVER_ADDRESS,))
METRICS: Final[dict[str, Metric]] = {
    semconv.METRIC_FINDINGS: Metric(
        "{finding}",
        "counter",
        _BY_AGENT | {semconv.SECURITY_RULE_NAME, semconv.FINDING_LEVEL, semconv.FINDING_ACTION},
    ),
    semconv.METRIC_OPERATION_DURATION: Metric(
        "s", "histogram", _BY_AGENT | {semconv.A2A_METHOD_NAME, semconv.ERROR_TYPE}
    ),
    semconv.METRIC_TASK_DURATION: Metric("s", "histogram", _BY_AGENT | {semconv.A2A_TASK_STATE}),
    semconv.METRIC_TASK_ACTIVE: Metric("{task}", "updowncounter", frozenset((semconv.A2A_TASK_STATE,))),
    semconv.METRIC_CARD_FETCHES: Metric("{fetch}", "counter", _BY_AGENT | {semconv.ERROR_TYPE}),
    semconv.METRIC_CARD_CHANGES: Metric("{change}", "counter", _BY_AGENT),
    semconv.METRIC_INTERNAL_ERRORS: Metric("{error}", "counter", frozenset((semconv.ERROR_TYPE,))),
}


@dataclass(slots=True, frozen=True)
class Emitted:
    """What left the house: a ``span``, a ``link`` of one, an ``event`` or a point of a ``metric``."""

    signal: str
    name: str
    attributes: Mapping[str, Any]
    unit: str = ""
    kind: str = ""
    body: Any = None


def is_span_name(name: str) -> bool:
    """Whether spans of ours may be called so. None is made of an id, and there are few."""
    prefix, _, rest = name.partition(" ")
    if prefix in (Level.VIOLATION.value, Level.IMPROVEMENT.value):
        return rest in _RULES
    return rest in _STATES if prefix == "task" else name in _METHODS


def complaints(emitted: Iterable[Emitted]) -> list[str]:
    """What is wrong with it, each thing once."""
    return sorted({complaint for each in emitted for complaint in _about(each)})


def _about(each: Emitted) -> Iterator[str]:
    where = f"{each.signal} {each.name}"
    if each.signal == "span":
        if not is_span_name(each.name):
            yield f"{where}: no name of a span of ours"
        elif each.kind != ("client" if each.name in _METHODS else "internal"):
            yield f"{where}: its kind is {each.kind}"
    elif each.signal == "event":
        if each.name not in EVENTS:
            yield f"{where}: no name of an event of ours"
        if not isinstance(each.body, str):
            yield f"{where}: its body is not for people"
    elif each.signal == "metric":
        metric = METRICS.get(each.name)
        if metric is None:
            yield f"{where}: no name of a metric of ours"
        else:
            if (each.unit, each.kind) != (metric.unit, metric.kind):
                yield f"{where}: it is a {each.kind} of {each.unit}, not a {metric.kind} of {metric.unit}"
            for name in each.attributes.keys() - metric.labels:
                yield f"{where}: {name} is none of its labels"
    for name, value in each.attributes.items():
        for complaint in about_value(name, value):
            yield f"{where}: {complaint}"


def about_value(name: str, value: Any) -> Iterator[str]:
    """What is wrong with an attribute."""
    declared = ATTRIBUTES.get(name)
    if declared is None:
        yield f"{name}: no attribute of ours"
    elif type(value) is not declared.type:
        yield f"{name}: {value!r} is no {declared.type.__name__}"
    elif isinstance(value, str):
        if declared.values is not None and value not in declared.values:
            yield f"{name}: {value!r} is none of its values"
        if not re.fullmatch(declared.pattern, value):
            yield f"{name}: {value!r} is not what it should look like"
        if not declared.is_prose and (len(value) > SEARCHABLE or value[:1] in ("", "{", "[")):
            yield f"{name}: {value[:40]!r} cannot be searched for"


# --- where it is collected


def of_telemetry(telemetry: Telemetry) -> Iterator[Emitted]:
    """All that this process exported to memory under our scope."""
    for span in telemetry.ours():
        yield Emitted("span", span.name, span.attributes or {}, kind=span.kind.name.lower())
        yield from (Emitted("link", span.name, link.attributes or {}) for link in span.links)
    for record in telemetry.records():
        yield Emitted("event", record.event_name, record.attributes or {}, body=record.body)
    for metric in telemetry.metrics():
        kind = type(metric.data).__name__.lower()
        if kind == "sum":
            kind = "counter" if metric.data.is_monotonic else "updowncounter"
        for point in metric.data.data_points:
            yield Emitted("metric", metric.name, point.attributes or {}, unit=metric.unit, kind=kind)


KINDS: Final = ("unspecified", "internal", "server", "client", "producer", "consumer")
"""As OTLP numbers them."""


def of_backend(backend: Backend) -> Iterator[Emitted]:
    """All that reached a backend under our scope."""
    for span in backend.spans:
        if span.scope == semconv.SCOPE:
            yield Emitted("span", span.name, _tuples(span.attributes), kind=KINDS[span.kind])
            yield from (Emitted("link", span.name, _tuples(link.attributes)) for link in span.links)
    for event in backend.logs:
        if event.scope == semconv.SCOPE:
            yield Emitted("event", event.name, _tuples(event.attributes), body=event.body)
    units = {}
    for request in backend.metric_requests:
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    kind = str(metric.WhichOneof("data"))
                    if kind == "sum":
                        kind = "counter" if metric.sum.is_monotonic else "updowncounter"
                    units[scope.scope.name, metric.name] = (metric.unit, kind)
    for (scope_name, name), (unit, kind) in units.items():
        if scope_name == semconv.SCOPE:
            for point in backend.points(name):
                yield Emitted("metric", name, _tuples(point.attributes), unit=unit, kind=kind)


def _tuples(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}
