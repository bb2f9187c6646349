# SPDX-License-Identifier: Apache-2.0
"""OTLP as it is received, by the demo and by ``otel-a2a watch``: over HTTP and over gRPC, read into plain records."""
