# SPDX-License-Identifier: Apache-2.0
"""The alert rules of ``exporters/prometheus``: their own tests, and what they make of an application's traffic."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from otel_a2a.packs import load_rules
from tests.backends.prometheus import RULES, Prometheus, find, wait_for

ALERTS = {
    "A2AViolation",
    "A2ATaskStuck",
    "A2ATasksNotEnding",
    "A2ACardFetchFailing",
    "A2ACardChanged",
    "A2AInternalErrors",
}


def _promtool(*arguments: str | Path) -> str:
    done = subprocess.run([find("promtool"), *arguments], cwd=RULES.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_are_valid() -> None:
    """promtool finds nothing to say against them, duplicates included."""
    assert f"SUCCESS: {len(ALERTS)} rules found" in _promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)


def test_the_rules_pass_their_own_tests() -> None:
    """What each alert is to fire on, and not to fire on, is said beside it and holds."""
    assert "SUCCESS" in _promtool("test", "rules", "alerts_test.yaml")


def test_every_alert_has_a_test_in_which_it_fires() -> None:
    """No alert is only tested to be silent."""
    tests = (RULES.parent / "alerts_test.yaml").read_text("utf-8")
    fired = re.findall(r"alertname: (\w+)\n\s+exp_alerts:(?! \[\])", tests)
    assert set(fired) == ALERTS


def test_alerts_name_rules_that_there_are() -> None:
    """A rule that is renamed takes its alert along."""
    text = RULES.read_text("utf-8")
    named = {name for names in re.findall(r'security_rule_name[=!]~"([^"]+)"', text) for name in names.split("|")}
    assert named
    assert named <= {rule.name for rule in load_rules()}


def test_a_running_prometheus_raises_the_alerts(prometheus: Prometheus) -> None:
    """All rules are evaluated without an error, and what the application went through is firing, by rule and agent."""

    expected = {("A2ACardFetchFailing", "", "127.0.0.2", "pending")}
    for agent in ("127.0.0.1", "localhost"):
        expected |= {
            ("A2AViolation", "backward-transition", agent, "firing"),
            ("A2ATaskStuck", "task-stuck", agent, "firing"),
            ("A2ACardChanged", "", agent, "firing"),
        }
    wait_for("alerts", lambda: expected <= _alerts(prometheus))
    (group,) = prometheus.ask("rules")["groups"]
    assert {rule["name"]: rule["health"] for rule in group["rules"]} == dict.fromkeys(ALERTS, "ok")
    for name, rule, agent, _ in _alerts(prometheus):
        assert (name, rule) != ("A2AViolation", "task-stuck")
        assert name != "A2ACardFetchFailing" or agent == "127.0.0.2"


def _alerts(prometheus: Prometheus) -> set[tuple[str, str, str, str]]:
    """Name, rule, agent and state of the alerts at hand."""
    labels = [(alert["labels"], alert["state"]) for alert in prometheus.ask("alerts")["alerts"]]
    return {
        (each["alertname"], each.get("security_rule_name", ""), each.get("server_address", ""), state)
        for each, state in labels
    }
