# SPDX-License-Identifier: Apache-2.0
"""The programs that the demo starts: processes whose output is read line by line, and which never outlive us."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType


class DemoError(Exception):
    """A program of the demo ended, or stayed silent, where it should not have. The message holds its output."""


class Program:
    """A running process, from ``__enter__`` to ``__exit__``.

    It runs in ``folder``, because modules that lie about in ours would be found before Python's own. Its standard input
    stays open as long as we live, so that it can end itself after us. Standard output and error are one sequence of
    lines.
    """

    def __init__(self, title: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.title = title
        self.command = command
        self.environment = environment
        self.folder = folder
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._ended = False

    def __enter__(self) -> Program:
        self._process = subprocess.Popen(
            self.command,
            env=dict(self.environment),
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def wait_for(self, text: str, seconds: float = 60.0) -> str:
        """The first line that contains ``text``.

        Raises:
            DemoError: the program ended without it, or has not written it within ``seconds``.
        """
        give_up = time.monotonic() + seconds
        with self._news:
            while True:
                found = next((line for line in self.lines if text in line), None)
                if found is not None:
                    return found
                if self._ended:
                    raise self._error(f"ended before it wrote {text!r}")
                if not self._news.wait(max(0.0, give_up - time.monotonic())):
                    raise self._error(f"did not write {text!r} within {seconds:.0f} s")

    def wait(self, seconds: float = 60.0) -> int:
        """The exit code, once the program has ended and all it wrote is read.

        Raises:
            DemoError: it has not ended within ``seconds``.
        """
        give_up = time.monotonic() + seconds
        with self._news:
            while not self._ended:
                if not self._news.wait(max(0.0, give_up - time.monotonic())):
                    raise self._error(f"did not end within {seconds:.0f} s")
        return self._process.wait()

    def kill(self) -> None:
        """Ends the program at once, without a chance to say goodbye, and waits until it is gone."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None, "opened as a pipe"
        for line in stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _error(self, what: str) -> DemoError:
        output = "\n".join(f"    {line}" for line in self.lines[-40:]) or "    (nothing)"
        return DemoError(f"{self.title} {what}. Its output:\n{output}")


def clean_environment() -> dict[str, str]:
    """Our environment without OpenTelemetry's settings, so that the demo is the same everywhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    paths = [path for path in kept.pop("PYTHONPATH", "").split(os.pathsep) if path]
    paths = [os.path.abspath(path) for path in paths if "auto_instrumentation" not in path]
    if paths:
        kept["PYTHONPATH"] = os.pathsep.join(paths)
    local = "127.0.0.1,localhost"
    return {**kept, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", "NO_PROXY": local, "no_proxy": local}
