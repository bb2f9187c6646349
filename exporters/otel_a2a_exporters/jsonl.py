# SPDX-License-Identifier: Apache-2.0
"""Findings of all levels as JSON lines in a file, for those who have no backend, or want a record of their own.

The application hands a finding over and goes on: a daemon thread, started with the first finding, turns it into a line
and writes that by one append, so that several processes can share a file. A slow or full disk is never felt by the
application: what does not fit into the queue, or cannot be written, is lost, counted and told once.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import logging
import os
from collections.abc import Callable
from typing import Any, Final

from otel_a2a.engine.findings import Finding
from otel_a2a.engine.worker import Worker
from otel_a2a_exporters.record import as_line

_logger = logging.getLogger("otel_a2a")

QUEUE: Final = 2048
"""Findings that may wait; as many as spans may wait in OpenTelemetry's batch processor."""
FLUSH_SECONDS: Final = 2.0
"""How long the end of the program, or ``uninstrument()``, waits for a disk at most."""


class FileExporter:
    """Appends each finding to a file, as one line (``otel_a2a_exporters.record``).

    A file that was moved or removed, as log rotation does, is made anew. A folder is not.

    Args:
        path: the file; relative to the folder in which the program is now.
        on_loss: called for each finding that is lost, on any thread.
    """

    def __init__(self, path: str, on_loss: Callable[[], None] = lambda: None) -> None:
        self._path = os.path.abspath(path)
        self._on_loss = on_loss
        self._worker = Worker()
        self._file: io.FileIO | None = None
        self._is_torn = False
        self._told: dict[str, object] = {}
        atexit.register(self.close)

    def export(self, finding: Finding, context: Any) -> None:
        """Have the finding written, soon and elsewhere."""
        if self._worker.waiting >= QUEUE:
            self._lose("are found faster than they can be written to", f"{QUEUE} are waiting")
            return
        self._worker.start()
        self._worker.defer(functools.partial(self._write, finding))

    def close(self) -> None:
        """Write what is waiting, for ``FLUSH_SECONDS`` at most, and close the file. Later findings open it again."""
        atexit.unregister(self.close)
        self._worker.defer(self._close_file)
        if self._worker.flush(FLUSH_SECONDS):
            self._worker.stop()

    # --- on the thread

    def _write(self, finding: Finding) -> None:
        try:
            line = as_line(finding)
            if self._is_torn:
                line = b"\n" + line
            written = self._open_file().write(line) or 0
            if written:
                self._is_torn = written < len(line)
            if written < len(line):
                raise OSError(f"{written} of {len(line)} bytes were written")
        except Exception as error:
            self._lose("cannot be written to", error)

    def _open_file(self) -> io.FileIO:
        if self._file is not None and not self._is_moved(self._file):
            return self._file
        self._close_file()
        # Each write goes to what is the end of the file by then, whoever else writes.
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115  # stays open
        return self._file

    def _is_moved(self, file: io.FileIO) -> bool:
        try:
            return not os.path.samestat(os.fstat(file.fileno()), os.stat(self._path))
        except OSError:
            return True

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()

    def _lose(self, what: str, why: object) -> None:
        with contextlib.suppress(Exception):
            self._on_loss()
        first = object()
        if self._told.setdefault(what, first) is first:
            _logger.warning("findings %s %s, and are lost: %s", what, self._path, why)
