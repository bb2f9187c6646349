# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a watch`` from end to end: a real program under ``opentelemetry-instrument`` sends to the real command."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from types import TracebackType

import grpc
import pytest

from otel_a2a.cli import main
from otel_a2a.cli.demo.programs import clean_environment
from otel_a2a.cli.otlp.grpc import SERVICES
from tests.support.otlp import PATIENCE, Application

ANY_PORTS = ("--port", "0", "--grpc-port", "0")
MANY_SECONDS = "600"
PROTOCOLS = ("grpc", "http")
LINES_OF_TWO_CALLS = {
    "card Agent 1.0.0 <revision>",
    "task Agent task-of-m-1 completed",
    "violation Agent terminal-task-reused task-of-m-1",
}


class Watch:
    """The command, from ``__enter__`` to ``__exit__``; it ends by itself if nobody ends it.

    Args:
        options: of the command, besides free ports.
        before: Python to run first in its process.
    """

    def __init__(self, *options: str, before: str = "") -> None:
        program = f"import sys; {before or 'pass'}; from otel_a2a.cli import main; sys.exit(main(sys.argv[1:]))"
        limit = () if "--for" in options else ("--for", MANY_SECONDS)
        self._command = [sys.executable, "-c", program, "watch", *ANY_PORTS, *limit, *options]

    def __enter__(self) -> Watch:
        self._output = tempfile.TemporaryFile("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            self._command, env=clean_environment(), stdout=self._output, stderr=subprocess.PIPE, encoding="utf-8"
        )
        self.instructions = self._instructions()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._output.close()

    def environment(self, protocol: str) -> dict[str, str]:
        """The environment of the line to copy for ``protocol``."""
        [line] = [line for line in self._lines_to_copy() if ("http/protobuf" in line) == (protocol == "http")]
        assert line.endswith(" opentelemetry-instrument python app.py")
        return dict(re.findall(r"(\w+)=(\S+)", line))

    def url(self, protocol: str) -> str:
        return self.environment(protocol)["OTEL_EXPORTER_OTLP_ENDPOINT"]

    def end(self, number: int = signal.SIGTERM) -> str:
        """Ends it by a signal; returns what it wrote."""
        self._process.send_signal(number)
        return self.ended()

    def ended(self) -> str:
        """Waits until it has ended; returns what it wrote."""
        assert self._process.wait(PATIENCE) == 0
        self._output.seek(0)
        return self._output.read()

    def _instructions(self) -> str:
        text = ""
        while "http/protobuf" not in text:
            assert self._process.stderr is not None
            line = self._process.stderr.readline()
            assert line, f"ended after {text!r}"
            text += line
        return text

    def _lines_to_copy(self) -> list[str]:
        return [line.strip() for line in self.instructions.splitlines() if "OTEL_" in line]


def send_two_calls(environment: dict[str, str]) -> None:
    """The second one is a message into a task that has ended, which is a violation."""
    with Application(environment) as application:
        application.call(2)
        application.finish()


