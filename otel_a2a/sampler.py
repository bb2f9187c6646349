# SPDX-License-Identifier: Apache-2.0
"""A sampler under which violations are always seen: ``OTEL_TRACES_SAMPLER=a2a_policy``.

``OTEL_TRACES_SAMPLER_ARG`` is the sampler that decides about everything else: its name, and after a comma its own
argument, as in ``always_off``, ``traceidratio,0.01`` or ``parentbased_traceidratio,0.1``. Any sampler of the group of
entry points ``opentelemetry_traces_sampler`` will do; by default it is OpenTelemetry's own, ``parentbased_always_on``.

In a program that makes its own provider::

    TracerProvider(sampler=PolicySampler(ParentBasedTraceIdRatio(0.1)))
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import DEFAULT_ON, Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

from otel_a2a import semconv
from otel_a2a.engine.findings import Level

_logger = logging.getLogger("otel_a2a")

NAME: Final = "a2a_policy"
DEFAULT: Final = "parentbased_always_on"
ENTRY_POINT_GROUP: Final = "opentelemetry_traces_sampler"
RATIOS: Final = ("traceidratio", "parentbased_traceidratio")
"""Samplers that take a number, 0 to 1. All others take text, or None."""


class PolicySampler(Sampler):
    """Samples the spans of violations, also in traces that are not sampled; all others as ``wrapped`` says.

    Such a span is told by what it is started with: the attribute ``otel_a2a.finding.level``, which is ``violation``. In
    an unsampled trace it arrives alone, without its parent. Improvements are sampled as their traces are.
    """

    def __init__(self, wrapped: Sampler = DEFAULT_ON) -> None:
        self.wrapped = wrapped

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """The decision of the wrapped sampler, or that the span is sampled."""
        told = self.wrapped.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)
        if attributes and attributes.get(semconv.FINDING_LEVEL) == Level.VIOLATION.value:
            return SamplingResult(Decision.RECORD_AND_SAMPLE, told.attributes or attributes, told.trace_state)
        return told

    def get_description(self) -> str:
        """For logs and debuggers."""
        return f"PolicySampler{{{self.wrapped.get_description()}}}"


def policy_sampler(argument: str | float | None = None) -> PolicySampler:
    """The sampler that the environment describes; called by OpenTelemetry with ``OTEL_TRACES_SAMPLER_ARG``.

    Never raises: what cannot be used is named in a warning, and replaced as OpenTelemetry itself replaces it, a sampler
    by ``parentbased_always_on`` and a ratio by 1.
    """
    name, _, own_argument = str(argument or DEFAULT).partition(",")
    return PolicySampler(_sampler(name.strip().lower(), own_argument.strip()))


def _sampler(name: str, argument: str) -> Sampler:
    from opentelemetry.util._importlib_metadata import entry_points

    found: Any = next(iter(entry_points(group=ENTRY_POINT_GROUP, name=name)), None)
    if found is None or name == NAME:
        known = {each.name for each in entry_points(group=ENTRY_POINT_GROUP)} - {NAME}
        _logger.warning(
            "OTEL_TRACES_SAMPLER_ARG: %r is no sampler that %s can wrap; it can wrap: %s. %s is used",
            name,
            NAME,
            ", ".join(sorted(known)),
            DEFAULT,
        )
        return DEFAULT_ON
    try:
        made = found.load()(_ratio(argument) if name in RATIOS else argument or None)
        if not isinstance(made, Sampler):
            raise TypeError(f"{made!r} is no Sampler")
        return made
    except Exception as error:
        _logger.warning("OTEL_TRACES_SAMPLER_ARG: the sampler %r fails (%r); %s is used", name, error, DEFAULT)
        return DEFAULT_ON


def _ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = -1.0
    if not 0 <= ratio <= 1:
        _logger.warning("OTEL_TRACES_SAMPLER_ARG: %r is no ratio between 0 and 1; 1.0 is used", text)
        return 1.0
    return ratio
