# SPDX-License-Identifier: Apache-2.0
"""``otel-a2a replay``: what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from otel_a2a.cli import main
from tests.replay.scripts import get, send

EXAMPLES = Path(__file__).parents[2] / "examples" / "replay"
BACK = {"rule": "backward-transition", "step": 1}


def write(folder: Path, name: str, *exchanges: dict[str, Any], **members: Any) -> Path:
    path = folder / f"{name}.json"
    numbered = [{"step": index, "t": index, **exchange} for index, exchange in enumerate(exchanges)]
    path.write_text(json.dumps({"title": f"about {name}", "exchanges": numbered, **members}))
    return path


def regress(folder: Path, name: str = "regress", **members: Any) -> Path:
    """A task that goes back."""
    return write(folder, name, send(), get("SUBMITTED"), **members)


def calm(folder: Path, name: str = "calm", **members: Any) -> Path:
    return write(folder, name, send(), get("COMPLETED"), **members)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["replay", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_it_shows_what_was_found_when_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For each script its title, and each finding with time, step, level, rule and message."""
    code, out, err = run(capsys, regress(tmp_path), calm(tmp_path))
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "regress  about regress"
    assert lines[1].split() == ["1", "s", "step", "1", "violation", "backward-transition"]
    assert lines[2].startswith("    task t-1 went back from TASK_STATE_WORKING to TASK_STATE_SUBMITTED")
    assert lines[3:] == ["", "calm  about calm", "  nothing found"]


def test_it_needs_no_rich(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the same text is printed."""
    path = regress(tmp_path)
    with_rich = run(capsys, path)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert run(capsys, path) == with_rich


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything that is known of a finding, for programs; errors are in the document, too."""
    path, broken = regress(tmp_path), tmp_path / "broken.json"
    broken.write_text("{")
    code, out, _ = run(capsys, path, broken, "--format", "json")
    document = json.loads(out)
    (script,) = document["scripts"]
    (finding,) = script["findings"]
    assert code == 2
    assert (script["file"], script["id"], script["title"]) == (str(path), "regress", "about regress")
    assert (finding["t"], finding["step"], finding["rule"], finding["level"]) == (
        1.0,
        1,
        "backward-transition",
        "violation",
    )
    assert (finding["party"], finding["task_id"], finding["would_raise"]) == ("agent", "t-1", True)
    assert [each["file"] for each in document["errors"]] == [str(broken)]


def test_a_profile_changes_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By name or by path."""
    path, profile = regress(tmp_path), tmp_path / "mine.toml"
    profile.write_text('[rules."backward-*"]\nlevel = "improvement"\n')
    assert "nothing found" in run(capsys, path, "--profile", "spec")[1]
    assert "improvement" in run(capsys, path, "--profile", profile)[1]


def test_a_profile_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names it and the choices; nothing is played."""
    for check in ([], ["--check"]):
        code, out, err = run(capsys, regress(tmp_path), "--profile", "fencd", *check)
        assert (code, out) == (2, "")
        assert "--profile fencd" in err and "default, authority, fenced" in err


def test_a_folder_is_all_of_its_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of their names; other files are no scripts."""
    regress(tmp_path, "b")
    calm(tmp_path, "a")
    (tmp_path / "README.md").write_text("about them")
    assert [line for line in run(capsys, tmp_path)[1].splitlines() if "about" in line] == ["a  about a", "b  about b"]


def test_a_broken_file_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named with what is wrong, the others are played, and the code is 2."""
    regress(tmp_path, "b")
    (tmp_path / "a.json").write_text(json.dumps({"exchanges": [{"step": 0, "t": 0, "type": "htp"}]}))
    empty = tmp_path / "empty"
    empty.mkdir()
    code, out, err = run(capsys, tmp_path, empty, tmp_path / "nowhere.json")
    assert code == 2
    assert "backward-transition" in out
    assert err.splitlines() == [
        f"{tmp_path}/a.json: exchanges[0].type: 'htp' is not one of http, sse, push, local, clock",
        f"{empty}: is a folder without a script (*.json)",
        f"{tmp_path}/nowhere.json: cannot be read: No such file or directory",
    ]


def test_check_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts are counted; what expects nothing is not."""
    regress(tmp_path, "a", expected=[BACK], expected_by_profile={"spec": [], "fenced": ["backward-transition"]})
    calm(tmp_path, "b", expected=[])
    calm(tmp_path, "c")
    code, out, err = run(capsys, tmp_path, "--check")
    assert (code, err) == (0, "")
    assert out.splitlines() == ["2 of 2 as expected", "1 not counted: nothing is expected of them here"]


def test_check_tells_each_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each difference with its file and profile, the count, and the code 1."""
    path = regress(tmp_path, expected=[{**BACK, "step": 0}], expected_by_profile={"spec": ["no-such-rule"]})
    code, out, _ = run(capsys, path, calm(tmp_path, expected=[]), "--check")
    assert code == 1
    assert out.splitlines() == [
        f"{path} (default): backward-transition is found at step 1, expected at step 0",
        f"{path} (spec): no-such-rule is not found",
        "1 of 2 as expected",
    ]


def test_check_by_one_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--profile`` checks what is expected under it and nothing else."""
    path = regress(tmp_path, expected=[], expected_by_profile={"spec": []})
    assert run(capsys, path, "--check", "--profile", "spec")[:2] == (0, "1 of 1 as expected\n")
    assert run(capsys, path, "--check", "--profile", "default")[0] == 1
    assert "0 of 0 as expected" in run(capsys, path, "--check", "--profile", "fenced")[1]


def test_check_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The counts, and each check with its differences."""
    code, out, _ = run(capsys, regress(tmp_path, expected=[]), "--check", "--format", "json")
    document = json.loads(out)
    (check,) = document["scripts"][0]["checks"]
    assert (code, document["checked"], document["as_expected"]) == (1, 1, 0)
    assert (check["profile"], check["as_expected"], len(check["differences"])) == ("default", False, 1)


def test_a_broken_file_outweighs_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The code tells that not everything could be judged."""
    code, out, _ = run(capsys, regress(tmp_path, expected=[]), tmp_path / "nowhere.json", "--check")
    assert code == 2
    assert "0 of 1 as expected" in out


def test_problems_with_settings_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A value that cannot be used is named, with its file."""
    path = calm(tmp_path, settings={"env": {"OTEL_PYTHON_A2A_STRICTNESS": "riase"}})
    code, _, err = run(capsys, path)
    assert code == 0
    assert err.startswith(f"{path}: OTEL_PYTHON_A2A_STRICTNESS='riase' is not one of off, annotate, log, raise")


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="needs the sources")
def test_the_example_is_as_expected() -> None:
    """The documented example plays as documented, from the command line."""
    command = [sys.executable, "-m", "otel_a2a.cli", "replay", "--check", str(EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 of 1 as expected\n", "")
