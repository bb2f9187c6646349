# SPDX-License-Identifier: Apache-2.0
"""Writes the dashboards into ``dashboards/``, or into a folder: ``PYTHONPATH=exporters python -m grafana [FOLDER]``."""

from __future__ import annotations

import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from grafana.dashboard import UID, dashboard

HERE = Path(__file__).parent / "dashboards"


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else HERE
    text = JSONEncoder(sort_keys=True, indent=2).encode(dashboard().build())
    (folder / f"{UID}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
