# SPDX-License-Identifier: Apache-2.0
"""A neighbour: opentelemetry-instrumentation-grpc, which puts multicallables of its own in front of blocking ones.

Its channel is no intercepted channel of gRPC's. Were its calls not wrapped as gRPC's are, its span would be the parent
of ours; that of a stream, which is a generator, is. Its asyncio half uses gRPC's own interceptors.
"""

from __future__ import annotations

from types import ModuleType

from otel_a2a import patching
from otel_a2a.clients import grpc


def install(module: ModuleType) -> list[patching.Patch]:
    """Patch the multicallable of ``module`` that has one answer.

    Raises:
        PatchPointMissing: this version has no such class.
    """
    points = grpc.unary_points(module, "_InterceptorUnaryUnaryMultiCallable")
    for owner, name, _ in points:
        patching.find(owner, name)
    return [patching.install(owner, name, build) for owner, name, build in points]
