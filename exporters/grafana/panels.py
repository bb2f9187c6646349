# SPDX-License-Identifier: Apache-2.0
"""The kinds of panel that the dashboard has, each with the house's settings."""

from __future__ import annotations

from typing import Final

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, table, tempo, timeseries
from grafana_foundation_sdk.builders.common import (
    ReduceDataOptions,
    StackingConfig,
    VizLegendOptions,
    VizTooltipOptions,
)
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    DataSourceRef,
    GraphDrawStyle,
    LegendDisplayMode,
    LegendPlacement,
    LineInterpolation,
    SortOrder,
    StackingMode,
    TooltipDisplayMode,
)
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue, Threshold, ThresholdsMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from grafana_foundation_sdk.models.tempo import MetricsQueryType, SearchTableType

from grafana.traceql import Search

PROMETHEUS: Final = DataSourceRef(type_val="prometheus", uid="${prometheus}")
TEMPO: Final = DataSourceRef(type_val="tempo", uid="${tempo}")
JAEGER: Final = DataSourceRef(type_val="jaeger", uid="${jaeger}")
NEWEST: Final = 50
"""Rows of a table of spans or traces."""


class JaegerSearch(Dataquery, Builder[Dataquery]):
    """A search in Jaeger, which the SDK has no query for: the newest traces of ``$service`` that it brings."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def build(self) -> Dataquery:
        return self

    def to_json(self) -> dict[str, object]:
        asked: dict[str, object] = {
            "refId": "A",
            "datasource": JAEGER,
            "queryType": "search",
            "service": "$service",
            "tags": self._search.tags,
            "limit": NEWEST,
        }
        return asked | ({"operation": self._search.operation} if self._search.operation else {})


def number(title: str, description: str, expression: str, *, color: str) -> stat.Panel:
    """One number over the time that is shown; 0 is green."""
    thresholds = [Threshold(value=None, color="green"), Threshold(value=0.5, color=color)]
    return (
        stat.Panel()
        .title(title)
        .description(description)
        .datasource(PROMETHEUS)
        .with_target(prometheus.Dataquery().expr(expression).instant().ref_id("A"))
        .reduce_options(ReduceDataOptions().calcs(["lastNotNull"]))
        .thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(thresholds))
        .color_mode(BigValueColorMode.BACKGROUND)
        .decimals(0)
        .height(4)
        .span(4)
    )


def lines(
    title: str, description: str, *queries: tuple[str, str], unit: str = "short", width: int = 12
) -> timeseries.Panel:
    """Lines over time; each query is PromQL and the legend of its lines."""
    panel = _over_time(title, description, PROMETHEUS, width).unit(unit).fill_opacity(10)
    for ref_id, (expression, legend) in zip("ABCD", queries, strict=False):
        panel.with_target(prometheus.Dataquery().expr(expression).legend_format(legend).range().ref_id(ref_id))
    return panel


def steps(title: str, description: str, expression: str, legend: str) -> timeseries.Panel:
    """A number that changes now and then."""
    return lines(title, description, (expression, legend)).line_interpolation(LineInterpolation.STEP_AFTER).decimals(0)


def bars(title: str, description: str, expression: str, legend: str) -> timeseries.Panel:
    """Events over time, stacked."""
    return (
        lines(title, description, (expression, legend))
        .draw_style(GraphDrawStyle.BARS)
        .fill_opacity(80)
        .stacking(StackingConfig().mode(StackingMode.NORMAL))
        .interval("1m")
        .decimals(0)
    )


def areas(title: str, description: str, expression: str, legend: str) -> timeseries.Panel:
    """Parts of a whole over time, stacked."""
    panel = lines(title, description, (expression, legend))
    return panel.stacking(StackingConfig().mode(StackingMode.NORMAL)).fill_opacity(40).decimals(0)


def counts(title: str, description: str, expression: str) -> table.Panel:
    """A table of counts by their labels."""
    query = prometheus.Dataquery().expr(expression).instant().format(PromQueryFormat.TABLE).ref_id("A")
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(PROMETHEUS)
        .with_target(query)
        .override_by_name("Time", [_property("custom.hidden", True)])
        .override_by_name("Value", [_property("displayName", "count"), _property("decimals", 0)])
        .height(8)
        .span(24)
    )


def spans(title: str, description: str, query: str) -> table.Panel:
    """A table of spans in Tempo, newest first.

    The data source itself makes a link of each Span ID, which opens the trace at that span.
    """
    target = tempo.Dataquery().ref_id("A").query_type("traceql").query(query)
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(TEMPO)
        .with_target(target.table_type(SearchTableType.SPANS).limit(NEWEST).spss(10))
        .height(9)
        .span(24)
    )


def traces(title: str, description: str, search: Search) -> table.Panel:
    """A table of traces in Jaeger, newest first. The data source makes a link of each Trace ID, which opens it."""
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(JAEGER)
        .with_target(JaegerSearch(search))
        .height(9)
        .span(24)
    )


def span_metrics(title: str, description: str, query: str, *, unit: str) -> timeseries.Panel:
    """A TraceQL metric over time."""
    target = tempo.Dataquery().ref_id("A").query_type("traceql").query(query).metrics_query_type(MetricsQueryType.RANGE)
    return _over_time(title, description, TEMPO, 12).unit(unit).fill_opacity(10).with_target(target)


def _over_time(title: str, description: str, source: DataSourceRef, width: int) -> timeseries.Panel:
    return (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(source)
        .legend(
            VizLegendOptions().display_mode(LegendDisplayMode.LIST).placement(LegendPlacement.BOTTOM).show_legend(True)
        )
        .tooltip(VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
        .min(0)
        .height(8)
        .span(width)
    )


def _property(name: str, value: object) -> DynamicConfigValue:
    return DynamicConfigValue(id_val=name, value=value)
