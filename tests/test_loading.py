# SPDX-License-Identifier: Apache-2.0
"""Auto-loading, as users do it: real programs under ``opentelemetry-instrument``, beside distro, SDK and API."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

APPLICATION = """
import json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import httpx

class Agent(BaseHTTPRequestHandler):
    asked = 0
    def do_POST(self):
        Agent.asked += 1
        self.rfile.read(int(self.headers["content-length"]))
        task = {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"task": task}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
threading.Thread(target=server.serve_forever, daemon=True).start()

def send(message_id, **more):
    message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": "hello"}], **more}
    request = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    return httpx.post(f"http://127.0.0.1:{server.server_port}/", json=request, headers={"A2A-Version": "1.0"}).json()

refusal = None
send("m-1")
try:
    send("m-2", taskId="t-1", contextId="c-1")
except Exception as error:
    refusal = type(error).__name__

from otel_a2a import A2AInstrumentor
chosen = A2AInstrumentor.effective
print(json.dumps({
    "asked": Agent.asked,
    "refusal": refusal,
    "strictness": chosen.settings.strictness.value if chosen else None,
    "source": chosen.origins["strictness"] if chosen else None,
    "arguments": sys.argv[1:],
}))
"""

QUIET = {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}
LAUNCHER = Path(sysconfig.get_path("scripts")) / "opentelemetry-instrument"
PASSED = {"asked": 2, "refusal": None}
STOPPED = {"asked": 1, "refusal": "TaskResurrectionError"}


class Application:
    """The program above, which sends two messages: the second one into a task that has ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warnings = ""
        (folder / "app.py").write_text(APPLICATION, "utf-8")

    def run(self, *flags: str, **environ: str) -> dict[str, Any]:
        """What the program reports of itself; what it logged is in ``warnings``."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        process = subprocess.run(
            [LAUNCHER, *flags, sys.executable, "app.py", "--its-own", "flag"],
            cwd=self.folder,
            env=inherited | QUIET | environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.warnings = process.stderr
        assert process.returncode == 0, process.stderr
        reported: dict[str, Any] = json.loads(process.stdout)
        assert reported.pop("arguments") == ["--its-own", "flag"]
        return reported


@pytest.fixture
def application(tmp_path: Path) -> Application:
    return Application(tmp_path)


def test_by_default_calls_are_watched_and_none_is_stopped(application: Application) -> None:
    """Installed and launched, with nothing set: judged, never stopped, nothing written to the terminal."""
    assert application.run() == {**PASSED, "strictness": "annotate", "source": "default"}
    assert application.warnings == ""


def test_a_flag_of_the_launcher_sets_a_setting(application: Application) -> None:
    """``--a2a_strictness raise`` is the variable, and the second message does not leave."""
    reported = application.run("--a2a_strictness", "raise")
    assert reported == {**STOPPED, "strictness": "raise", "source": "OTEL_PYTHON_A2A_STRICTNESS"}


def test_a_misspelt_variable_warns_once_and_the_application_runs(application: Application) -> None:
    """The warning names the variable, the value and the choices, and what is used instead."""
    reported = application.run(OTEL_PYTHON_A2A_STRICTNESS="riase")
    assert reported == {**PASSED, "strictness": "annotate", "source": "default"}
    assert application.warnings.count("riase") == 1
    for word in ("OTEL_PYTHON_A2A_STRICTNESS", "off, annotate, log, raise", "annotate is used"):
        assert word in application.warnings


def test_a_bad_policy_file_warns_and_the_application_runs(application: Application) -> None:
    """A file that cannot be used is named with its key; the default profile is used."""
    (application.folder / "mine.toml").write_text('[settings]\nstrictness = "riase"\n')
    reported = application.run(OTEL_PYTHON_A2A_PROFILE="mine.toml")
    assert reported == {**PASSED, "strictness": "annotate", "source": "default"}
    assert "mine.toml: settings.strictness: 'riase'" in application.warnings


def test_a_misspelt_rule_warns(application: Application) -> None:
    """A glob that names none of the loaded rules is told."""
    application.run(OTEL_PYTHON_A2A_RULES="bckward-transition=raise")
    assert "'bckward-transition' (OTEL_PYTHON_A2A_RULES) names no rule" in application.warnings


def test_opentelemetrys_own_variable_disables_it(application: Application) -> None:
    """Whoever disables an instrumentation by its name disables ours by ``otel_a2a``."""
    reported = application.run("--a2a_strictness", "raise", OTEL_PYTHON_DISABLED_INSTRUMENTATIONS="otel_a2a")
    assert reported == {**PASSED, "strictness": None, "source": None}


def test_one_rule_can_be_stopped_and_others_only_shown(application: Application) -> None:
    """``raise`` for one rule is protection by that rule alone."""
    assert application.run(OTEL_PYTHON_A2A_RULES="terminal-*=raise")["refusal"] == "TaskResurrectionError"
    assert application.run(OTEL_PYTHON_A2A_RULES="task-lost=raise")["refusal"] is None


def test_a_client_library_can_be_left_alone(application: Application) -> None:
    """A disabled client is not patched, whatever the strictness."""
    assert application.run("--a2a_strictness", "raise", "--a2a_disabled_clients", "httpx")["refusal"] is None


def test_a_disabled_sdk_means_nothing_is_patched(application: Application) -> None:
    """``OTEL_SDK_DISABLED=true`` switches us off as well, save where somebody asked for enforcement."""
    assert application.run(OTEL_SDK_DISABLED="true")["refusal"] is None
    assert application.run(OTEL_SDK_DISABLED="true", OTEL_PYTHON_A2A_RULES="terminal-*=raise")["refusal"] is None
    assert application.run("--a2a_strictness", "raise", OTEL_SDK_DISABLED="true") == {
        **STOPPED,
        "strictness": "raise",
        "source": "OTEL_PYTHON_A2A_STRICTNESS",
    }


def test_an_unsampled_trace_is_still_protected(application: Application) -> None:
    """What is not recorded is judged all the same."""
    reported = application.run("--a2a_strictness", "raise", OTEL_TRACES_SAMPLER="always_off")
    assert reported["refusal"] == "TaskResurrectionError"


@pytest.mark.skipif(
    importlib.util.find_spec("opentelemetry.configuration") is None, reason="needs opentelemetry-configuration"
)
class TestConfigurationFile:
    """``OTEL_CONFIG_FILE``: OpenTelemetry's declarative configuration."""

    @staticmethod
    def _write(application: Application, options: str) -> str:
        path = application.folder / "otel.yaml"
        path.write_text(
            f'file_format: "1.0"\ninstrumentation/development:\n  python:\n    otel_a2a: {{{options}}}\n', "utf-8"
        )
        return str(path)

    def test_settings_come_from_the_file(self, application: Application) -> None:
        """Options of the file are keyword arguments, and win over variables."""
        path = self._write(application, 'strictness: raise, rules: {"task-*": log}, exporters: [log]')
        reported = application.run(OTEL_CONFIG_FILE=path, OTEL_PYTHON_A2A_STRICTNESS="log")
        assert reported == {**STOPPED, "strictness": "raise", "source": "keyword argument"}

    def test_an_unquoted_off_is_off(self, application: Application) -> None:
        """YAML reads ``off`` as false; the file means ``off``."""
        path = self._write(application, "strictness: off")
        reported = application.run(OTEL_CONFIG_FILE=path)
        assert reported == {**PASSED, "strictness": "off", "source": "keyword argument"}

    def test_a_bad_value_is_told_and_the_application_runs(self, application: Application) -> None:
        """A value that cannot be used is named with the choices, and the defaults are used."""
        path = self._write(application, "strictness: riase")
        reported = application.run(OTEL_CONFIG_FILE=path)
        assert reported == {**PASSED, "strictness": "annotate", "source": "default"}
        assert "strictness='riase' is not one of off, annotate, log, raise" in application.warnings
