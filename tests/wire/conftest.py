# SPDX-License-Identifier: Apache-2.0
"""Properties are about behaviour, not about the speed of the machine that checks them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("wire", deadline=None)
settings.load_profile("wire")
