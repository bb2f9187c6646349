# SPDX-License-Identifier: Apache-2.0
"""The Grafana dashboard as code: `make dashboards` writes ``dashboards/`` from it. Needs Python 3.11."""
