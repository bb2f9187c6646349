# SPDX-License-Identifier: Apache-2.0
"""The command ``otel-a2a``, and what ``otel-a2a status`` tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from otel_a2a.cli import main
from otel_a2a.version import __version__

COMMAND = Path(sysconfig.get_path("scripts")) / "otel-a2a"
LAUNCHER = Path(sysconfig.get_path("scripts")) / "opentelemetry-instrument"
QUIET = {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}


def _run(*command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.run(
        command, env=inherited | QUIET | environ, capture_output=True, text=True, timeout=120, check=False
    )


def _status(*before: str | Path, **environ: str) -> dict[str, Any]:
    result = _run(*before, COMMAND, "status", "--format", "json", **environ)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """``--version`` prints the version."""
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"otel-a2a {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["status", "--format", "xml"]])
def test_a_wrong_call_is_told_with_the_choices(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be understood exits with 2, after the usage."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: otel-a2a" in capsys.readouterr().err


def test_status_tells_what_an_application_would_get() -> None:
    """From a plain shell: settings with their sources, clients, providers and rules, as under the launcher."""
    found = _status(OTEL_PYTHON_A2A_STRICTNESS="raise", OTEL_PYTHON_A2A_RULES="task-lost=off")
    assert found["loaded"] is True
    assert {"name": "strictness", "value": "raise", "source": "OTEL_PYTHON_A2A_STRICTNESS"} in found["settings"]
    assert {"name": "raise_on", "value": "violation", "source": "default"} in found["settings"]
    assert found["policy"] == [
        {"action": "off", "rule": "task-lost", "agent": "*", "level": None, "source": "OTEL_PYTHON_A2A_RULES"}
    ]
    clients = {each["name"]: each for each in found["clients"]}
    assert all(each["installed"] for each in clients.values()), "each is in the environment of the tests"
    assert clients["httpx"]["patched"] is True
    assert found["providers"]["traces"] == "opentelemetry.sdk.trace.TracerProvider"
    actions = {each["name"]: each["action"] for each in found["rules"]}
    assert (actions["task-lost"], actions["backward-transition"]) == ("off", "raise")
    assert found["problems"] == []


def test_status_tells_what_is_set_at_agents(tmp_path: Path) -> None:
    """Settings of a policy file for single hosts have a place of their own, beside those of all."""
    profile = tmp_path / "mine.toml"
    profile.write_text('[[agents]]\nhost = "*.example"\nsettings = { pinned = true, task_deadline = 60 }\n', "utf-8")
    found = _status(OTEL_PYTHON_A2A_PROFILE=str(profile), OTEL_PYTHON_A2A_PINNED_CARDS="h:1")
    assert found["agents"] == [
        {"host": "*.example", "settings": {"pinned": True, "task_deadline": 60.0}, "source": f"profile {profile}"}
    ]
    settings = {each["name"]: (each["value"], each["source"]) for each in found["settings"]}
    assert settings["pinned_cards"] == (["h:1"], "OTEL_PYTHON_A2A_PINNED_CARDS")
    assert settings["task_deadline"] == (None, "default")
    assert settings["webhook_card_window"] == (60.0, "default")
    result = _run(COMMAND, "status", OTEL_PYTHON_A2A_PROFILE=str(profile))
    assert f"  *.example  pinned=true task_deadline=60.0  profile {profile}" in result.stdout.splitlines()


def test_status_names_problems_and_what_is_not_patched() -> None:
    """What could not be used is in the answer, and a disabled client is not said to be seen through."""
    found = _status(OTEL_PYTHON_A2A_STRICTNESS="riase", OTEL_PYTHON_A2A_DISABLED_CLIENTS="httpx")
    [problem] = found["problems"]
    assert "OTEL_PYTHON_A2A_STRICTNESS='riase'" in problem
    patched = {each["name"]: each["patched"] for each in found["clients"]}
    assert not patched.pop("httpx")
    assert {"httpx2", "requests"} <= patched.keys() and all(patched.values())


def test_status_tells_that_nothing_is_loaded() -> None:
    """Where the instrumentation is disabled, the settings are those that it would have, and nothing is patched."""
    found = _status(OTEL_PYTHON_DISABLED_INSTRUMENTATIONS="otel_a2a", OTEL_PYTHON_A2A_STRICTNESS="log")
    assert found["loaded"] is False
    assert {"name": "strictness", "value": "log", "source": "OTEL_PYTHON_A2A_STRICTNESS"} in found["settings"]
    assert not any(each["patched"] for each in found["clients"])


def test_status_of_a_disabled_sdk() -> None:
    """Where OpenTelemetry is switched off nothing is patched, and that is what is shown."""
    found = _status(OTEL_SDK_DISABLED="true")
    assert not any(each["patched"] for each in found["clients"])


def test_status_under_the_launcher_is_the_same() -> None:
    """Started by the launcher already, it tells of its own process."""
    assert _status(LAUNCHER, "--a2a_strictness", "log") == _status(OTEL_PYTHON_A2A_STRICTNESS="log")


def test_status_for_people() -> None:
    """The text has the same parts, one line for each thing."""
    result = _run(COMMAND, "status", OTEL_PYTHON_A2A_PROFILE="fenced")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["fenced", "true", "profile", "fenced"] in lines
    assert ["terminal-task-reused", "violation", "annotate"] in lines
    for title in ("Settings", "Clients", "Providers", "Rules"):
        assert [title] in lines


def test_importing_the_command_does_not_need_the_extras() -> None:
    """``otel-a2a status`` works where only otel-a2a itself is installed."""
    program = (
        "import sys; sys.modules['rich'] = sys.modules['a2a'] = None; from otel_a2a.cli import main; main(['status'])"
    )
    result = _run(sys.executable, "-c", program)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules", "--format", "markdown"),
        ("status",),
        (
            "replay",
            "--format",
            "json",
            str(Path(__file__).parents[1] / "examples" / "replay" / "resurrected-task.json"),
        ),
    ],
    ids=lambda each: each[0],
)
def test_a_reader_who_has_enough_is_no_error(arguments: tuple[str, ...]) -> None:
    """``otel-a2a … | head`` ends without a traceback."""
    read, write = os.pipe()
    os.close(read)
    try:
        result = subprocess.run([COMMAND, *arguments], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (result.returncode, result.stderr) == (0, "")
