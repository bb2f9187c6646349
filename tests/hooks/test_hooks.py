# SPDX-License-Identifier: Apache-2.0
"""Hooks come with their libraries: nothing is imported for them, and one that does not fit is off by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from otel_a2a import hooks

INSTRUMENT = (
    "from otel_a2a import A2AInstrumentor, hooks; instrumentor = A2AInstrumentor(); instrumentor.instrument()\n"
)
PATCHED = "print(*[hook.name for hook in hooks.status() if hook.patched])\n"


def run(program: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, with ``paths`` first on its path, and warnings on its standard error."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    result = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env=environ | {"PYTHONPATH": os.pathsep.join([*map(str, paths), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result


def package(folder: Path, modules: dict[str, str]) -> Path:
    """Make modules, with the packages around them, in ``folder``."""
    for name, text in modules.items():
        file = folder.joinpath(*name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        for parent in file.relative_to(folder).parents[:-1]:
            (folder / parent / "__init__.py").touch()
        file.write_text(dedent(text), "utf-8")
    return folder


def test_nothing_is_imported_for_a_hook() -> None:
    """An application that has no use for these libraries does not get them, nor our modules about them."""
    program = (
        "import sys\n"
        + INSTRUMENT
        + """
strangers = ("a2a", "crewai", "python_a2a", "otel_a2a.hooks.a2a_sdk", "otel_a2a.hooks.crewai")
print([name for name in strangers if name in sys.modules])
"""
    )
    assert run(program).stdout == "[]\n"


@pytest.mark.parametrize("first", ["instrument", "import"])
def test_a_library_is_hooked_whenever_it_comes(first: str) -> None:
    """Imported before or after instrument(); by uninstrument() it is let go, and the next instrument() has it again."""
    load = "import a2a.server.tasks\n"
    program = (INSTRUMENT + load if first == "instrument" else load + INSTRUMENT) + PATCHED
    program += "instrumentor.uninstrument()\n" + PATCHED + "instrumentor.instrument()\n" + PATCHED
    stores = "a2a.server.tasks.inmemory_task_store"
    before, off, again = run(program).stdout.splitlines()
    assert stores in before.split()
    assert off == ""
    assert again == before


def test_a_library_that_comes_after_uninstrument_is_left_alone() -> None:
    """The import hook stays, and does nothing."""
    assert run(INSTRUMENT + "instrumentor.uninstrument()\nimport a2a.server.tasks\n" + PATCHED).stdout == "\n"


CHANGED = {
    "python_a2a.client.http": {
        "python_a2a.client.http": "class A2AClient:\n    def get_task(self, task_id): return task_id",
    },
    "crewai.events.event_bus": {
        "crewai.events.event_bus": "another_bus = None",
        "crewai.events.types.a2a_events": "A2AResponseReceivedEvent = A2APushNotificationTimeoutEvent = object",
    },
    "crewai.events.types.a2a_events": {
        "crewai.events.event_bus": "crewai_event_bus = None",
        "crewai.events.types.a2a_events": "class A2AResponseReceivedEvent: ...",
    },
}


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_a_library_that_has_changed_is_left_alone_with_one_warning(name: str, tmp_path: Path) -> None:
    """Its import succeeds, that hook alone is off, and a second instrument() does not repeat the warning."""
    loads = "".join(f"import {module}\n" for module in CHANGED[name])
    program = INSTRUMENT + loads + "import a2a.server.tasks\n" + PATCHED
    program += "instrumentor.uninstrument()\ninstrumentor.instrument()\n" + PATCHED
    result = run(program, package(tmp_path, CHANGED[name]))
    warnings = [line for line in result.stderr.splitlines() if "is left alone" in line]
    assert len(warnings) == 1, result.stderr
    assert warnings[0].startswith(f"{name} ") and "has no" in warnings[0]
    for line in result.stdout.splitlines():
        assert "a2a.server.tasks.inmemory_task_store" in line and name.partition(".")[0] not in line.split(".")[0]


def test_an_older_version_without_the_module_is_no_matter(tmp_path: Path) -> None:
    """What was never there is not missed."""
    folder = package(tmp_path, {"python_a2a.client.base": "", "crewai.agent": ""})
    result = run(INSTRUMENT + "import python_a2a.client.base, crewai.agent\n" + PATCHED, folder)
    assert (result.stdout, result.stderr) == ("\n", "")


def test_what_is_installed_is_told_without_importing_it() -> None:
    """a2a-sdk 1.x is here, and has no client task manager."""
    assert hooks.installed("a2a.server.tasks.inmemory_task_store") is not None
    assert hooks.installed("a2a.client.client_task_manager") is None
    assert hooks.installed("crewai.events.event_bus") is None


def test_status_lists_what_is_installed() -> None:
    """``otel-a2a status`` names each hook, and shows those of installed libraries."""
    collected = """
from otel_a2a.cli import status
found = status.collect()
print([hook["name"] for hook in found["hooks"]] == list(hooks.HOOKS))
print(status.as_text(found))
"""
    told, _, text = run(INSTRUMENT + collected).stdout.partition("\n")
    assert told == "True"
    lines = text[text.index("\nHooks\n") :].split("\n\n")[0].splitlines()
    assert any(
        line.split()[0] == "a2a.server.tasks.inmemory_task_store" and "when imported" in line for line in lines[2:]
    )
    assert not any("crewai" in line or "client_task_manager" in line for line in lines)
