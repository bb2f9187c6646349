# SPDX-License-Identifier: Apache-2.0
"""The rules for people: what each means, why it hurts, what looks like it and is right, what to do.

Read only when somebody asks (``otel-a2a rules``, ``policies/README.md``): nothing here is imported at start-up.
"""
