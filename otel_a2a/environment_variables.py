# SPDX-License-Identifier: Apache-2.0
"""The environment variables of otel-a2a, each with its meaning.

``opentelemetry-instrument`` reads this module before the application starts and makes a flag of every name in it:
``--a2a_strictness raise`` sets ``OTEL_PYTHON_A2A_STRICTNESS``. It is therefore free of imports, and shares no name with
the modules of other packages, which would keep the launcher from starting.

A keyword argument of ``A2AInstrumentor().instrument()`` wins over the variable, the variable over the policy file, the
policy file over the default. An empty variable counts as unset. A value that cannot be used is named in a warning, and
the next source is used instead. Booleans are ``true`` or ``false`` in any case; lists are separated by commas.
"""

from __future__ import annotations

OTEL_PYTHON_A2A_STRICTNESS = "OTEL_PYTHON_A2A_STRICTNESS"
"""What is done about a finding: ``off``, ``annotate``, ``log`` or ``raise``; each includes the one before.

Default: ``annotate``. ``raise`` is enforcement: a call that crosses a boundary fails with an ``A2APolicyError``.
"""

OTEL_PYTHON_A2A_RAISE_ON = "OTEL_PYTHON_A2A_RAISE_ON"
"""The lowest level that ``raise`` acts on: ``information``, ``improvement``, ``violation``. Default: ``violation``."""

OTEL_PYTHON_A2A_RULES = "OTEL_PYTHON_A2A_RULES"
"""What is done about findings of single rules: ``glob=action,…``, such as ``backward-*=log,task-lost=off``.

The more exact glob wins, then the later one. Default: none.
"""

OTEL_PYTHON_A2A_AGENTS = "OTEL_PYTHON_A2A_AGENTS"
"""What is done about findings at single agents: ``hostglob=action,…``, such as ``*.partner.example=raise``.

The glob is compared with ``host`` and with ``host:port``. A line for a rule wins over one for an agent. Default: none.
"""

OTEL_PYTHON_A2A_PROFILE = "OTEL_PYTHON_A2A_PROFILE"
"""The policy file, by its path or the name of a built-in one.

Built in are ``default``, ``authority``, ``fenced``, ``declared-history``, ``version-fenced`` and ``spec``.
Default: ``default``.
"""

OTEL_PYTHON_A2A_EXPORTERS = "OTEL_PYTHON_A2A_EXPORTERS"
"""Where findings go: a list of ``span``, ``log``, ``metric`` and the names of installed exporters.

Default: ``span,log,metric``.
"""

OTEL_PYTHON_A2A_VIOLATIONS_FILE = "OTEL_PYTHON_A2A_VIOLATIONS_FILE"
"""A file to which findings of all levels are appended, besides: one line of JSON each. Default: none.

Several processes may write to one file. ``docs/finding.schema.json`` describes a line.
"""

OTEL_PYTHON_A2A_DISABLED_CLIENTS = "OTEL_PYTHON_A2A_DISABLED_CLIENTS"
"""Client libraries that are left alone, of ``httpx``, ``httpx2``, ``aiohttp``, ``grpc`` and ``requests``.

Default: none.
"""

OTEL_PYTHON_A2A_EXCLUDED_URLS = "OTEL_PYTHON_A2A_EXCLUDED_URLS"
"""Calls that are not looked at: a list of regular expressions, searched for in the URL.

Default: the value of OpenTelemetry's own variable for all instrumentations, which ends in ``PYTHON_EXCLUDED_URLS``.
"""

OTEL_PYTHON_A2A_CARD_URLS = "OTEL_PYTHON_A2A_CARD_URLS"
"""URLs that serve an Agent Card, besides the well-known paths: a list of ``http`` and ``https`` URLs. Default: none."""

OTEL_PYTHON_A2A_PINNED_CARDS = "OTEL_PYTHON_A2A_PINNED_CARDS"
"""Agents whose card is pinned, so that no rule about cards applies: a list of globs of ``host`` or ``host:port``.

Default: none.
"""

OTEL_PYTHON_A2A_MAX_TASKS = "OTEL_PYTHON_A2A_MAX_TASKS"
"""How many tasks are remembered; those that ended leave first. Default: 20000."""

OTEL_PYTHON_A2A_MAX_AGENTS = "OTEL_PYTHON_A2A_MAX_AGENTS"
"""How many agents are remembered. Default: 1000."""

OTEL_PYTHON_A2A_MAX_BODY = "OTEL_PYTHON_A2A_MAX_BODY"
"""The largest body, in bytes, that is read for judging; larger ones pass unjudged. Default: 1048576."""

OTEL_PYTHON_A2A_TASK_DEADLINE = "OTEL_PYTHON_A2A_TASK_DEADLINE"
"""Seconds that a live task may show no progress. Default: none, and then no finding."""

OTEL_PYTHON_A2A_MAX_CARD_AGE = "OTEL_PYTHON_A2A_MAX_CARD_AGE"
"""Seconds that a card which states no ``max-age`` may be old for new work. Default: none, and then any age."""

OTEL_PYTHON_A2A_WEBHOOK_CARD_WINDOW = "OTEL_PYTHON_A2A_WEBHOOK_CARD_WINDOW"
"""Seconds before a webhook's registration within which its agent's card must have been fetched. Default: 60."""

OTEL_PYTHON_A2A_CARD_FAILURE_WINDOW = "OTEL_PYTHON_A2A_CARD_FAILURE_WINDOW"
"""Seconds after a failed card fetch in which a cancel is suspected to be its consequence. Default: 30."""

OTEL_PYTHON_A2A_CLOCK_SKEW = "OTEL_PYTHON_A2A_CLOCK_SKEW"
"""Seconds by which two clocks may differ before their order means anything. Default: 5."""

OTEL_PYTHON_A2A_GATEWAY_REWRITES_IDS = "OTEL_PYTHON_A2A_GATEWAY_REWRITES_IDS"
"""Whether a gateway in between gives tasks and contexts other ids, as agreed. Default: ``false``."""

OTEL_PYTHON_A2A_CORRELATION_KEY = "OTEL_PYTHON_A2A_CORRELATION_KEY"
"""Header, or member of A2A ``metadata``, by which such a gateway says what belongs together.

It has the same value in all requests and answers about one task. Default: none.
"""

OTEL_PYTHON_A2A_RAISE_IN_STREAM = "OTEL_PYTHON_A2A_RAISE_IN_STREAM"
"""Whether ``raise`` also acts in the middle of a stream. Default: ``false``, since some servers then cancel the run."""

OTEL_PYTHON_A2A_STATE_SPANS = "OTEL_PYTHON_A2A_STATE_SPANS"
"""Whether a span shows the time that a task spent in a state. Default: ``true``."""

OTEL_PYTHON_A2A_TRANSITION_EVENTS = "OTEL_PYTHON_A2A_TRANSITION_EVENTS"
"""Whether every change of a task's state is also a log event. Default: ``false``."""

OTEL_PYTHON_A2A_PROPAGATE = "OTEL_PYTHON_A2A_PROPAGATE"
"""Whether trace context is added to the headers of A2A calls: ``true``, ``false``, or a list of the agents that get it.

They are globs of ``host`` or ``host:port``. Default: ``true``.
"""

OTEL_PYTHON_A2A_SUPPRESS_SDK_SPANS = "OTEL_PYTHON_A2A_SUPPRESS_SDK_SPANS"
"""Whether a2a-sdk's own spans, which carry no attributes, are switched off. Default: ``false``."""
