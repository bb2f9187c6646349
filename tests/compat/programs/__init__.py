# SPDX-License-Identifier: Apache-2.0
"""One program for each client, written as its users write theirs."""
