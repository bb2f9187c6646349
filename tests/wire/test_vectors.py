# SPDX-License-Identifier: Apache-2.0
"""Every recorded exchange is what its step says, in every version and binding."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from otel_a2a.observations import (
    ArtifactSeen,
    CallAnswered,
    CallFailed,
    CallStarted,
    CardFetched,
    CardRequested,
    Method,
    Observation,
    TaskSeen,
)
from otel_a2a.wire import requests
from tests.wire import expected
from tests.wire.recorded import Recorded, own, shared, shared_folders, summary

CREDENTIALS = re.compile(r"secret|tok-123|Bearer|eyJ|webhook/x")
SKILLS = re.compile(r"skills=frozenset\([^)]*\)")
OWN = own()


def shows_credential(seen: list[Observation]) -> bool:
    """One recorded agent has a skill of the name ``secret``, which is none."""
    return CREDENTIALS.search(SKILLS.sub("", repr(seen))) is not None


def check(recorded: Recorded) -> list[Observation]:
    """Compare what the wire says of an exchange with what the step is known to be; return all that was seen."""
    if recorded.receiver == "webhook":
        seen = recorded.read_delivery()
        assert summary(seen) in expected.DELIVERIES[recorded.step], recorded.name
        return seen
    request = recorded.read_request()
    if recorded.step == "raw-malformed-json":
        return check_malformed(recorded, request)
    operation, outcomes = expected.STEPS[recorded.step]
    if operation == expected.NOTHING:
        assert request is None, recorded.name
        return []
    assert requests.may_be_a2a(recorded.method, recorded.exchange().path, recorded.headers.get("content-type"))
    assert request is not None, recorded.name
    seen = recorded.read_answer(request)
    assert summary(seen) in outcomes, recorded.name
    if isinstance(request, CardRequested):
        assert request.extended == (operation == expected.EXTENDED_CARD), recorded.name
        assert request.url == recorded.url.partition("?")[0]
    else:
        check_call(recorded, request, Method.GET_EXTENDED_CARD if operation == expected.EXTENDED_CARD else operation)
        check_answer(recorded, request, seen)
    return [request, *seen]


def check_call(recorded: Recorded, call: CallStarted, operation: str) -> None:
    assert call.method == operation, recorded.name
    assert call.binding == ("JSONRPC" if recorded.folder.endswith("jsonrpc") else "HTTP+JSON"), recorded.name
    assert call.protocol_version == expected.version(recorded.folder, recorded.step), recorded.name
    assert call.endpoint == recorded.host, recorded.name
    assert f"http://{call.server_address}:{call.server_port}" == recorded.host
    assert call.certain, recorded.name
    assert call.judged or not recorded.body, recorded.name
    has_tenant = "tenant" in recorded.folder or recorded.step.startswith("raw-tenant")
    assert call.tenant == ("acme" if has_tenant and not is_raw_in_tenant_folder(recorded) else ""), recorded.name
    if call.is_send and recorded.body and recorded.step not in ("raw-invalid-params", "raw-message-send-v02"):
        assert call.message is not None, recorded.name
        assert call.message.parts, recorded.name
        assert bool(call.message.message_id) == (call.protocol_version != "0.1"), recorded.name
    if "inline-push" in recorded.step or "with-push" in recorded.step or operation == Method.CREATE_PUSH_CONFIG:
        assert call.push is not None and call.push.url and call.push.token, recorded.name


def is_raw_in_tenant_folder(recorded: Recorded) -> bool:
    """Raw requests of the tenant's recordings go to the server without it."""
    return recorded.step.startswith("raw-") and not recorded.step.startswith("raw-tenant")


def check_answer(recorded: Recorded, call: CallStarted, seen: list[Observation]) -> None:
    """All that an answer tells is about one task (lists apart), and about the one that was asked for."""
    is_stream = recorded.answer_headers.get("content-type", "").startswith("text/event-stream")
    if not is_stream:
        assert isinstance(seen[-1], CallFailed if "!" in summary(seen) else CallAnswered), recorded.name
    told = {observation.task_id for observation in seen if isinstance(observation, (TaskSeen, ArtifactSeen))}
    if call.method != Method.LIST_TASKS:
        # This server reports an agent's crash under the id of a task that nobody has seen.
        crashed_js = recorded.folder.startswith("js-0.3.14") and recorded.step == "stream-crash"
        assert len(told) <= 1 + crashed_js, recorded.name
        assert not (told and call.task_id) or told == {call.task_id}, recorded.name
    assert all(task_id and task_id.encode() in recorded.answer for task_id in told), recorded.name
    if call.method == Method.GET_EXTENDED_CARD:
        fetched = seen[0]
        assert isinstance(fetched, CardFetched) and fetched.card is not None and fetched.request.extended


def check_malformed(recorded: Recorded, request: CallStarted | CardRequested | None) -> list[Observation]:
    """Over JSON-RPC a broken body hides the call; over HTTP+JSON the path still shows it."""
    if recorded.folder.endswith("jsonrpc"):
        assert request is None
        return []
    assert isinstance(request, CallStarted) and request.method == Method.SEND_MESSAGE
    # Where the server answered without reading it, the recording has no body.
    assert request.judged == (not recorded.body)
    return [request, *recorded.read_answer(request)]


@pytest.mark.parametrize("recorded", OWN, ids=[recorded.name for recorded in OWN])
def test_recorded_exchange_is_recognised(recorded: Recorded) -> None:
    """A recorded exchange gives the operation, version, task and outcome of its step, and no credential."""
    seen = check(recorded)
    assert not shows_credential(seen)


@pytest.mark.parametrize("folder", shared_folders(), ids=lambda folder: folder.name)
def test_all_recordings_of_a_folder_are_recognised(folder: Path) -> None:
    """The same for the full set of recordings, where it lies beside the repository."""
    count = 0
    for recorded in shared(folder):
        assert not shows_credential(check(recorded)), recorded.name
        count += 1
    assert count > 1


@pytest.mark.parametrize("recorded", OWN, ids=[recorded.name for recorded in OWN])
def test_any_chunking_gives_the_same_observations(recorded: Recorded) -> None:
    """An answer that arrives byte by byte tells the same as one that arrives at once."""
    request = recorded.read_request() if recorded.receiver == "agent" else None
    if request is None:
        return
    bytewise = tuple(recorded.answer[i : i + 1] for i in range(len(recorded.answer)))
    assert repr(recorded.read_answer(request)) == repr(replace(recorded, chunks=bytewise).read_answer(request))


def weak_calls() -> list[Recorded]:
    """Recorded calls whose names or paths other protocols share, without any header that says A2A."""
    found = []
    for recorded in OWN:
        bare = replace(recorded, headers={"content-type": "application/json"})
        request = bare.read_request(known=False) if recorded.receiver == "agent" else None
        if isinstance(request, CallStarted) and not request.certain:
            found.append(bare)
    return found


def test_weak_names_are_confirmed_by_answers_alone() -> None:
    """At an unknown endpoint an A2A answer confirms the call, and an error does only where it names A2A's domain."""
    weak = weak_calls()
    assert {recorded.folder for recorded in weak} >= {"samples-0.1.0-jsonrpc", "sdk-1.3.0-rest", "sdk-1.3.0-jsonrpc"}
    for recorded in weak:
        request = recorded.read_request(known=False)
        assert isinstance(request, CallStarted)
        seen = recorded.read_answer(request)
        failed = recorded.status >= 300 or b'"error"' in recorded.answer[:200]
        assert bool(seen) == (not failed or b"a2a-protocol.org" in recorded.answer), recorded.name
