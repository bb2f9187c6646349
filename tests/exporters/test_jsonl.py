# SPDX-License-Identifier: Apache-2.0
"""Findings in a file: whole lines from many processes, and no disk that the application could feel."""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from otel_a2a_exporters.jsonl import FLUSH_SECONDS, QUEUE, FileExporter
from tests.exporters.findings import finding, lines_of
from tests.support.threads import threads_of_ours

ROOT = Path(__file__).parents[2]
WRITER = """
import os, resource, sys
from otel_a2a_exporters.jsonl import FileExporter
from tests.exporters.findings import finding

exporter = FileExporter(sys.argv[1])
def write(prefix, count):
    for number in range(count):
        exporter.export(finding(task_id=f"{prefix}-{number}", message="m" * 2000), None)
"""


def run(program: str, path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """``WRITER`` and more, as a process of its own."""
    return subprocess.Popen([sys.executable, "-c", WRITER + program, str(path), *arguments], cwd=ROOT)


class Losses:
    """Counts findings that are lost."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            self.count += 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "findings.jsonl"


@pytest.fixture
def losses() -> Losses:
    return Losses()


@pytest.fixture
def exporter(path: Path, losses: Losses) -> Iterator[FileExporter]:
    made = FileExporter(str(path), losses)
    yield made
    made.close()


def test_what_was_handed_over_is_there_when_it_is_closed(exporter: FileExporter, path: Path) -> None:
    """A thousand findings are a thousand lines, in order; nothing is made before the first."""
    assert not path.exists()
    for number in range(1000):
        exporter.export(finding(task_id=f"t-{number}"), None)
    exporter.close()
    assert [line["task_id"] for line in lines_of(path)] == [f"t-{number}" for number in range(1000)]


def test_a_finding_after_the_end_is_written_too(exporter: FileExporter, path: Path) -> None:
    """Calls that were under way when it was closed still have their findings."""
    for number in range(3):
        exporter.export(finding(task_id=f"t-{number}"), None)
        exporter.close()
    assert [line["task_id"] for line in lines_of(path)] == ["t-0", "t-1", "t-2"]


def test_what_is_in_the_file_stays_there(exporter: FileExporter, path: Path) -> None:
    """The file is appended to, never written anew."""
    path.write_text('{"earlier": true}\n')
    exporter.export(finding(), None)
    exporter.close()
    assert lines_of(path)[0] == {"earlier": True} and len(lines_of(path)) == 2


def test_threads_share_one_writer(exporter: FileExporter, path: Path) -> None:
    """Many threads at once: one more thread, and every line whole."""
    before = threads_of_ours()
    with ThreadPoolExecutor(16) as pool:
        for number in range(1600):
            pool.submit(exporter.export, finding(task_id=f"t-{number}"), None)
    assert len(threads_of_ours() - before) == 1
    exporter.close()
    assert {line["task_id"] for line in lines_of(path)} == {f"t-{number}" for number in range(1600)}


def test_processes_share_one_file(path: Path) -> None:
    """Four processes at once: no line is lost, torn or mixed with another, and each says whose it is."""
    running = [run("write(sys.argv[2], 200)", path, name) for name in "abcd"]
    assert [each.wait(60) for each in running] == [0] * 4
    lines = lines_of(path)
    assert len({line["task_id"] for line in lines}) == len(lines) == 800
    assert Counter(line["process_id"] for line in lines) == {each.pid: 200 for each in running}
    assert {line["message"] for line in lines} == {"m" * 2000}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_write_for_themselves(path: Path) -> None:
    """Children of a process that is writing have a thread of their own, and repeat nothing of their parent."""
    program = """
write("parent", 150)
children = []
for name in "abc":
    child = os.fork()
    if not child:
        write(name, 150)
        sys.exit(0)
    children.append(child)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""
    assert run(program, path).wait(60) == 0
    names = [line["task_id"].partition("-")[0] for line in lines_of(path)]
    assert Counter(names) == dict.fromkeys(("parent", "a", "b", "c"), 150)
    assert len({line["process_id"] for line in lines_of(path)}) == 4


def test_a_file_that_was_moved_is_made_anew(exporter: FileExporter, path: Path) -> None:
    """As log rotation does it: the old file keeps what it has, the new one gets what comes."""
    exporter.export(finding(task_id="t-1"), None)
    wait_for_lines(path, 1)
    moved = path.rename(path.with_suffix(".1"))
    exporter.export(finding(task_id="t-2"), None)
    wait_for_lines(path, 1)
    path.unlink()
    exporter.export(finding(task_id="t-3"), None)
    exporter.close()
    assert [line["task_id"] for line in lines_of(moved)] == ["t-1"]
    assert [line["task_id"] for line in lines_of(path)] == ["t-3"]


def wait_for_lines(path: Path, count: int) -> None:
    give_up = time.monotonic() + 20
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < give_up
        time.sleep(0.01)


def test_what_is_found_while_the_program_ends_is_written(path: Path) -> None:
    """Programs say goodbye to agents when they end, and newer Pythons start no thread then."""
    program = """
import atexit
atexit.register(write, "late", 3)
"""
    assert run(program, path).wait(60) == 0
    assert [line["task_id"] for line in lines_of(path)] == ["late-0", "late-1", "late-2"]


# --- disks that fail


def test_a_missing_folder_is_told_once_and_may_come_later(
    tmp_path: Path, losses: Losses, caplog: pytest.LogCaptureFixture
) -> None:
    """Each finding is counted as lost until the folder is there, and the first one is told with the path."""
    folder = tmp_path / "missing"
    exporter = FileExporter(str(folder / "findings.jsonl"), losses)
    for _ in range(5):
        exporter.export(finding(), None)
    exporter.close()
    assert losses.count == 5
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("otel_a2a", logging.WARNING)
    assert str(folder) in record.getMessage() and "No such file" in record.getMessage()
    folder.mkdir()
    exporter.export(finding(task_id="t-6"), None)
    exporter.close()
    assert [line["task_id"] for line in lines_of(folder / "findings.jsonl")] == ["t-6"]
    assert losses.count == 5


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_once(losses: Losses, caplog: pytest.LogCaptureFixture) -> None:
    """A disk without space costs the findings, each counted, and one warning."""
    exporter = FileExporter("/dev/full", losses)
    for _ in range(50):
        exporter.export(finding(), None)
    exporter.close()
    assert losses.count == 50
    (record,) = caplog.records
    assert "/dev/full" in record.getMessage() and "No space left" in record.getMessage()


def test_a_line_that_fitted_only_in_part_spoils_no_other(path: Path) -> None:
    """Where the disk was full in the middle of a line, the next one begins on a line of its own."""
    program = """
write("first", 3)
exporter.close()
limit = os.path.getsize(sys.argv[1]) + 1000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
write("torn", 2)
exporter.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
write("last", 2)
exporter.close()
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    assert run(program, path).wait(60) == 0
    lines = path.read_text("utf-8").split("\n")
    assert len(lines[3]) == 1000 and lines.pop() == ""
    del lines[3]
    names = [json.loads(line)["task_id"] for line in lines]
    assert names == ["first-0", "first-1", "first-2", "last-0", "last-1"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_disk_that_hangs_costs_findings_and_no_time(
    path: Path, losses: Losses, caplog: pytest.LogCaptureFixture
) -> None:
    """A pipe that nobody reads blocks whoever opens it: the queue fills, the rest is counted, the end is bounded."""
    os.mkfifo(path)
    exporter = FileExporter(str(path), losses)
    for _ in range(QUEUE + 500):
        exporter.export(finding(), None)
    # One more than the queue holds is in the thread's hand.
    assert losses.count in (499, 500)
    (record,) = caplog.records
    assert "faster than they can be written" in record.getMessage()
    began = time.monotonic()
    exporter.close()
    assert FLUSH_SECONDS <= time.monotonic() - began < FLUSH_SECONDS + 20
    with path.open("rb") as reader:
        # Somebody reads at last: what has waited is there.
        assert len([reader.readline() for _ in range(QUEUE)]) == QUEUE
