# SPDX-License-Identifier: Apache-2.0
"""The pictures of the README are what the project shows today. Ids and times differ from run to run, so words count."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("demo", "watch")
SVG = "{http://www.w3.org/2000/svg}"
NO_FETCH = re.compile(r"@font-face|@import|url\(\s*[\"']?(?!#)|href=|src=|<script|<image", re.IGNORECASE)
"""What would have a browser ask somebody for something; a picture may only refer to itself."""

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="needs the sources")


@pytest.fixture(scope="module")
def made_now(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pictures as ``make pictures`` makes them now."""
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([sys.executable, ROOT / "tools" / "pictures.py", folder], check=True, timeout=240)
    return folder


def words(path: Path) -> str:
    """The text of a picture, line by line."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    lines: dict[str, list[str]] = {}
    for text in root.iter(f"{SVG}text"):
        lines.setdefault(text.get("y", ""), []).append((text.text or "").replace("\N{NO-BREAK SPACE}", " "))
    return "\n".join(" ".join(parts) for parts in lines.values())


def rules(text: str) -> set[str]:
    return set(re.findall(r"\b(?:violation|improvement) ([a-z]+(?:-[a-z]+)+)", text))


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_shows_what_is_found_today(name: str, made_now: Path) -> None:
    """The picture in the repository names the same rules as one made now: those of the incident that it shows."""
    committed, now = words(ROOT / "docs" / f"{name}.svg"), words(made_now / f"{name}.svg")
    assert rules(committed) == rules(now) != set()
    assert "backward-transition" in rules(now)


def test_the_pictures_have_the_parts_of_what_they_show(made_now: Path) -> None:
    """Titles and heads are those of today."""
    for name, parts in {
        "demo": ("otel-a2a demo", "The program's own output", "The trace", "The order was charged twice", "Try next"),
        "watch": ("otel-a2a watch", "Agents", "Tasks", "Findings", "revision", "states", "sentence"),
    }.items():
        for picture in (ROOT / "docs" / f"{name}.svg", made_now / f"{name}.svg"):
            text = words(picture)
            assert [part for part in parts if part not in text] == [], picture


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_fetches_nothing(name: str, made_now: Path) -> None:
    """No font, style or image of elsewhere is asked for by who looks at it."""
    for picture in (ROOT / "docs" / f"{name}.svg", made_now / f"{name}.svg"):
        assert NO_FETCH.findall(picture.read_text("utf-8")) == [], picture


def test_the_readme_shows_them() -> None:
    """Both are near its top."""
    top = (ROOT / "README.md").read_text("utf-8")[:2500]
    assert [name for name in NAMES if f"(docs/{name}.svg)" not in top] == []
