# SPDX-License-Identifier: Apache-2.0
"""Agents on the SDKs of other languages, called by an instrumented client in Python: ``make test-servers``."""
