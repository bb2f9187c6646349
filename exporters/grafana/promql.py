# SPDX-License-Identifier: Apache-2.0
"""What the panels ask Prometheus. The names are those of ``exporters/prometheus/README.md``.

``$job``, ``$agent`` and ``$rule`` are variables of the dashboard; ``$__rate_interval`` and ``$__range`` are Grafana's.
"""

from __future__ import annotations

from typing import Final

STUCK: Final = "task-stuck|expected-state-missed|waiting-on-withdrawn-webhook|unprobed-wait|task-unwatched"
"""The rules about tasks that do not go on."""

_OF_JOB: Final = 'job=~"$job"'
_AT_AGENT: Final = f'{_OF_JOB}, server_address=~"$agent"'
_OF_RULE: Final = f'{_AT_AGENT}, security_rule_name=~"$rule"'

_FINDINGS: Final = f"otel_a2a_policy_findings_total{{{_OF_RULE}}}"
_VIOLATIONS: Final = f'otel_a2a_policy_findings_total{{{_OF_RULE}, otel_a2a_finding_level="violation"}}'
_IMPROVEMENTS: Final = f'otel_a2a_policy_findings_total{{{_OF_RULE}, otel_a2a_finding_level="improvement"}}'
_STUCK_FINDINGS: Final = f'otel_a2a_policy_findings_total{{{_AT_AGENT}, security_rule_name=~"{STUCK}"}}'
_CHANGES: Final = f"otel_a2a_card_changes_total{{{_AT_AGENT}}}"
_FETCHES: Final = f"otel_a2a_card_fetches_total{{{_AT_AGENT}}}"
_FETCHED: Final = f'otel_a2a_card_fetches_total{{{_AT_AGENT}, error_type=""}}'
_NOT_FETCHED: Final = f'otel_a2a_card_fetches_total{{{_AT_AGENT}, error_type!=""}}'
_ENDED: Final = f"otel_a2a_task_duration_seconds_count{{{_AT_AGENT}}}"
_CALLS: Final = f"otel_a2a_operation_duration_seconds_count{{{_AT_AGENT}}}"
_FAULTS: Final = f"otel_a2a_internal_errors_total{{{_OF_JOB}}}"


def new(series: str, window: str) -> str:
    """What was counted within ``window``; the first event of a series that was born with it included.

    ``increase`` alone misses that event: there is no earlier sample from which it could have increased.
    """
    return f"({series} unless {series} offset {window} or increase({series}[{window}]))"


def _total(series: str) -> str:
    return f"sum({new(series, '$__range')}) or vector(0)"


def _each(series: str, labels: str) -> str:
    return f"sum by ({labels}) {new(series, '$__rate_interval')} > 0"


VIOLATIONS: Final = _total(_VIOLATIONS)
IMPROVEMENTS: Final = _total(_IMPROVEMENTS)
STUCK_TASKS: Final = _total(_STUCK_FINDINGS)
CARD_CHANGES: Final = _total(_CHANGES)
AGENTS_WITHOUT_CARD: Final = (
    f"count(sum by (server_address) {new(_NOT_FETCHED, '10m')} > 0"
    f" unless sum by (server_address) {new(_FETCHED, '10m')} > 0) or vector(0)"
)
FAULTS: Final = _total(_FAULTS)

VIOLATIONS_BY_RULE: Final = _each(_VIOLATIONS, "security_rule_name")
VIOLATIONS_BY_AGENT: Final = _each(_VIOLATIONS, "server_address")
FINDINGS_TABLE: Final = (
    "sum by (security_rule_name, otel_a2a_finding_level, otel_a2a_finding_action, server_address) "
    f"{new(_FINDINGS, '$__range')} > 0"
)

CHANGES_BY_AGENT: Final = f"sum by (server_address) ({_CHANGES})"
CHANGE_MARKERS: Final = f"sum by (server_address) {new(_CHANGES, '2m')} > 0"
FETCHES_BY_OUTCOME: Final = f"sum by (server_address, error_type) (rate({_FETCHES}[$__rate_interval]))"
FETCHED_SHARE: Final = (
    f"(sum by (server_address) (rate({_FETCHED}[$__rate_interval]))"
    f" or sum by (server_address) (rate({_NOT_FETCHED}[$__rate_interval])) * 0)"
    f" / (sum by (server_address) (rate({_FETCHES}[$__rate_interval])) > 0)"
)

TASKS_BY_STATE: Final = f"sum by (a2a_task_state) (otel_a2a_task_active{{{_OF_JOB}}})"
ENDS_BY_STATE: Final = f"sum by (a2a_task_state) (rate({_ENDED}[$__rate_interval]))"
STUCK_BY_RULE: Final = _each(_STUCK_FINDINGS, "security_rule_name, server_address")


def time_to_the_end(quantile: float) -> str:
    """Seconds from a task's first sight to its end, by how it ended."""
    buckets = f"otel_a2a_task_duration_seconds_bucket{{{_AT_AGENT}}}"
    return f"histogram_quantile({quantile}, sum by (le, a2a_task_state) (rate({buckets}[$__rate_interval])))"


CALLS_BY_METHOD: Final = f"sum by (a2a_method_name) (rate({_CALLS}[$__rate_interval]))"
FAILED_CALLS: Final = (
    "sum by (a2a_method_name, server_address, error_type) "
    f'(rate(otel_a2a_operation_duration_seconds_count{{{_AT_AGENT}, error_type!=""}}[$__rate_interval]))'
)
CALL_DURATION: Final = (
    "histogram_quantile(0.95, sum by (le, a2a_method_name) "
    f"(rate(otel_a2a_operation_duration_seconds_bucket{{{_AT_AGENT}}}[$__rate_interval])))"
)
FAULTS_BY_PLACE: Final = _each(_FAULTS, "error_type")
