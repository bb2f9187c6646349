# SPDX-License-Identifier: Apache-2.0
"""``python -m otel_a2a.cli``: the command, where its script is not on the path."""

from __future__ import annotations

import sys

from otel_a2a.cli import main

sys.exit(main())
