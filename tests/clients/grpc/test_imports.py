# SPDX-License-Identifier: Apache-2.0
"""When gRPC is patched, and that patching it does nothing else.

Import hooks last as long as a process, so each case runs in one of its own.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.clients.grpc.agent import Agent

PREAMBLE = """
import logging, sys, threading
from otel_a2a import clients

def patched():
    from grpc import _channel, _interceptor
    from grpc.aio import _channel as aio
    calls = [
        _channel._UnaryUnaryMultiCallable.__call__,
        _channel._UnaryUnaryMultiCallable.future,
        _channel._UnaryStreamMultiCallable.__call__,
        _channel._SingleThreadedUnaryStreamMultiCallable.__call__,
        _interceptor._UnaryUnaryMultiCallable.with_call,
        aio.UnaryUnaryMultiCallable.__call__,
        aio.UnaryStreamMultiCallable.__call__,
        aio.Channel.__init__,
    ]
    return {hasattr(call, "__wrapped__") for call in calls}

def status():
    return [(each.version is not None, each.patched) for each in clients.status() if each.name == "grpc"]
"""


def python(program: str, *paths: Path) -> str:
    """The output of ``program``; what it warns of comes first."""
    add = "".join(f"import sys; sys.path.insert(0, {str(path)!r})\n" for path in paths)
    result = subprocess.run(
        [sys.executable, "-c", add + PREAMBLE + textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stderr + result.stdout


def test_imported_before_and_afterwards() -> None:
    """It is patched at once, or as it comes, and left as it was when that is taken back."""
    for order in ("import grpc; clients.install()", "clients.install(); import grpc"):
        assert python(f"{order}\nprint(patched(), status())\nclients.uninstall()\nprint(patched(), status())") == (
            "{True} [(True, True)]\n{False} [(True, False)]\n"
        )


def test_disabled() -> None:
    """Named in the settings it is left alone."""
    assert python("clients.install({'grpc'})\nimport grpc\nprint(patched(), status())") == "{False} [(True, False)]\n"


def test_patching_starts_no_thread() -> None:
    """A process may fork after it: neither a thread nor a channel is there."""
    assert python("clients.install()\nimport grpc\nprint(threading.active_count())") == "1\n"


def test_a_call_without_its_target(tmp_path: Path) -> None:
    """A version whose calls do not know where they go is named in one warning and left alone."""
    package = tmp_path / "grpc"
    (package / "aio").mkdir(parents=True)
    unary, stream = "class {}UnaryUnaryMultiCallable", "class {}UnaryStreamMultiCallable"
    calls = "\n    def __call__(self): ...\n    with_call = future = __call__\n    def __init__(self, method): ...\n"
    plain = "".join(
        f"{each.format('_')}:{calls}" for each in (unary, stream, "class _SingleThreadedUnaryStreamMultiCallable{:.0}")
    )
    (package / "__init__.py").write_text("__version__ = '99.0'\nfrom grpc import aio\n")
    (package / "_channel.py").write_text(plain)
    (package / "_interceptor.py").write_text(plain)
    (package / "aio" / "__init__.py").write_text("EOF = object()\n")
    (package / "aio" / "_channel.py").write_text(
        "".join(f"{each.format('')}:{calls}" for each in (unary, stream)) + f"class Channel:{calls}"
    )
    output = python("clients.install()\nimport grpc\nclients.install()\nprint(status())", tmp_path)
    assert output == (
        "grpc 99.0 is left alone, A2A calls through it stay unseen: its calls do not know their target\n"
        "[(True, False)]\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_child_calls(agent: Agent) -> None:
    """Instrumented before the fork, a child's calls are seen, and its spans end."""
    assert (
        python(f"""
        import os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from otel_a2a import A2AInstrumentor
        import grpc
        spans, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(spans))
        A2AInstrumentor().instrument(tracer_provider=provider)
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        else:
            with grpc.insecure_channel("{agent.target}") as channel:
                channel.unary_unary("/lf.a2a.v1.A2AService/GetTask")(b"")
            print([span.name for span in spans.get_finished_spans()], flush=True)
            os._exit(0)
    """)
        == "['GetTask']\n"
    )
