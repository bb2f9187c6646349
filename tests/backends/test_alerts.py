# SPDX-License-Identifier: Apache-2.0
"""The alert rules of ``exporters/prometheus``: their own tests, and what they make of an application's traffic."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from otel_a2a.packs import load_rules
from tests.backends.prometheus import RULES, Prometheus, find, wait_for

pytest_plugins = ["tests.backends.scraped"]

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

    def evaluated() -> bool:
        (group,) = prometheus.ask("rules")["groups"]
        return all(rule["health"] != "unknown" for rule in group["rules"])

    wait_for("evaluation of the alerts", evaluated)
    (group,) = prometheus.ask("rules")["groups"]
    assert {rule["name"]: rule["health"] for rule in group["rules"]} == dict.fromkeys(ALERTS, "ok")

    firing = {
        (alert["labels"]["alertname"], alert["labels"].get("security_rule_name", ""), alert["labels"]["server_address"])
        for alert in prometheus.ask("alerts")["alerts"]
        if alert["state"] == "firing" and "server_address" in alert["labels"]
    }
    for agent in ("127.0.0.1", "localhost"):
        assert ("A2AViolation", "backward-transition", agent) in firing
        assert ("A2AViolation", "task-stuck", agent) not in firing
        assert ("A2ATaskStuck", "task-stuck", agent) in firing
        assert ("A2ACardChanged", "", agent) in firing
