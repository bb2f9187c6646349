# SPDX-License-Identifier: Apache-2.0
"""What runs in a process of its own, because a library reads its settings, or the global provider, only once."""
