# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry for agent-to-agent (A2A) traffic: makes it visible, and keeps it honest."""
