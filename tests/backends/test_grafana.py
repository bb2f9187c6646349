# SPDX-License-Identifier: Apache-2.0
"""The dashboard: it is what its modules make, its queries bring data, and its TraceQL is TraceQL."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from otel_a2a import semconv
from otel_a2a.packs import load_rules
from tests.backends import traceql
from tests.backends.dashboards import DASHBOARD, GRAFANA, VALUES, Query, dashboard, filled, panels, queries
from tests.backends.jaeger import Jaeger, Search
from tests.backends.prometheus import RULES, Prometheus
from tests.backends.story import Story

SOURCES = {"${prometheus}": "prometheus", "${tempo}": "tempo", "${jaeger}": "jaeger"}
NAMES = {value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)}
BACKENDS = GRAFANA.parents[1] / "examples" / "backends"


def test_the_committed_dashboard_is_what_its_modules_make(tmp_path: Path) -> None:
    """Whoever changes the modules writes the dashboard anew, and nobody edits it by hand."""
    if importlib.util.find_spec("grafana_foundation_sdk") is None:
        if os.environ.get("CI") and sys.version_info >= (3, 11):
            pytest.fail("needs the extra: dashboards")
        pytest.skip("needs the extra `dashboards`, which needs Python 3.11")
    command = [sys.executable, "-m", "grafana", str(tmp_path)]
    subprocess.run(command, cwd=GRAFANA.parent, check=True)
    assert (tmp_path / DASHBOARD.name).read_text("utf-8") == DASHBOARD.read_text("utf-8")


def test_panels_are_told_apart_and_do_not_overlap() -> None:
    """Ids and titles are unique, everything has a place of its own within the width of a dashboard."""
    assert max(Counter(panel["id"] for panel in panels()).values()) == 1
    assert max(Counter(panel["title"] for panel in panels()).values()) == 1
    places = [(panel["title"], panel["gridPos"]) for panel in panels()]
    for (one, a), (other, b) in combinations(places, 2):
        beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        assert beside or a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"], f"{one} lies on {other}"
    assert all(place["x"] + place["w"] <= 24 for _, place in places)


def test_data_sources_come_from_variables() -> None:
    """The dashboard works in any Grafana: it names no data source, and lets each of the three be chosen."""
    held = [*panels(), *dashboard()["annotations"]["list"], *dashboard()["templating"]["list"]]
    held += [target for panel in panels() for target in panel.get("targets", ())]
    sources = [each["datasource"] for each in held if "datasource" in each]
    assert sources
    assert {source["uid"]: source["type"] for source in sources} == SOURCES
    chosen = {each["name"]: each["query"] for each in dashboard()["templating"]["list"] if each["type"] == "datasource"}
    assert chosen == {name: name for name in SOURCES.values()}


@pytest.mark.parametrize("query", queries("prometheus"), ids=str)
def test_a_query_to_prometheus_brings_data(prometheus: Prometheus, query: Query) -> None:
    """Asked as the panel asks, of the traffic of an application, it brings numbers, and some are not 0."""
    if query.target.get("instant"):
        values = [sample["value"] for sample in prometheus.query(query.text)]
    else:
        now = time.time()
        found = prometheus.ask("query_range", query=query.text, start=str(now - 10), end=str(now), step="1")
        values = [value for series in found["result"] for value in series["values"]]
    assert any(float(value) > 0 for _, value in values), query.text


@pytest.mark.parametrize("query", queries("prometheus"), ids=str)
def test_the_lines_of_a_panel_have_names(prometheus: Prometheus, query: Query) -> None:
    """A legend names labels that the answer has, so that no line is without a name."""
    legend = query.target.get("legendFormat", "")
    labels = set(re.findall(r"\{\{(\w+)\}\}", legend))
    found = [set(sample["metric"]) for sample in prometheus.query(query.text)]
    assert found
    # Only a call that failed has an error.
    assert all(labels - {"error_type"} <= each for each in found)
    assert labels <= set[str]().union(*found)


def test_the_variables_offer_what_there_is(prometheus: Prometheus) -> None:
    """The jobs, agents and rules to choose among are those of the metrics."""
    offered: dict[str, set[str]] = {}
    for variable in dashboard()["templating"]["list"]:
        if variable["type"] == "query":
            match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            assert match is not None
            offered[variable["name"]] = set(prometheus.ask(f"label/{match[2]}/values", **{"match[]": filled(match[1])}))
    assert offered["job"] == {"checkout"}
    assert offered["agent"] == {"127.0.0.1", "localhost"}
    assert {"backward-transition", "task-stuck"} <= offered["rule"]


def test_a_click_narrows_the_dashboard_and_keeps_what_was_chosen() -> None:
    """A link of a bar names every variable of the dashboard once, one of them by a label of the bar."""
    variables = {each["name"] for each in dashboard()["templating"]["list"]}
    links = [
        (link["url"], panel["targets"][0]["expr"])
        for panel in panels()
        for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", ())
    ]
    assert len(links) == 2
    for url, expression in links:
        ((narrowed, label),) = re.findall(r"var-(\w+)=\$\{__field\.labels\.(\w+)\}", url)
        assert f"sum by ({label})" in expression
        assert Counter([*re.findall(r"\$\{(\w+):queryparam\}", url), narrowed]) == Counter(variables)


def test_the_panels_and_the_alerts_mean_the_same_rules_by_stuck_tasks() -> None:
    """The rules about waiting are the same wherever a query names them one by one, and there are such rules."""
    asked = [query.text for kind in ("prometheus", "tempo") for query in queries(kind)]
    named = {found for query in asked for found in re.findall(r'"([a-z-]+(?:\|[a-z-]+)+)"', query)}
    named -= {VALUES["rule:pipe"]}
    (stuck,) = named
    assert f'security_rule_name=~"{stuck}"' in RULES.read_text("utf-8")
    assert set(stuck.split("|")) <= {rule.name for rule in load_rules()}


def test_every_traceql_is_accepted_by_grafanas_grammar() -> None:
    """What the panels ask of Tempo parses, and so does what documents and alerts tell people to type."""
    asked = [query.text for query in queries("tempo")]
    told = traceql.documented()
    assert len(asked) >= 5
    assert len(told) >= 5
    wrong = {query: found for query, found in zip(asked + told, traceql.faults(asked + told), strict=True) if found}
    assert wrong == {}


@pytest.mark.parametrize("query", ["{ name = }", '{ span.a2a.task.id == "t" }', "{ name = `x` } | rate() by ("])
def test_wrong_traceql_is_noticed(query: str) -> None:
    """The grammar is not one that accepts everything."""
    assert traceql.faults([query]) != [[]]


def test_traceql_names_attributes_that_there_are() -> None:
    """An attribute in a query to Tempo or Jaeger is one that we write; a name that changes takes its query along."""
    asked = [query.text for query in queries("tempo")] + traceql.documented()
    named = {name for query in asked for name in re.findall(r"\bspan\.([\w.]+)", query)}
    named |= {tag.partition("=")[0] for query in queries("jaeger") for tag in query.text.split()}
    assert len(named) >= 10
    assert named <= NAMES


@pytest.mark.parametrize(
    ("panel", "operation", "tag"),
    [
        ("Newest traces with a violation (Jaeger)", "violation ", (semconv.FINDING_LEVEL, "violation")),
        ("Newest changes of a card (Jaeger)", "GetAgentCard", (semconv.CARD_REVISION_CHANGED, True)),
        (
            "Newest traces with a stuck task (Jaeger)",
            "violation task-stuck",
            (semconv.SECURITY_RULE_NAME, "task-stuck"),
        ),
    ],
)
def test_a_panel_for_jaeger_finds_what_its_title_says(
    jaeger: Jaeger, story: Story, panel: str, operation: str, tag: tuple[str, Any]
) -> None:
    """Its search, done in a real Jaeger, brings traces of the service, and each has such a span."""
    (query,) = (each for each in queries("jaeger") if each.panel == panel)
    assert query.target["queryType"] == "search"
    found = jaeger.search(
        Search(filled(query.target["service"]), query.target.get("operation", ""), query.target["tags"])
    )
    assert found
    for trace in found:
        assert any(span.name.startswith(operation) and span.tags.get(tag[0]) == tag[1] for span in trace.spans)


def test_the_example_mounts_what_prometheus_reads() -> None:
    """Its configuration is where its command says, and the alerts are where the configuration looks for them."""
    service = _read(BACKENDS / "compose.yaml")["services"]["prometheus"]
    mounted = {
        target: (BACKENDS / source).resolve()
        for source, target in (volume.removesuffix(":ro").split(":") for volume in service["volumes"])
    }
    (configuration,) = (each.partition("=")[2] for each in service["command"] if each.startswith("--config.file="))
    assert mounted.pop(configuration) == BACKENDS / "prometheus.yml"
    (rules,) = _read(BACKENDS / "prometheus.yml")["rule_files"]
    assert mounted == {str(PurePosixPath(configuration).parent / rules): RULES}
    assert "--web.enable-otlp-receiver" in service["command"], "the example's application pushes its metrics there"


def test_the_example_says_where_its_application_sends_to() -> None:
    """The addresses of its README are ports of the services, open on this machine alone."""
    services = _read(BACKENDS / "compose.yaml")["services"]
    opened = [port.rsplit(":", 2) for service in services.values() for port in service["ports"]]
    assert {host for host, _, _ in opened} == {"127.0.0.1"}
    told = set(re.findall(r"localhost:(\d+)", (BACKENDS / "README.md").read_text("utf-8")))
    assert told <= {published for _, published, _ in opened}
    assert {"4318", "9090", "3000", "16686"} <= told


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def test_what_is_provisioned_is_what_the_example_starts() -> None:
    """The data sources are the example's services at their ports, the dashboards are mounted where they are sought."""
    services = _read(BACKENDS / "compose.yaml")["services"]
    ports = {name: {port.rpartition(":")[2] for port in service["ports"]} for name, service in services.items()}
    sources = _read(GRAFANA / "provisioning" / "datasources" / "otel-a2a.yaml")["datasources"]
    assert {source["type"] for source in sources} == {"prometheus", "jaeger"}
    for source in sources:
        host, port = source["url"].removeprefix("http://").split(":")
        assert port in ports[host]
    mounted = dict(volume.removesuffix(":ro").split(":") for volume in services["grafana"]["volumes"])
    (provider,) = _read(GRAFANA / "provisioning" / "dashboards" / "otel-a2a.yaml")["providers"]
    assert {(BACKENDS / source).resolve(): target for source, target in mounted.items()} == {
        GRAFANA / "provisioning": "/etc/grafana/provisioning",
        GRAFANA / "dashboards": provider["options"]["path"],
    }