def steady(line: str) -> str:
    """A line without its time, with a name for the revision, and without the sentence of a finding.

    Spans and log events are exported apart, so the agent may be spoken of before its card tells its name.
    """
    line = re.sub(r"  127\.0\.0\.1(:\d+)?  ", "  Agent  ", line)
    kind, agent, *about = re.split(r" {2,}", line.partition("  ")[2])
    kept = about[:2] if kind in ("violation", "improvement", "information") else about
    return re.sub(r"\b[0-9a-f]{8}$", "<revision>", " ".join((kind, agent, *kept)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_program_started_with_the_line_to_copy_is_seen(protocol: str) -> None:
    """Over gRPC and HTTP: its card, its task and its violation are one line each, where the output is no terminal."""
    with Watch() as watch:
        send_two_calls(watch.environment(protocol))
        lines = watch.end().splitlines()
    assert sorted(map(steady, lines)) == sorted(LINES_OF_TWO_CALLS)
    assert all(re.match(r"\d\d:\d\d:\d\d  ", line) for line in lines)


def test_a_program_with_nothing_but_the_endpoint_is_seen() -> None:
    """Without events of transitions the same is told by its spans."""
    with Watch() as watch:
        send_two_calls({"OTEL_EXPORTER_OTLP_ENDPOINT": watch.url("grpc")})
        assert set(map(steady, watch.end().splitlines())) == LINES_OF_TWO_CALLS


def test_what_is_not_sampled_is_seen() -> None:
    """States and findings also come as log events; only the card, which none tells of, is missing."""
    with Watch() as watch:
        send_two_calls(watch.environment("http") | {"OTEL_TRACES_SAMPLER": "always_off"})
        lines = watch.end().splitlines()
    assert set(map(steady, lines)) == {line for line in LINES_OF_TWO_CALLS if not line.startswith("card")}


def test_once_shows_the_whole_at_the_end() -> None:
    """With ``--once`` there are no lines but the view, once."""
    with Watch("--once") as watch:
        send_two_calls(watch.environment("grpc"))
        text = watch.end()
    assert text.startswith("otel-a2a watch   1 violation ")
    assert [text.count(f"\n{title}\n") for title in ("Agents", "Tasks", "Findings")] == [1, 1, 1]
    assert re.search(r"task-of-m-1 +Agent +completed .* 1 violation\s", text)
    assert "violation terminal-task-reused" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_when_told_to(number: int) -> None:
    """Ctrl-C and the signal that ends services end it at once, without an error."""
    with Watch() as watch:
        assert watch.end(number) == ""


def test_it_ends_after_the_time_it_was_given() -> None:
    """``--for`` needs nobody to end it, and what is shown of nothing says so."""
    with Watch("--for", "0.1", "--once") as watch:
        assert "Nothing has come yet." in watch.ended()


def test_a_reader_that_goes_away_is_no_error() -> None:
    """As in ``otel-a2a watch | head``."""
    program = [sys.executable, "-m", "otel_a2a.cli", "watch", *ANY_PORTS, "--for", MANY_SECONDS]
    process = subprocess.Popen(program, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    text = b""
    while b"http/protobuf" not in text:
        text += process.stderr.readline()
    [url] = re.findall(r"http/protobuf OTEL_EXPORTER_OTLP_ENDPOINT=(\S+)", text.decode())
    send_two_calls({"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"})
    try:
        assert process.wait(PATIENCE) == 0
        errors = process.stderr.read()
        assert b"Traceback" not in errors and b"BrokenPipe" not in errors
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def taken() -> Iterator[int]:
    """A port at which somebody else listens."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize("option", ["--port", "--grpc-port"])
def test_a_port_that_is_taken_is_named(option: str, taken: int, capfd: pytest.CaptureFixture[str]) -> None:
    """It exits with 2, and one line says which port and how to choose another."""
    assert main(["watch", *ANY_PORTS, option, str(taken)]) == 2
    [line] = capfd.readouterr().err.splitlines()
    assert f"port {taken} of 127.0.0.1" in line and line.endswith(f"choose another by {option}")


@pytest.mark.parametrize("options", [("--port", "65536"), ("--grpc-port", "x"), ("--for", "-1"), ("--for", "nan")])
def test_a_wrong_number_is_named(options: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be a port or a time exits with 2."""
    with pytest.raises(SystemExit) as caught:
        main(["watch", *options])
    assert caught.value.code == 2
    assert f"argument {options[0]}: '{options[1]}' is no" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["rich", "opentelemetry.proto"])
def test_a_missing_extra_is_named(module: str) -> None:
    """Where the extra is not installed it exits with 2, and says which one to install."""
    program = f"import sys; sys.modules[{module!r}] = None; from otel_a2a.cli import main; sys.exit(main(['watch']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == f'otel-a2a watch needs {module}: pip install "otel-a2a[cli]"\n'


def test_without_grpcio_it_listens_over_http_and_says_so() -> None:
    """gRPC is offered only where it can be had."""
    with Watch(before="sys.modules['grpc'] = None") as watch:
        assert "Over HTTP only, since grpcio is not installed here." in watch.instructions
        assert watch.instructions.count("OTEL_EXPORTER_OTLP_ENDPOINT") == 1
        send_two_calls(watch.environment("http"))
        assert set(map(steady, watch.end().splitlines())) == LINES_OF_TWO_CALLS


def test_nonsense_is_refused_and_does_no_harm() -> None:
    """A request that is no OTLP is answered with an error, over HTTP and gRPC, and what comes after it is seen."""
    with Watch() as watch:
        nonsense = urllib.request.Request(watch.url("http") + "/v1/traces", b"\xff\xff", method="POST")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(nonsense, timeout=10)
        refused.value.close()
        assert refused.value.code == 400
        with grpc.insecure_channel(watch.url("grpc").removeprefix("http://")) as channel:
            export: Callable[..., bytes] = channel.unary_unary(f"/{SERVICES['logs']}/Export")
            with pytest.raises(grpc.RpcError) as aborted:
                export(b"\xff\xff", timeout=10)
        assert isinstance(aborted.value, grpc.Call)
        assert aborted.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        send_two_calls(watch.environment("http"))
        assert set(map(steady, watch.end().splitlines())) == LINES_OF_TWO_CALLS


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_in_a_terminal_it_is_a_live_view() -> None:
    """The view is drawn before anything has come, drawn again with what came, and left behind at Ctrl-C."""
    import pty

    ours, its = pty.openpty()
    environment = clean_environment() | {"TERM": "xterm", "COLUMNS": "120", "LINES": "50"}
    command = [sys.executable, "-m", "otel_a2a.cli", "watch", *ANY_PORTS, "--for", MANY_SECONDS]
    process = subprocess.Popen(command, env=environment, stdout=its, stderr=its, stdin=its)
    os.close(its)
    try:
        text = read_until(ours, "Nothing has come yet.")
        [url] = re.findall(r"^ +OTEL_EXPORTER_OTLP_ENDPOINT=(\S+)", text, re.MULTILINE)
        send_two_calls({"OTEL_EXPORTER_OTLP_ENDPOINT": url})
        read_until(ours, "terminal-task-reused")
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in read_until(ours, "")
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, wanted: str) -> str:
    """What is written to the terminal up to ``wanted``; with nothing wanted, up to its end."""
    text = ""
    while not wanted or wanted not in text:
        try:
            text += os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the program has ended
            break
    assert wanted in text, text
    return text
