# SPDX-License-Identifier: Apache-2.0
"""What a request that is not A2A costs with us, as a multiple of what it costs without.

httpx and httpx2, synchronous and asynchronous, and requests, with nothing below the client but a canned answer: over a
network the ratios are closer to 1. Thread CPU time, with and without interleaved in one run; the median of the ratios
of neighbours is told, because a busy machine slows both alike.

    python benchmarks/transparency.py [--rounds 60] [--calls 200]
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import io
import statistics
import time
from collections.abc import Callable
from typing import Any

from otel_a2a import clients, operation, runtime
from otel_a2a.config import Settings

REQUESTS: dict[str, dict[str, Any]] = {
    "plain GET": {"method": "GET", "url": "http://api.example/page"},
    "form POST": {"method": "POST", "url": "http://api.example/search", "data": {"query": "x"}},
    "JSON POST": {"method": "POST", "url": "http://api.example/search", "json": {"query": "x" * 1500}},
}


def synchronous(library: Any, request: dict[str, Any]) -> Callable[[int], None]:
    client = library.Client(transport=library.MockTransport(lambda _: library.Response(200, content=b"{}")))

    def run(calls: int) -> None:
        for _ in range(calls):
            client.request(**request)

    return run


def asynchronous(library: Any, request: dict[str, Any]) -> Callable[[int], None]:
    client = library.AsyncClient(transport=library.MockTransport(lambda _: library.Response(200, content=b"{}")))
    loop = asyncio.new_event_loop()

    async def several(calls: int) -> None:
        for _ in range(calls):
            await client.request(**request)

    return lambda calls: loop.run_until_complete(several(calls))


def through_session(library: Any, request: dict[str, Any]) -> Callable[[int], None]:
    class Canned(library.adapters.BaseAdapter):
        def send(self, request: Any, **options: Any) -> Any:
            response = library.Response()
            response.status_code, response.url, response.raw = 200, request.url, io.BytesIO(b"{}")
            return response

        def close(self) -> None: ...

    session = library.Session()
    session.trust_env = False
    session.mount("http://", Canned())

    def run(calls: int) -> None:
        for _ in range(calls):
            session.request(**request)

    return run


BUILDS = {
    "httpx": (synchronous, asynchronous),
    "httpx2": (synchronous, asynchronous),
    "requests": (through_session,),
}


def measure(run: Callable[[int], None], rounds: int, calls: int) -> tuple[float, float]:
    """Median microseconds of thread CPU per call without us, and the median ratio with us to without."""
    bare, ratios = [], []
    for number in range(rounds + 1):
        seconds = {}
        # In turns, so that neither always comes first.
        for watched in (True, False) if number % 2 else (False, True):
            (clients.install if watched else clients.uninstall)()
            began = time.thread_time()
            run(calls)
            seconds[watched] = time.thread_time() - began
        if number:
            bare.append(seconds[False] / calls * 1e6)
            ratios.append(seconds[True] / seconds[False])
    return statistics.median(bare), statistics.median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--calls", type=int, default=200)
    arguments = parser.parse_args()
    operation.start(runtime.build(Settings()))
    print(f"{'':36}{'without µs':>12}{'with / without':>16}")
    for name, builds in BUILDS.items():
        library = importlib.import_module(name)
        for build in builds:
            for what, request in REQUESTS.items():
                bare, ratio = measure(build(library, request), arguments.rounds, arguments.calls)
                print(f"{f'{name} {build.__name__} {what}':36}{bare:12.0f}{ratio:16.3f}")
    clients.uninstall()
    operation.stop()


if __name__ == "__main__":
    main()
