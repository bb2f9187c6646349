# SPDX-License-Identifier: Apache-2.0
"""A2A on the wire: bytes and headers in, observations out.

Knows all versions of the protocol (0.1, 0.2, 0.3, 1.0) in their JSON-RPC and HTTP+JSON bindings, and nothing else: no
I/O, no OpenTelemetry, no judgement. Reading is lenient, because what cannot be read cannot be judged, and no input
whatsoever makes a function of this package raise.
"""
