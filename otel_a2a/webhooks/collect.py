# SPDX-License-Identifier: Apache-2.0
"""What the two middlewares share: which requests are looked at, and their bodies, as far as they are read."""

from __future__ import annotations

import fnmatch
import inspect
import re
from collections.abc import Callable, Iterable

from otel_a2a import operation
from otel_a2a.runtime import Runtime
from otel_a2a.webhooks.observe import Headers, Verify, fields, observe


class Watch:
    """Which requests may be deliveries, and who vouches for their senders. See ``A2AWebhookMiddleware``."""

    __slots__ = ("_paths", "_verify")

    def __init__(self, paths: str | Iterable[str], verified: bool | Verify) -> None:
        if inspect.iscoroutinefunction(verified):
            raise ValueError(
                "verified has to be a plain function; to await something, verify in your handler and call "
                "observe_webhook(..., verified=True) there instead"
            )
        globs = (paths,) if isinstance(paths, str) else tuple(paths)
        self._paths = re.compile("|".join(map(fnmatch.translate, globs)))
        self._verify: Verify = verified if callable(verified) else lambda *_: verified

    def open(self, method: str, path: str, root: str, headers: Callable[[], Headers]) -> Collected | None:
        """What collects the body of a request, or None for one that is not looked at. Never raises.

        ``path`` includes ``root``, the path that the application is mounted at.
        """
        runtime = operation.running()
        if runtime is None or method != "POST":
            return None
        try:
            if not self._paths.match(path) and not self._paths.match(path.removeprefix(root)):
                return None
            found = fields(headers())
            length = found.get("content-length", "")
            expected = int(length) if length.isdecimal() else None
            if "json" not in found.get("content-type", "json").lower() or (expected or 0) > runtime.settings.max_body:
                return None
            return Collected(runtime, self._verify, found, expected)
        except Exception as error:
            runtime.internal_error("webhook", error)
            return None


class Collected:
    """The body of one request, as far as the application has read it. No method raises."""

    __slots__ = ("_chunks", "_expected", "_headers", "_runtime", "_size", "_verify")

    def __init__(self, runtime: Runtime, verify: Verify, headers: dict[str, str], expected: int | None) -> None:
        self._runtime = runtime
        self._verify = verify
        self._headers = headers
        self._expected = expected
        self._chunks: list[bytes] | None = []
        """None once there is nothing more to collect."""
        self._size = 0

    def take(self, chunk: bytes) -> None:
        """The application has read ``chunk``."""
        if self._chunks is None:
            return
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > self._runtime.settings.max_body:
            self._chunks = None
        elif self._size == self._expected:
            self.end()

    def end(self) -> None:
        """The body has ended. One that is shorter than was announced has not arrived."""
        chunks, self._chunks = self._chunks, None
        if chunks is None or self._expected not in (None, self._size):
            return
        try:
            observe(self._runtime, b"".join(chunks), self._headers, self._verify)
        except Exception as error:
            self._runtime.internal_error("webhook", error)
