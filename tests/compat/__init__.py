# SPDX-License-Identifier: Apache-2.0
"""Runs of real A2A clients, each in an environment of its own: ``make compat``.

``matrix.toml`` lists the clients, ``programs`` drives one of them each, ``agents`` are what they talk to, ``run`` makes
the environments, runs the programs under ``opentelemetry-instrument`` and checks what arrived; ``report`` writes
docs/compatibility.md.
"""
