# SPDX-License-Identifier: Apache-2.0
"""A rule pack of a third party, ``examples/custom_policy``: installed for real, loaded, and heard."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agents import ScriptedAgent, task
from tests.support.servers import serve

EXAMPLE = Path(__file__).parent.parent / "examples" / "custom_policy"
RULE = "charge-without-side-effect-hint"

PROGRAM = """
import sys, httpx
from otel_a2a import A2AInstrumentor, local

base = sys.argv[1]
A2AInstrumentor().instrument(rules={"charge-*": "raise"})
with httpx.Client(headers={"A2A-Version": "1.0"}) as client, local.findings() as found:
    def send(message_id):
        message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": "42"}]}
        call = {"jsonrpc": "2.0", "id": "1", "method": "SendMessage", "params": {"message": message}}
        client.post(base + "/rpc", json=call).raise_for_status()

    with local.hints(skill="charge", side_effect=True):
        send("m-1")
    with local.hints(skill="charge"):
        try:
            send("m-2")
        except RuntimeError as error:
            print(type(error).__name__)
    print([(each.rule, each.ruleset, each.level.value) for each in found])
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The interpreter of an environment of its own, with the pack installed, that sees everything installed here."""
    folder = tmp_path_factory.mktemp("pack")
    home = folder / "venv"
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    interpreter = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    places = subprocess.run(
        [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    here = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()}
    beside = "".join(f"import site; site.addsitedir({each!r})\n" for each in sorted(here))
    Path(places.stdout.strip(), "beside.pth").write_text(beside, "utf-8")
    shutil.copytree(EXAMPLE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    install = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", str(folder / "source")]
    install += ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--no-build-isolation"]
    result = subprocess.run(install, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    yield interpreter


def _run(python: Path, *arguments: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = [str(python), *arguments]
    result = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_its_rule_is_loaded_and_explained(python: Path) -> None:
    """``otel-a2a rules`` shows it beside the built-in ones, with its own guide."""
    main = "from otel_a2a.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
    assert any(line.startswith(f"{RULE} ") for line in _run(python, "-c", main, "rules").splitlines())
    told = json.loads(_run(python, "-c", main, "rules", RULE, "--format", "json"))
    assert told["ruleset"] == "house-rules"
    assert told["why"].startswith("Without the hint")
    assert told["reference"] == ""


def test_its_finding_is_heard_and_stops_the_call(python: Path) -> None:
    """A send with the hint passes; the one without never reaches the agent, and the finding names the pack."""
    agent = ScriptedAgent(lambda method, params: {"task": task("t-1", "WORKING")})
    with serve(agent.app) as base:
        lines = _run(python, "-c", PROGRAM, base).splitlines()
    assert lines == ["CardTaskBoundaryError", str([(RULE, "house-rules", "violation")])]
    assert [params["message"]["messageId"] for _, params in agent.received] == ["m-1"]
