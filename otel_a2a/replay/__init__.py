# SPDX-License-Identifier: Apache-2.0
"""Playing exchange scripts: what would have been found in traffic that somebody wrote down (``docs/replay.md``)."""
